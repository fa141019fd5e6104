"""What a compression would do to a conversation.

It is no model of the engine: it is the engine's own report of a compression whose result is thrown away.
"""

from dataclasses import dataclass

from abridged.budget import SettingsArguments
from abridged.conversation.roles import newest_user
from abridged.conversation.text import Message
from abridged.conversation.tokens import Counter
from abridged.engines.compressor import compress
from abridged.phases.repair import repair
from abridged.summary.template import find_summary


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the conversation that a compression treats alike. The sizes are those before it."""

    name: str
    first: int
    last: int
    messages: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a compression of this conversation would do now."""

    segments: tuple[Segment, ...]
    compressed: bool
    reason: str
    """Why not, where it would do nothing."""
    messages_after: int
    tokens_after: int
    summary_tokens: int


def look_ahead(
    messages: list[Message],
    tokens: list[int],
    context_length: int,
    max_output_tokens: int | None,
    counter: Counter,
    settings: SettingsArguments,
) -> Outlook:
    """A compression for the sake of its report: it counts head and tail among what is no earlier summary."""
    _, report = compress(
        messages, context_length, force=True, max_output_tokens=max_output_tokens, counter=counter, **settings
    )
    sound = repair(messages)
    conversation: list[Message] = []
    sources: list[int] = []
    summaries: list[int] = []
    for message, source in zip(sound.messages, sound.sources, strict=True):
        summary = find_summary(message)
        if summary and summary.rest is None:
            summaries.append(source)
        else:
            conversation.append(message)
            sources.append(source)
    tail_start = len(conversation) - report.tail_messages
    anchor = newest_user(conversation) if report.anchored_user else None
    middle = [place for place in range(report.head_messages, tail_start) if place != anchor]
    parts = {
        "head": sources[: report.head_messages],
        "earlier summary": summaries,
        "middle": [sources[place] for place in middle],
        "newest request": [] if anchor is None else [sources[anchor]],
        "tail": sources[tail_start:],
    }
    return Outlook(
        tuple(segment for name, places in parts.items() if (segment := _segment(name, places, tokens))),
        report.compressed,
        report.reason,
        report.messages_after,
        report.tokens_after,
        report.summary_tokens,
    )


def _segment(name: str, places: list[int], tokens: list[int]) -> Segment | None:
    real = [place for place in places if place >= 0]  # a placeholder for a missing result came from nowhere
    if not real:
        return None
    return Segment(name, min(real), max(real), len(real), sum(tokens[place] for place in real))
