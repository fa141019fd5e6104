"""Phase 4: head, summary, tail. Kept messages are passed on as they are; one summary stands in the list.

The summary is a user's message or, where a user's stands before it, an assistant's; never the system's. Where either
would stand beside its like it is merged into the message that follows, before that message's own text.
(spec: P4.3, P4.4)
"""

from abridged.conversation.roles import is_system
from abridged.conversation.text import Message, as_list, content_text
from abridged.summary.template import NOTE_PATTERN, SYSTEM_NOTE, merge_before


def assemble(head: list[Message], summary: str, tail: list[Message]) -> list[Message]:
    """The new list. `summary` is the framed text; `tail` is not empty (spec: P4.1-P4.4)."""
    noted = [with_note(message) if index == 0 else message for index, message in enumerate(head)]
    role = summary_role(head, tail)
    if role is None:
        first = tail[0]
        return [*noted, {**first, "content": merge_before(summary, first.get("content"))}, *tail[1:]]
    return [*noted, {"role": role, "content": summary}, *tail]


def summary_role(head: list[Message], tail: list[Message]) -> str | None:
    """The role that has no neighbour of its kind; `None` = merge into the tail's first message (spec: P4.3, P4.3b)."""
    before = head[-1].get("role") if head and not is_system(head[-1]) else None
    after = tail[0].get("role") if tail else None
    if before is None:  # the first message behind the system prompt is a user's
        return None if after == "user" else "user"
    first = "user" if before in ("assistant", "tool") else "assistant"
    second = "assistant" if first == "user" else "user"
    for role in (first, second):
        if role not in (before, after):
            return role
    return None


def with_note(message: Message) -> Message:
    """The system prompt with the note of a compaction, once, in today's wording (spec: P4.1)."""
    if not is_system(message):
        return message
    content = message.get("content")
    given = as_list(content)
    if given is not None:
        parts = [part for part in given if not NOTE_PATTERN.fullmatch(content_text([part]))]
        return {**message, "content": [*parts, {"type": "text", "text": SYSTEM_NOTE}]}
    text = content_text(content)
    noted = NOTE_PATTERN.sub("", text) + "\n\n" + SYSTEM_NOTE
    return message if noted == text else {**message, "content": noted}
