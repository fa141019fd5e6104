"""What stands in a context for a message that is too long for it: what it is, and where all of it is to be had.

A stand-in names the place of the original, keeps its role, its calls and their ids, and is text whatever it was.
"""

import csv
import json
import re
from typing import Any, cast

from abridged.conversation.calls import tool_calls
from abridged.conversation.measure import replayed_text
from abridged.conversation.text import Message, content_text, one_line, pictures
from abridged.summary.words import names_in

_OPENING = re.compile(r"\[place (\d{1,12}) · externalised: ")
_SIGNATURE = re.compile(
    r"^[ \t]{0,12}(?:(?:export|public|private|protected|static|async|abstract|final|pub)[ \t]+){0,4}"
    r"(?:def|class|function|func|fn|struct|interface|enum|trait|impl|type|module|namespace)[ \t]+"
    r"[A-Za-z_$][^\n]{0,160}",
    re.MULTILINE,
)
MOST_PARSED = 5_000_000
"""Characters that are read as JSON."""
READ_FOR_NAMES = 50_000
MOST_NAMES, MOST_KEYS, DEEPEST = 30, 12, 3
REASONING_CHARS = 500
_REASONING = ("reasoning", "reasoning_content")


def stand_in(message: Message, place: int, tokens: int, chars: int) -> Message:
    """The message with its text replaced by what it is, in about `chars` characters; `tokens`: of the original."""
    text = content_text(message.get("content"))
    shown = sum(1 for _ in pictures(message.get("content")))
    said = f"[place {place} · externalised: {tokens:,} tokens, whole in the archive; lcm_expand(place={place})]"
    seen = f"\n{shown} pictures" if shown else ""
    light: Message = {**message, "content": f"{said}{seen}\n{explored(text, chars)}".rstrip()}
    for field in _REASONING:
        if isinstance(light.get(field), str) and len(light[field]) > REASONING_CHARS:
            light[field] = one_line(light[field], REASONING_CHARS)
    if sum(len(call.arguments_text) for call in tool_calls(message)) > chars:
        light["tool_calls"] = [_light_call(entry, place) for entry in message["tool_calls"]]
    return light


def place_of(message: Message) -> int | None:
    """The place that a stand-in names; `None` for any other message."""
    found = _OPENING.match(content_text(message.get("content"))[:40])
    return int(found[1]) if found else None


def _light_call(entry: Any, place: int) -> Any:
    """A call with its name and id, and a word on where its arguments are."""
    if not isinstance(entry, dict):
        return entry
    call = cast("Message", entry)
    body = cast("Message", call["function"]) if isinstance(call.get("function"), dict) else call
    note = {"externalised": f"place {place}"}
    light = {**body, "arguments": json.dumps(note) if isinstance(body.get("arguments"), str) else note}
    return light if body is call else {**call, "function": light}


def explored(text: str, chars: int) -> str:
    """What a text is, in about so many characters: by its kind, else its two ends and the names in it."""
    for read in (_json, _table, _code):
        found = read(text, chars)
        if found:
            return found[:chars]
    return _prose(text, chars)


def _json(text: str, chars: int) -> str:
    if text.lstrip()[:1] not in ("{", "[") or len(text) > MOST_PARSED:
        return ""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return "JSON: " + _shape(value, DEEPEST)


def _shape(value: object, depth: int) -> str:
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        shown = [f"{key[:60]}: {_shape(one, depth - 1)}" for key, one in list(fields.items())[:MOST_KEYS] if depth]
        more = ", …" if len(fields) > len(shown) else ""
        return f"object of {len(fields)} keys {{{', '.join(shown)}{more}}}"
    if isinstance(value, list):
        entries = cast("list[object]", value)
        return f"list of {len(entries):,}" + (f", the first: {_shape(entries[0], depth - 1)}" if entries else "")
    if isinstance(value, str):
        return f"text of {len(value):,}"
    return "null" if value is None else type(value).__name__


def _table(text: str, chars: int) -> str:
    lines = [line for line in text[:20_000].split("\n")[:6] if line.strip()]
    for mark in (",", "\t", ";"):
        widths = {len(row) for row in csv.reader(lines, delimiter=mark)} if len(lines) > 3 else {0}
        if len(widths) == 1 and min(widths) > 2:
            columns = next(csv.reader(lines[:1], delimiter=mark))
            rows = text.count("\n", 0, len(text.rstrip("\n")))
            return f"table of {rows:,} rows; columns: {', '.join(columns)}\nthe first row: {lines[1]}"
    return ""


def _code(text: str, chars: int) -> str:
    found: list[str] = []
    room = chars
    for match in _SIGNATURE.finditer(text):
        line = match[0].rstrip()
        room -= len(line) + 1
        if room < 0:
            break
        found.append(line)
    return "code; its signatures:\n" + "\n".join(found) if len(found) > 2 else ""


def _prose(text: str, chars: int) -> str:
    if len(text) <= chars:
        return text
    names = ", ".join(list(dict.fromkeys(names_in(text[:READ_FOR_NAMES])))[:MOST_NAMES])[: chars // 4]
    front, back = chars // 2, chars // 4
    missing = len(text) - front - back
    named = f"\n[names in it: {names}]" if names else ""
    return f"{text[:front]}\n[… {missing:,} characters …]\n{text[-back:]}{named}"


def shrinkable(message: Message) -> bool:
    """Whether a stand-in could be shorter than the message."""
    return len(replayed_text(message)) > 100 or any(True for _ in pictures(message.get("content")))
