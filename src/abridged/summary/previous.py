"""The conversation without the summaries in it, and what they said.

An earlier summary is found in the messages alone: a restart or another process knows as much as the one that wrote it.
"""

from dataclasses import dataclass, field

from abridged.conversation.text import Message
from abridged.summary.template import find_summary


@dataclass(slots=True)
class Conversation:
    """Messages as they were said."""

    messages: list[Message] = field(default_factory=list[Message])
    sources: list[int] = field(default_factory=list[int])
    """For each message its index in the list that came in."""
    previous: list[str] = field(default_factory=list[str])
    """Bodies of the summaries, oldest first."""
    settled: int | None = None
    """Messages before the last summary; `None` = there is none."""


def without_summaries(messages: list[Message], sources: list[int]) -> Conversation:
    """Take every summary out; a message that one was merged into gets its own text back."""
    found = Conversation()
    for message, source in zip(messages, sources, strict=True):
        summary = find_summary(message)
        if summary:
            found.previous.append(summary.body)
            found.settled = len(found.messages)
            if summary.rest is None:
                continue
            message = summary.rest
        found.messages.append(message)
        found.sources.append(source)
    return found
