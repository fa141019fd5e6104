"""What is wrong with the structure of a conversation, by the rules that `compress` mends it by.

A fault never stops a compression: it is what a provider may refuse, or what explains why a session behaves oddly.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from abridged.conversation.calls import ToolCall, result_raw_ids, variants
from abridged.conversation.measure import replayed_text
from abridged.conversation.pairing import Pairing, live_group, pair
from abridged.conversation.roles import SYSTEM_ROLES, is_system, is_tool_result, leading_system
from abridged.conversation.text import Message, content_text, pictures
from abridged.summary.template import find_summary

KINDS: dict[str, str] = {
    "orphan_result": "result without a call; compress drops it",
    "replayed_result": "result of a call that was answered before; compress drops it",
    "unanswered_call": "call without a result; compress adds a placeholder",
    "running_call": "the last call has no result yet; it is left alone, as it may still be running",
    "result_elsewhere": "result that does not stand behind its call; compress moves it",
    "result_without_id": "result without a call id; compress sets it",
    "result_id_differs": "result that writes its call's id differently; compress sets it",
    "call_without_id": "call without an id; compress sets one",
    "call_without_name": "call without a tool's name",
    "reused_call_id": "call id that an earlier call had; paired by which call is open",
    "arguments_not_json": "call arguments that are not JSON; left as they are",
    "malformed_calls": "`tool_calls` that is no list of objects",
    "unknown_role": "role that is none of system, developer, user, assistant, tool",
    "empty_message": "message without text, pictures and calls",
    "odd_content": "content that is neither text nor a list of parts",
    "broken_text": "text with half a character (a lone surrogate)",
    "private_key": "message with a private key (`_…`), which a provider may refuse",
    "late_system": "system message behind the first other message",
    "same_neighbours": "two neighbours with the role user, or assistant; some providers refuse that",
    "no_user_first": "the first message behind the system prompt is no user's",
    "several_summaries": "more than one earlier summary; compress makes them one",
}
"""Every kind of fault and what it means, the gravest first."""

_ROLES = SYSTEM_ROLES | {"user", "assistant", "tool"}


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of fault and where it occurs."""

    kind: str
    meaning: str
    messages: tuple[int, ...]
    """Indexes, ascending."""


def find_faults(messages: list[Message]) -> list[Fault]:
    """Every fault of structure, the gravest kind first. Never raises on odd content (spec: P5.2b)."""
    pairing = pair(messages)
    found: defaultdict[str, set[int]] = defaultdict(set)
    _find_in_results(messages, pairing, found)
    _find_in_calls(messages, pairing, found)
    for index, message in enumerate(messages):
        for kind, holds in _OF_ONE_MESSAGE.items():
            if holds(message):
                found[kind].add(index)
    _find_in_order(messages, found)
    return [Fault(kind, meaning, tuple(sorted(found[kind]))) for kind, meaning in KINDS.items() if kind in found]


def _find_in_results(messages: list[Message], pairing: Pairing, found: defaultdict[str, set[int]]) -> None:
    called: set[str] = set()
    group = -1
    for index, message in enumerate(messages):
        if not is_tool_result(message):
            group = index
            called.update(form for call in pairing.calls.get(index, ()) for form in call.ids)
            continue
        raw_ids = result_raw_ids(message)
        call = pairing.call(index)
        if not raw_ids:
            found["result_without_id"].add(index)
        if call is None:
            found["orphan_result" if called.isdisjoint(variants(raw_ids)) else "replayed_result"].add(index)
            continue
        if pairing.call_of[index][0] != group:
            found["result_elsewhere"].add(index)
        if raw_ids and call.raw_ids and message.get("tool_call_id") not in call.raw_ids:
            found["result_id_differs"].add(index)


def _find_in_calls(messages: list[Message], pairing: Pairing, found: defaultdict[str, set[int]]) -> None:
    live = live_group(messages)
    seen: set[str] = set()
    for index, calls in pairing.calls.items():
        for call in calls:
            if (index, call.position) not in pairing.result_of:
                found["running_call" if index == live else "unanswered_call"].add(index)
            if not call.ids:
                found["call_without_id"].add(index)
            elif not seen.isdisjoint(call.ids):
                found["reused_call_id"].add(index)
            seen.update(call.ids)
            if not call.name:
                found["call_without_name"].add(index)
            if not _is_json(call):
                found["arguments_not_json"].add(index)


def _is_json(call: ToolCall) -> bool:
    text = call.arguments
    return not isinstance(text, str) or text.strip() == "null" or call.parsed() is not None


def _find_in_order(messages: list[Message], found: defaultdict[str, set[int]]) -> None:
    system = leading_system(messages)
    found_late = {index for index in range(system, len(messages)) if is_system(messages[index])}
    if found_late:
        found["late_system"] = found_late
    for index in range(1, len(messages)):
        role = messages[index].get("role")
        if role in ("user", "assistant") and messages[index - 1].get("role") == role:
            found["same_neighbours"].add(index)
    if system < len(messages) and messages[system].get("role") != "user":
        found["no_user_first"].add(system)
    summaries = [index for index, message in enumerate(messages) if find_summary(message)]
    if len(summaries) > 1:
        found["several_summaries"].update(summaries)


def _has_malformed_calls(message: Message) -> bool:
    calls = message.get("tool_calls")
    if not calls:
        return False
    return not isinstance(calls, list) or not all(isinstance(entry, dict) for entry in cast("list[Any]", calls))


def _is_empty(message: Message) -> bool:
    """A tool may well have nothing to say; anybody else who says nothing is a fault."""
    if is_tool_result(message) or message.get("tool_calls"):
        return False
    content = message.get("content")
    return not content_text(content).strip() and not any(True for _ in pictures(content))


def _is_broken(message: Message) -> bool:
    try:
        replayed_text(message).encode()
    except UnicodeEncodeError:
        return True
    return False


def _has_unknown_role(message: Message) -> bool:
    role = message.get("role")
    return not isinstance(role, str) or role not in _ROLES


_OF_ONE_MESSAGE: dict[str, Callable[[Message], bool]] = {
    "unknown_role": _has_unknown_role,
    "malformed_calls": _has_malformed_calls,
    "empty_message": _is_empty,
    "odd_content": lambda message: not isinstance(message.get("content"), str | list | None),
    "broken_text": _is_broken,
    "private_key": lambda message: any(key.startswith("_") for key in message),
}
