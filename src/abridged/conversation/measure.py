"""What a message weighs: in tokens, and in the specification's own unit for boundaries.

A count is made once per message and kept.
"""

from typing import cast

from abridged.conversation.calls import tool_calls
from abridged.conversation.text import Message, content_text, pictures
from abridged.conversation.tokens import Counter

PICTURE_TOKENS = 1_200
"""What a picture costs where nothing better is known: a full-size picture at the usual providers."""
MESSAGE_OVERHEAD = 4
"""Role and separators of one message, in tokens."""
CALL_OVERHEAD = 8
"""Id, type and JSON shell of one call, in tokens."""
WEIGHT_OVERHEAD = 10
"""Per message in the boundary's weight (spec: P2.2)."""

_UNSETTLED = 16
"""So many of the newest messages may still be changed where they stand."""

_SAMPLES = 64
"""So many of the older ones are looked at for a change of the whole list."""

_REASONING_FIELDS = ("reasoning", "reasoning_content")


def replayed_text(message: Message) -> str:
    """All text of a message that goes back to the model: content, calls, reasoning where it is replayed."""
    parts = [content_text(message.get("content"))]
    for call in tool_calls(message):
        parts += (call.name, call.arguments_text)
    parts += [content_text(message[field]) for field in _REASONING_FIELDS if message.get(field)]
    return parts[0] if len(parts) == 1 else "\n".join(parts)


def text_chars(messages: list[Message]) -> int:
    """Characters of all replayed text: fewer messages alone are no saving."""
    return sum(map(len, map(replayed_text, messages)))


def message_tokens(message: Message, counter: Counter) -> int:
    """Tokens of one message as the model is sent it."""
    calls = message.get("tool_calls")
    tokens = MESSAGE_OVERHEAD + counter(replayed_text(message))
    if isinstance(calls, list | tuple):
        tokens += CALL_OVERHEAD * len(cast("list[object]", calls))
    content = message.get("content")
    if not isinstance(content, str | None):
        tokens += PICTURE_TOKENS * sum(1 for _ in pictures(content))
    return tokens


def weight(message: Message) -> int:
    """The boundary's weight of a message: characters // 4 + 10, calls and pictures included (spec: P2.2)."""
    content = message.get("content")
    chars = len(content) if isinstance(content, str) else len(content_text(content))
    for call in tool_calls(message):
        chars += len(call.name) + len(call.arguments_text) + 4 * CALL_OVERHEAD
    shown = 0 if isinstance(content, str | None) else sum(1 for _ in pictures(content))
    return chars // 4 + WEIGHT_OVERHEAD + PICTURE_TOKENS * shown


class TokenMemo:
    """Token counts, made once per message and kept as long as its content and its calls are the same objects.

    A turn costs what is new in it. Messages that left the conversation are forgotten.
    """

    def __init__(self, counter: Counter) -> None:
        self.counter = counter
        self._known: dict[int, tuple[Message, object, object, int]] = {}
        self._settled: list[Message] = []
        self._settled_tokens = 0

    def __call__(self, message: Message) -> int:
        """Tokens of one message."""
        content, calls = message.get("content"), message.get("tool_calls")
        known = self._known.get(id(message))
        if known and known[0] is message and known[1] is content and known[2] is calls:
            return known[3]
        tokens = message_tokens(message, self.counter)
        self._known[id(message)] = (message, content, calls, tokens)
        return tokens

    def total(self, messages: list[Message]) -> int:
        """Tokens of a conversation; entries that are no messages count nothing.

        What it has in common with the last one that was asked for is not even looked at again, some samples excepted: a
        turn costs what is new in it, however long the conversation is.
        """
        settled = self._settled
        if not self._begins_as_before(messages):
            settled.clear()
            self._settled_tokens = 0
        first = len(settled)
        fresh = [self(message) if isinstance(message, dict) else 0 for message in messages[first:]]
        tokens = self._settled_tokens + sum(fresh)
        last = max(first, len(messages) - _UNSETTLED)
        settled += messages[first:last]
        self._settled_tokens += sum(fresh[: last - first])
        if len(self._known) > 2 * len(messages) + 64:
            kept = {id(message) for message in messages}
            self._known = {mark: known for mark, known in self._known.items() if mark in kept}
        return tokens

    def _begins_as_before(self, messages: list[Message]) -> bool:
        count = len(self._settled)
        if not count or count > len(messages):
            return not count
        places = (*range(0, count, max(1, count // _SAMPLES)), count - 1)
        return all(messages[place] is self._settled[place] for place in places)
