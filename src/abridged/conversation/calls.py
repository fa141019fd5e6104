"""Tool calls as their senders wrote them: several id fields, odd arguments, missing names.

An id is compared by its *variants*: blanks around it do not count, and a composite id `call|item` is also each half.
"""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from abridged.conversation.text import Message, as_json

_ID_FIELDS = ("id", "call_id", "tool_call_id")


class ToolCall(NamedTuple):
    """One call of an assistant message."""

    position: int
    """Its place in the message's list of calls."""
    ids: tuple[str, ...]
    """All variants of its ids; empty where it carries none."""
    raw_ids: tuple[str, ...]
    """The ids letter for letter, the `id` field first."""
    name: str
    """The tool's name, "" where it is missing."""
    arguments: object
    """The arguments as they stand: a JSON string, an object, or anything."""

    @property
    def arguments_text(self) -> str:
        """The arguments as text."""
        return self.arguments if isinstance(self.arguments, str) else as_json(self.arguments)

    def parsed(self) -> object:
        """The arguments parsed as JSON; `None` where they are not JSON."""
        return parse_arguments(self.arguments)


def parse_arguments(arguments: object) -> object:
    """What the arguments hold: parsed when they are a JSON string, as they are when already parsed, else `None`."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return None


def tool_calls(message: Message) -> tuple[ToolCall, ...]:
    """The calls of an assistant message, in order; entries that are no calls are passed over."""
    raw = message.get("tool_calls")
    if not raw or not isinstance(raw, list | tuple):
        return ()
    entries = enumerate(cast("list[dict[str, Any]]", raw))
    return tuple([_call(position, entry) for position, entry in entries if isinstance(entry, dict)])


def _call(position: int, entry: dict[str, Any]) -> ToolCall:
    function = entry.get("function")
    body = cast("dict[str, Any]", function) if isinstance(function, dict) else entry
    name = body.get("name")
    raw_ids = _raw_ids(entry)
    plain = len(raw_ids) == 1 and "|" not in raw_ids[0] and raw_ids[0] == raw_ids[0].strip()
    return ToolCall(
        position,
        raw_ids if plain else variants(raw_ids),
        raw_ids,
        name if isinstance(name, str) else "",
        body.get("arguments"),
    )


def _raw_ids(entry: dict[str, Any]) -> tuple[str, ...]:
    first = entry.get("id")
    if isinstance(first, str) and first.strip() and "call_id" not in entry and "tool_call_id" not in entry:
        return (first,)
    found = (entry.get(field) for field in _ID_FIELDS)
    return tuple(dict.fromkeys(str(value) for value in found if value is not None and str(value).strip()))


def variants(raw_ids: Iterable[str]) -> tuple[str, ...]:
    """Every form under which the ids may be answered."""
    forms: dict[str, None] = {}
    for raw in raw_ids:
        whole = raw.strip()
        forms[whole] = None
        if "|" in whole:
            forms.update(dict.fromkeys(half.strip() for half in whole.split("|") if half.strip()))
    return tuple(forms)


def result_raw_ids(message: Message) -> tuple[str, ...]:
    """The ids that a tool result names, letter for letter."""
    found = (message.get(field) for field in ("tool_call_id", "call_id"))
    return tuple(dict.fromkeys(str(value) for value in found if value is not None and str(value).strip()))
