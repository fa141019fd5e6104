"""Phase 5: tool-pair repair. Whatever came in, each call that leaves has exactly one result right behind it.

The only calls without a result are those of the last message that may still be running. The repair runs on what comes
in, so that every other phase sees whole tool groups, and once more on what leaves. Messages in order pass untouched.
"""

import operator
from dataclasses import dataclass, field
from typing import Any, cast

from abridged.conversation.calls import ToolCall, result_raw_ids
from abridged.conversation.pairing import Pairing, live_group, pair
from abridged.conversation.roles import is_tool_result
from abridged.conversation.text import Message

STUB = "[Result from earlier conversation — see context summary above]"
"""Stands for a result that did not survive (spec: P5.2)."""


@dataclass(slots=True)
class Repair:
    """Messages that an API accepts, and what it took."""

    messages: list[Message] = field(default_factory=list[Message])
    sources: list[int] = field(default_factory=list[int])
    """For each message its index in the list that came in; -1 for a stub."""
    dropped: int = 0
    """Results whose call is gone, or that answered twice (spec: P5.1)."""
    stubbed: int = 0
    """Calls that got a stub (spec: P5.2)."""
    moved: int = 0
    """Results that stood away from their call."""
    relabelled: int = 0
    """Results or calls whose id was set, so that both sides read the same."""
    discarded: int = 0
    """Entries that are no messages, or no calls, at all."""
    pairing: Pairing = field(default_factory=Pairing)
    """Which result answered which call in the list that came in; of `messages` as well where nothing changed."""

    @property
    def kinds(self) -> dict[str, int]:
        """What was mended, by kind; only kinds that occurred."""
        names = ("dropped", "stubbed", "moved", "relabelled", "discarded")
        return {name: count for name in names if (count := getattr(self, name))}

    @property
    def changed(self) -> bool:
        return bool(self.kinds)


def repair(messages: list[Any]) -> Repair:
    """A valid copy of `messages`; the input is not changed (spec: P5.1, P5.2, P5.2b, P5.3)."""
    fixed = Repair()
    dicts = [index for index, message in enumerate(messages) if isinstance(message, dict)]
    fixed.discarded = len(messages) - len(dicts)
    sound = cast("list[Message]", messages if not fixed.discarded else [messages[index] for index in dicts])
    pairing = fixed.pairing = pair(sound)
    live = live_group(sound)
    for index, message in enumerate(sound):
        if is_tool_result(message):
            fixed.dropped += index not in pairing.call_of
            continue
        calls = pairing.calls.get(index)
        if not calls:
            if message.get("tool_calls"):  # entries, and not one call among them
                message = {key: value for key, value in message.items() if key != "tool_calls"}
                fixed.discarded += 1
            fixed.messages.append(message)
            fixed.sources.append(dicts[index])
            continue
        _emit_group(fixed, sound, dicts, pairing, index, calls, running=index == live)
    return fixed


def _emit_group(
    fixed: Repair,
    messages: list[Message],
    origin: list[int],
    pairing: Pairing,
    index: int,
    calls: tuple[ToolCall, ...],
    *,
    running: bool,
) -> None:
    """One assistant message and its results, in the order in which they came, stubs last."""
    message, ids = _with_ids(fixed, messages[index], index, calls)
    fixed.messages.append(message)
    fixed.sources.append(origin[index])
    results = ((pairing.result_of.get((index, call.position)), call) for call in calls)
    answered = sorted(((result, call) for result, call in results if result is not None), key=lambda pair: pair[0])
    for place, (result, call) in enumerate(answered, start=index + 1):
        fixed.moved += result != place
        fixed.messages.append(_labelled(fixed, messages[result], call, ids))
        fixed.sources.append(origin[result])
    if running:
        return
    for call in calls:
        if (index, call.position) not in pairing.result_of:
            fixed.messages.append({"role": "tool", "tool_call_id": ids[call.position], "content": STUB})
            fixed.sources.append(-1)
            fixed.stubbed += 1


def _with_ids(
    fixed: Repair, message: Message, index: int, calls: tuple[ToolCall, ...]
) -> tuple[Message, dict[int, str]]:
    """The message with calls alone among its calls, a text for an id on each; made anew only where that is not so."""
    given = cast("list[Any]", message["tool_calls"])
    ids: dict[int, str] = {}
    entries: list[Any] = []
    for call in calls:
        entry = cast("dict[str, Any]", given[call.position])
        ids[call.position] = call.raw_ids[0] if call.raw_ids else f"call_{index}_{call.position}"
        if not call.raw_ids or not isinstance(entry.get("id", ""), str):
            entry = {**entry, "id": ids[call.position]}
            fixed.relabelled += 1
        entries.append(entry)
    fixed.discarded += len(given) - len(entries)
    same = len(given) == len(entries) and all(map(operator.is_, given, entries))
    return (message if same else {**message, "tool_calls": entries}), ids


def _labelled(fixed: Repair, result: Message, call: ToolCall, ids: dict[int, str]) -> Message:
    """The result, naming an id of its call letter for letter."""
    given = result_raw_ids(result)
    if result.get("tool_call_id") in (call.raw_ids or (ids[call.position],)):
        return result
    fixed.relabelled += 1
    exact = next((raw for raw in given if raw in call.raw_ids), ids[call.position])
    return {**result, "tool_call_id": exact}
