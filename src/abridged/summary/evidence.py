"""The part of a tool result that says how it went: error lines first, then values, then the last word."""

import re
from collections.abc import Mapping
from typing import cast

from abridged.conversation.text import as_json, one_line
from abridged.digests.actions import Action
from abridged.digests.reading import Call
from abridged.summary.identifiers import kind_of

LINE_CHARS = 160
"""The most that one piece of evidence takes."""
_ERRORS_CHARS = 4_000
"""What is read for the names of what failed: a program says last what went wrong."""
VALUES_CHARS = 100
"""The most that the values of a JSON object take."""

_ERROR_WORDS = (
    ("error", "fatal", "fail", "exception", "panic", "错误", "失败", "异常"),
    (
        "denied",
        "not found",
        "no such",
        "cannot",
        "can't",
        "refused",
        "timed out",
        "undefined",
        "invalid",
        "unable",
        "无法",
    ),
)
"""Words of an error, the plainer ones first: the second group is looked for where the first is not found."""
_VERDICT = re.compile(
    r"\b(?:passed|ok|done|total|warnings?|success\w*|complete\w*|finished|built|installed|created|saved|"
    r"up[- ]to[- ]date|real|elapsed|took|tests?)\b|成功|完成|通过",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"stat(?:e|us)|result|total|count|amount|balance|price|error|message|reason|title|version|mode", re.IGNORECASE
)
_STATUS_KEYS = frozenset({"exit_code", "exit_status", "returncode", "success", "ok", "status_code"})
_OUTPUT_KEYS = ("output", "stdout", "stderr", "content", "text", "result", "message", "error")


def evidence(call: Call, action: Action) -> str:
    """What to remember of a call's result, in one line; "" where its target says it all."""
    text = output_of(call)
    if action.failed or (action.failed is None and action.kind in ("run", "fetch", "other")):
        errors = error_lines(text, 2 if action.failed else 1)
        if errors:
            return " · ".join(errors)
    if action.kind in ("read", "write", "search", "plan"):
        return ""
    if call.payload is not None and text is call.result:
        return values_of(call.payload)
    stripped = text.strip()
    if len(stripped) <= LINE_CHARS:
        return one_line(stripped, LINE_CHARS)
    return verdict(stripped) if action.kind == "run" else ""


def verdict(text: str) -> str:
    """The last line where it sums up what ran ("12 passed in 0.3s"), else how much there was."""
    last = text[-4 * LINE_CHARS :].rsplit("\n", 1)[-1]
    return one_line(last, LINE_CHARS) if _VERDICT.search(last) else f"{text.count(chr(10)) + 1} lines"


def output_of(call: Call) -> str:
    """The program's own output, where the result wraps it in JSON."""
    payload = call.payload
    if payload is not None:
        for key in _OUTPUT_KEYS:
            value = payload.get(key)
            if isinstance(value, str) and value:
                return value
    return call.result


def speaks_of_error(line: str) -> bool:
    """Whether a line holds a word of an error."""
    low = line.lower()
    return any(word in low for words in _ERROR_WORDS for word in words)


def telling_errors(text: str, most: int = 12) -> list[str]:
    """The last lines that speak of an error, each cut to a line's length; of a long text its end is read."""
    lines = [line[: 2 * LINE_CHARS] for line in text[-_ERRORS_CHARS:].split("\n") if speaks_of_error(line)]
    return lines[-most:]


def error_lines(text: str, most: int) -> list[str]:
    """The first and the last line that speak of an error, each cut around the word that says so."""
    low = text.lower()
    if len(low) != len(text):  # rare letters change length; places must agree
        low = text
    for words in _ERROR_WORDS:
        places = {word: place for word in words if (place := low.find(word)) >= 0}
        if places:
            last = max(map(low.rfind, places)) if most > 1 else 0
            return _first_and_last(text, min(places.values()), last, most)
    return []


def _first_and_last(text: str, first: int, last: int, most: int) -> list[str]:
    lines = [_around(text, first)]
    if most > 1 and last - first > LINE_CHARS:
        end = _around(text, last)
        if end != lines[0]:
            lines.append(end)
    return [line for line in lines if line]


def _around(text: str, place: int) -> str:
    """The line at `place`, or where it is long the words around it."""
    start = max(text.rfind("\n", 0, place) + 1, place - LINE_CHARS // 4)
    end = text.find("\n", place)
    end = min(len(text) if end < 0 else end, place + LINE_CHARS // 2)
    if start and not text[start - 1].isspace():
        start = _next_space(text, start, place)
    return one_line(text[start:end], LINE_CHARS)


def _next_space(text: str, start: int, place: int) -> int:
    space = text.find(" ", start, place)
    return start if space < 0 else space + 1


def values_of(payload: Mapping[str, object]) -> str:
    """The telling values of a JSON object as `key=value`: names, and what is called a state or a sum."""
    found: list[str] = []
    size = 0
    for key, value in _scalars(payload, 2):
        if not kind_of(value) and not _TELLING.search(key):
            continue
        pair = f"{key}={value}"
        size += len(pair) + 2
        if size > VALUES_CHARS:
            break
        found.append(pair)
    return ", ".join(found)


def _scalars(payload: Mapping[str, object], depth: int) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    nested: list[Mapping[str, object]] = []
    for key, value in payload.items():
        if key in _STATUS_KEYS:
            continue
        if isinstance(value, dict):
            nested.append(cast("Mapping[str, object]", value))
        elif isinstance(value, str | int | float) and len(text := str(value)) <= 60 and "\n" not in text and text:
            found.append((key, text if isinstance(value, str) else as_json(value)))
    if depth > 1:
        for inner in nested:
            found += _scalars(inner, depth - 1)
    return found
