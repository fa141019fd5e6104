"""Every setting that there is: what it takes, its default, and what it says.

Those of `compression` are the fields of `Settings` and `enabled`; there is no other list of them.
"""

from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from typing import Any, cast

from abridged.budget import MEANINGS, Settings
from abridged.errors import SettingsError, shown

_NONE = type(None)
_MOST = 10**12
"""No setting is a larger number; a larger one is a mistake of typing."""
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
    of_a_model: bool = True
    """Whether it may differ from model to model."""


_OWN = {
    "context.engine": Key((str,), "compressor", "who keeps the conversation small; `abridged engines` lists all"),
    "model.name": Key((str, _NONE), None, "who answers in `abridged chat`", of_a_model=False),
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
    "archive.path": Key(
        (str,),
        "~/.local/share/abridged/archive.db",
        "where; relative = from the folder of this project on",
        of_a_model=False,
    ),
    "archive.recall": Key((bool,), True, "whether the model has tools to read back what was compressed away"),
    "archive.retention_days": Key(
        (int, float, _NONE), None, "days until ended sessions are forgotten; null = never", 0, of_a_model=False
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
        raise SettingsError(origin, name, f"there is no such key{_hint(name)}")
    if isinstance(value, str) and str not in key.types:
        value = parsed(value, key.types)
    fits = isinstance(value, key.types) and not (isinstance(value, bool) and bool not in key.types)
    limit = _limit(key, value) if fits and isinstance(value, int | float) else ""
    if not fits or limit or value != value:  # only what is no number differs from itself
        raise SettingsError(origin, name, f"{shown(value)} is not possible; it takes {_wanted(key, limit)}", value)
    return value


def _limit(key: Key, value: float) -> str:
    """The limit that a number goes beyond."""
    if key.least is not None and value < key.least:
        return f" from {key.least:g} on"
    return f" up to {_MOST:,}" if abs(value) > _MOST else ""


def _hint(name: str) -> str:
    """What was meant, perhaps: a section, where no key of one is named."""
    sections = [] if "." in name else [*dict.fromkeys(key.partition(".")[0] for key in known_keys()), "models"]
    near = get_close_matches(name, sections, 1, 0.7) or get_close_matches(name, known_keys(), 1, 0.5)
    return f"; did you mean {near[0]}?" if near else "; `abridged config show` lists all"


def _wanted(key: Key, limit: str) -> str:
    """What a key takes, in words."""
    kinds = [kind for kind in key.types if not (kind is int and float in key.types)]
    return " or ".join(_NAMES[kind] + (limit if kind in (int, float) else "") for kind in kinds)


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
