"""Every setting that there is: what it takes, its default, and what it says.

Those of `compression` are the fields of `Settings` and `enabled`; there is no other list of them.
"""

import math
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from typing import Any, cast

from abridged.budget import MEANINGS, Settings
from abridged.errors import SettingsError

_NONE = type(None)
_NAMES = {
    str: "a text (put it in quotes)",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    _NONE: "null",
}


@dataclass(frozen=True, slots=True)
class Key:
    """One setting."""

    types: tuple[type, ...]
    default: Any
    says: str
    least: float | None = None
    """The smallest number that it takes; those of `compression` are checked together, by `Settings`."""


_OWN = {
    "context.engine": Key((str,), "compressor", "who keeps the conversation small; `abridged engines` lists all"),
    "model.name": Key((str, _NONE), None, "who answers in `abridged chat`"),
    "model.base_url": Key((str, _NONE), None, "its OpenAI-compatible server; null = OpenAI's own"),
    "model.context_length": Key((int,), 128_000, "tokens of its window", 1),
    "model.max_output_tokens": Key((int, _NONE), None, "tokens of it that are reserved for the answer", 1),
    "compression.enabled": Key((bool,), True, "false = nothing is ever compressed by itself"),
    "summarizer.model": Key(
        (str, _NONE), None, "who writes summaries: gpt-4o-mini, claude-..., litellm/...; null = by rule"
    ),
    "summarizer.base_url": Key((str, _NONE), None, "its OpenAI-compatible server"),
    "summarizer.context_length": Key((int, _NONE), None, "tokens of its window", 1),
    "summarizer.fallback_model": Key((str, _NONE), None, "who is asked when the first one fails"),
    "archive.enabled": Key((bool,), True, "whether what is said is kept"),
    "archive.path": Key((str,), "~/.local/share/abridged/archive.db", "where; relative to the project's folder"),
    "archive.recall": Key((bool,), True, "whether the model has tools to read back what was compressed away"),
    "archive.retention_days": Key(
        (int, float, _NONE), None, "days until ended sessions are forgotten; null = never", 0
    ),
    "chat.ask": Key((bool,), True, "whether you are asked before a tool writes or runs anything"),
    "chat.tools": Key((bool,), True, "whether the model has tools at all"),
}


@cache
def known_keys() -> dict[str, Key]:
    """All of them by their dotted names, section by section."""
    found = dict(_OWN)
    for entry in fields(Settings):
        default = cast("object", entry.default)
        found[f"compression.{entry.name}"] = Key(_types(default), default, MEANINGS[entry.name])
    sections = list(dict.fromkeys(name.partition(".")[0] for name in found))
    return dict(sorted(found.items(), key=lambda pair: sections.index(pair[0].partition(".")[0])))


def _types(default: object) -> tuple[type, ...]:
    if default is None:
        return (int, _NONE)
    return (int, float) if isinstance(default, float) else (type(default),)


def checked(name: str, value: Any, origin: str) -> Any:
    """The value as its key takes it; numbers may come as text. Raises `SettingsError`."""
    key = known_keys().get(name)
    if key is None:
        near = get_close_matches(name, known_keys(), 1, 0.5)
        hint = f"; did you mean {near[0]}?" if near else "; `abridged config show` lists all"
        raise SettingsError(origin, name, f"there is no such key{hint}")
    if isinstance(value, str) and str not in key.types:
        value = parsed(value, key.types)
    if not isinstance(value, key.types) or (isinstance(value, bool) and bool not in key.types):
        raise SettingsError(origin, name, f"{value!r} is not possible; it takes {_wanted(key)}", value)
    if isinstance(value, float) and not math.isfinite(value):
        raise SettingsError(origin, name, f"{value!r} is not possible; it takes a number", value)
    if key.least is not None and isinstance(value, int | float) and value < key.least:
        raise SettingsError(origin, name, f"{value!r} is not possible; it takes a number from {key.least:g} on", value)
    return value


def _wanted(key: Key) -> str:
    """What a key takes, in words."""
    kinds = [kind for kind in key.types if not (kind is int and float in key.types)]
    return " or ".join(_NAMES[kind] for kind in kinds)


def parsed(text: str, types: tuple[type, ...]) -> Any:
    """A text as the type that is wanted; as it is where it is none."""
    low = text.strip().lower()
    if bool in types and low in ("true", "false", "1", "0", "yes", "no", "on", "off"):
        return low in ("true", "1", "yes", "on")
    if _NONE in types and low in ("", "none", "null"):
        return None
    for kind in (int, float):
        if kind in types:
            try:
                return kind(text)
            except ValueError:
                continue
    return text
