"""Which tool result answers which call, by which call is still open: an id seen before says nothing.

Real logs re-use ids, replay results, answer late, carry two ids, composite ids, blanks around ids, or none
(spec: P5.2b).
"""

from collections import defaultdict
from dataclasses import dataclass, field

from abridged.conversation.calls import ToolCall, result_raw_ids, tool_calls, variants
from abridged.conversation.roles import is_tool_result
from abridged.conversation.text import Message

CallKey = tuple[int, int]
"""The index of an assistant message and the position of a call in it."""


@dataclass(slots=True)
class Pairing:
    """Calls and results of one list of messages."""

    calls: dict[int, tuple[ToolCall, ...]] = field(default_factory=dict[int, tuple[ToolCall, ...]])
    """Assistant index -> its calls; only messages that have some."""
    result_of: dict[CallKey, int] = field(default_factory=dict[CallKey, int])
    """Call -> index of the message that answers it; calls without an answer are missing."""
    call_of: dict[int, CallKey] = field(default_factory=dict[int, CallKey])
    """Result index -> its call; orphans and replays are missing."""

    def call(self, result: int) -> ToolCall | None:
        """The call that the result at this index answers."""
        key = self.call_of.get(result)
        return None if key is None else self.call_by_key(key)

    def call_by_key(self, key: CallKey) -> ToolCall:
        return next(call for call in self.calls[key[0]] if call.position == key[1])


def pair(messages: list[Message]) -> Pairing:
    """Walk once through the messages; each result closes the newest open call that it names."""
    pairing = Pairing()
    open_by_id: defaultdict[str, list[CallKey]] = defaultdict(list)
    latest: list[CallKey] = []  # open calls of the newest calling message, in order
    for index, message in enumerate(messages):
        if is_tool_result(message):
            key = _answered(message, pairing, open_by_id, latest)
            if key is not None:
                pairing.result_of[key] = index
                pairing.call_of[index] = key
            continue
        calls = tool_calls(message)
        if not calls:
            continue
        pairing.calls[index] = calls
        latest = [(index, call.position) for call in calls]
        for call in reversed(calls):  # so that the first of two equal ids is on top
            for form in call.ids:
                open_by_id[form].append((index, call.position))
    return pairing


def live_group(messages: list[Message]) -> int | None:
    """The index of the assistant message with calls that may still be running (spec: P2.5c).

    The list ends on it and on results of it, and not all of its calls have one.
    """
    index = len(messages) - 1
    while index >= 0 and is_tool_result(messages[index]):
        index -= 1
    if index < 0:
        return None
    group = pair(messages[index:])
    calls = group.calls.get(0, ())
    return index if len(group.result_of) < len(calls) else None


def _answered(
    message: Message, pairing: Pairing, open_by_id: dict[str, list[CallKey]], latest: list[CallKey]
) -> CallKey | None:
    named = variants(result_raw_ids(message))
    best: CallKey | None = None
    for form in named:
        stack = open_by_id.get(form)
        while stack and stack[-1] in pairing.result_of:
            stack.pop()
        if stack and (best is None or stack[-1][0] > best[0]):
            best = stack[-1]
    if best is not None:
        return best
    # No id fits: by place. A result without an id takes the next open call; one with an id only a call without any.
    for key in latest:
        if key not in pairing.result_of and (not named or not pairing.call_by_key(key).ids):
            return key
    return None
