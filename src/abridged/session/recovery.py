"""What a host does after a request that was too long (spec: T6)."""

from dataclasses import dataclass
from typing import Literal

from abridged.conversation.roles import newest_user
from abridged.conversation.text import Message
from abridged.phases.prune import without_pictures

Messages = list[Message]


@dataclass(frozen=True, slots=True)
class Recovery:
    """What to do after an error."""

    action: Literal["retry", "give up", "not an overflow"]
    messages: Messages
    """What to send where the action is `retry`; else what was given."""
    reason: str = ""


def without_old_pictures(messages: Messages) -> Messages:
    """All pictures but those of the newest request leave; the same list where there are none (spec: T6)."""
    newest = newest_user(messages)
    lighter = [
        message if place == newest or not count else {**message, "content": content}
        for place, message in enumerate(messages)
        for content, count in [without_pictures(message.get("content"))]
    ]
    return lighter if changed(messages, lighter) else messages


def changed(before: Messages, after: Messages) -> bool:
    """Whether two lists differ in any message, by identity."""
    return len(before) != len(after) or any(one is not two for one, two in zip(before, after, strict=True))
