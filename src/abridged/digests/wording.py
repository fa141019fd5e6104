"""How values are put into one line: whatever goes in, what comes out has no line break and a known length.

Text is passed through as it is, lone surrogates included: encoding is the business of who sends it.
"""

import json
from collections.abc import Mapping
from typing import cast

LINE_CHARS = 300
"""No digest is longer than this many characters."""
VALUE_CHARS = 80
"""Room for one argument value, in characters."""
TARGET_CHARS = 120
"""Room for what a call is about (its command, code, path), in characters."""

_ELLIPSIS = "..."


def one_line(text: str, limit: int = VALUE_CHARS) -> str:
    """Return `text` with every run of white space as one blank, cut at its end to `limit` characters."""
    seen = text[: 4 * limit]  # a value may be a whole file: flatten only what can be shown
    flat = " ".join(seen.split())
    if len(flat) <= limit and len(seen) == len(text):
        return flat
    return flat[: limit - len(_ELLIPSIS)].rstrip() + _ELLIPSIS


def short_path(path: str, limit: int = VALUE_CHARS) -> str:
    """Return `path` on one line, cut at its *front* to `limit` characters: the file's name is what identifies it."""
    flat = " ".join(path[-4 * limit :].split())
    return flat if len(flat) <= limit else _ELLIPSIS + flat[len(_ELLIPSIS) - limit :]


def listed(names: list[str], shown: int = 3) -> str:
    """Return the first `shown` paths or addresses, and how many more there are."""
    more = len(names) - shown
    line = ", ".join(short_path(name, TARGET_CHARS if shown == 1 else VALUE_CHARS) for name in names[:shown])
    return f"{line} (+{more} more)" if more > 0 else line


def line_count(text: str) -> int:
    """Return how many lines `text` has; a line break at its end does not open another line."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def value_text(value: object) -> str:
    """Return any argument value as text: texts as they are, everything else as JSON. Never raises."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except Exception:  # a circle, an endless number, a broken __str__: its kind is all that can be said
        return f"<{type(value).__name__}>"


def argument_pairs(arguments: Mapping[str, object], shown: int = 4) -> str:
    """Return the first `shown` arguments that have a value, as `name=value name=value`."""
    present = [(key, value) for key, value in arguments.items() if value is not None]
    return " ".join(f"{one_line(value_text(key), 30)}={one_line(value_text(value))}" for key, value in present[:shown])


def as_object(value: object) -> dict[str, object] | None:
    """Return `value` where it is a JSON object, or a JSON text that holds one; else None. Never raises."""
    if isinstance(value, dict):
        return cast("dict[str, object]", value)
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        try:
            parsed: object = json.loads(value)
        except (ValueError, RecursionError):
            return None
        return cast("dict[str, object]", parsed) if isinstance(parsed, dict) else None
    return None
