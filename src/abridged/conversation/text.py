"""The text of any content, and the pictures in it.

Content is a string, `None`, a list of parts, or anything else that somebody's log holds; every shape has a text.
Pictures are not text: their bytes never count as characters.
"""

import json
from collections.abc import Iterator
from typing import Any, cast

Message = dict[str, Any]

_PICTURE_TYPES = frozenset({"image", "image_url", "input_image", "input_audio", "audio", "video", "video_url"})
MAX_DEPTH = 32
"""Levels of parts inside parts that are read."""
_PICTURE_KEYS = ("image_url", "image", "inline_data", "input_image")


def content_text(content: object) -> str:
    """The readable text of `content`; "" where there is none. Never raises."""
    return content if isinstance(content, str) else _nested_text(content, MAX_DEPTH)


def _nested_text(content: object, depth: int) -> str:
    parts = as_list(content)
    if parts is None:
        return _part_text(content, depth)
    return "\n".join(filter(None, (_part_text(part, depth) for part in parts)))


def _part_text(part: object, depth: int) -> str:
    if isinstance(part, str):
        return part
    if part is None or not depth or is_picture(part):
        return ""
    if isinstance(part, list):
        return _nested_text(cast("object", part), depth - 1)
    fields = as_fields(part)
    if fields is not None:
        for key in ("text", "content", "output"):
            value = fields.get(key)
            if isinstance(value, str | list):
                return _nested_text(cast("object", value), depth - 1)
        if "type" in fields and len(fields) == 1:
            return ""
    return as_json(part)


def as_json(value: object) -> str:
    """`value` as one line of JSON, or its `str` where JSON cannot hold it."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return ""
    except (TypeError, ValueError):
        return str(value)


def as_fields(value: object) -> dict[str, object] | None:
    """A value that is a JSON object, as one; else `None`."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def as_list(value: object) -> list[object] | None:
    """A value that is a list, as one; else `None`."""
    return cast("list[object]", value) if isinstance(value, list) else None


def is_picture(part: object) -> bool:
    """Whether a content part is a picture (or sound, or film), in any provider's shape."""
    fields = as_fields(part)
    if fields is None:
        return False
    kind = fields.get("type")
    if isinstance(kind, str) and kind in _PICTURE_TYPES:
        return True
    return any(isinstance(fields.get(key), str | dict) for key in _PICTURE_KEYS)


def pictures(content: object, depth: int = MAX_DEPTH) -> Iterator[object]:
    """The picture parts of `content`, nested ones (inside tool results) included."""
    parts = as_list(content) or ([content] if isinstance(content, dict) else [])
    for part in parts if depth else ():
        if is_picture(part):
            yield part
        elif fields := as_fields(part):
            yield from pictures(as_list(fields.get("content")), depth - 1)


def one_line(text: str, limit: int) -> str:
    """`text` with all white space folded, cut to `limit` characters with an ellipsis."""
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
