"""Which errors of a provider mean "the conversation is too long", and what they say about the window (spec: T6).

Providers say it in many wordings, with any status; many other errors look like it. So the look-alikes are ruled out
first: throttling, a cap on the output, bad parameters, memory of the server, content filters.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

OverflowKind = Literal["context", "payload"]

_NUMBER = r"(\d{1,3}(?:[,_.]\d{3})+|\d+)(k)?"
_THROTTLED = re.compile(
    r"rate.?limit|per[ -]?(?:minute|hour|day|second)|\b[TR]P[MD]\b|too many requests|quota|throttl|"
    r"try again (?:in|later)|retry (?:after|in)|slow down|overloaded|capacity|concurren",
    re.IGNORECASE,
)
_OUTPUT_CAP = re.compile(
    r"max_(?:completion_|output_|new_)?tokens['\"`]?\s*"
    r"(?:[:=]?\s*\d+\s*(?:>|is|must|exceeds)|is too|must be|should be|"
    r"cannot|can only|exceeds? the (?:model|maximum (?:number of )?output|output))|"
    r"(?:maximum|max)(?:imum)? (?:number of )?(?:output|completion) tokens|output token limit|"
    r"invalid value for ['\"`]?max_|supports? at most \d+ (?:completion|output)|reasoning.budget|budget_tokens",
    re.IGNORECASE,
)
_MEMORY = re.compile(r"out of memory|\bOOM\b|cuda|memory (?:guard|limit|pressure)|insufficient memory", re.IGNORECASE)
_FILTERED = re.compile(r"content.?(?:filter|policy|management)|safety|moderation|responsible ai", re.IGNORECASE)
_OTHER_LENGTH = re.compile(
    r"(?:tool|function) (?:name|description)|(?:string|array|property|field|parameter|name|url|stop|id)\b[^.]{0,40}"
    r"(?:too long|maximum length)|string_above_max_length|too many (?:tools|functions|images|stop)|"
    r"images? (?:exceeds?|too large)|file (?:size|too large)",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"context[_ -]?(?:length|window|size|limit)[^.\n]{0,40}(?:exceed|too|reached|full|overflow|limit)|"
    r"context_length_exceeded|"
    r"exceed\w*[^.\n]{0,60}(?:context|maximum (?:input|prompt|number of (?:input )?tokens)|model.{0,10}limit|"
    r"token limit|"
    r"input (?:length|limit)|available tokens)|"
    r"maximum context|max(?:imum)?[ _](?:model|sequence|seq|prompt|input)[ _]?len(?:gth)?|"
    r"(?:prompt|input|request|messages?|conversation|text|query)\b[^.:\n]{0,50}?"
    r"(?:too (?:long|large|many tokens)|longer than|larger than|exceeds?|over the|only supports up to)|"
    r"too many (?:input |prompt )?tokens|input (?:token|length|is)[^.\n]{0,60}(?:exceed|too long|longer|greater|limit)|"
    r"(?:token|input) (?:count|limit|length)[^.\n]{0,30}(?:exceed|greater|larger)|"
    r"reduce (?:the|your)[^.\n]{0,30}(?:length|prompt|messages|input|context)|tokens? (?:>|exceed)|"
    r"context (?:overflow|size has been exceeded|is full|shift is disabled)|n_ctx|ran out of (?:context|room)|"
    r"window exceeds limit|"
    r"上下文.{0,12}(?:超|过长|限制)|(?:输入|内容|长度).{0,12}(?:超过|过长|超出|超限)|最大(?:输入|上下文)",
    re.IGNORECASE,
)
_NAMES_CONTEXT = re.compile(r"context|prompt is too long|input.{0,20}too long|maximum prompt|上下文", re.IGNORECASE)
"""What even an error that also speaks of something else means by its length."""
_PAYLOAD = re.compile(
    r"request (?:entity|body|size)?\s*(?:is )?too large|payload too large|entity too large|request_too_large|"
    r"body (?:exceeds|too large)|maximum (?:allowed )?(?:request|payload) size|content length.{0,20}exceed",
    re.IGNORECASE,
)
_COUNTS_TOKENS = re.compile(r"context|token|prompt", re.IGNORECASE)
"""Without one of these a request that is too large is so in bytes."""
_WINDOWS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\+ \d+ > {_NUMBER}",
        rf"(?:maximum|max\.?|model'?s?)?\s*context (?:length|window|size|limit)[^\d(]{{0,40}}?\(?{_NUMBER}(?!\))",
        rf"{_NUMBER}\s*(?:tokens?)?\s*(?:maximum|context (?:window|length|limit|size))",
        rf"tokens?\s*(?:>|exceeds?|\(max(?:imum)?)\D{{0,40}}{_NUMBER}",
        rf"(?:limit|maximum|max|up to|at most|less than|n_ctx|max_model_len|range of input length)"
        rf"\D{{0,40}}?(?:\[1,\s*)?{_NUMBER}",
        rf"(?:cannot|not|must not) exceed\D{{0,20}}{_NUMBER}",
        rf"(?:最大|限制|超过|不能超过)\D{{0,12}}{_NUMBER}",
    )
)
_ERROR_CODE = re.compile(r"\(\d{3,5}\)(?=\W*$)", re.MULTILINE)
"""A number in brackets at the end counts nothing."""
SMALLEST_WINDOW, LARGEST_WINDOW = 1_024, 20_000_000
"""Tokens; a number outside is something else."""


@dataclass(frozen=True, slots=True)
class Overflow:
    """A conversation that did not fit."""

    kind: OverflowKind
    """`context`: too many tokens; `payload`: too many bytes, which are mostly pictures."""
    window: int | None = None
    """The window in tokens, where the error names it."""


def overflow_of(error: object) -> Overflow | None:
    """What an error says of the conversation's length; `None` where it is about something else. Never raises.

    `error`: an exception (of any SDK), a response body as text or object, or a text.
    """
    status, text = _status(error), _text(error)
    if status in (401, 402, 403, 404, 429):
        return None
    if (status == 413 or _PAYLOAD.search(text)) and not (_COUNTS_TOKENS.search(text) or _THROTTLED.search(text)):
        return Overflow("payload")
    context = _CONTEXT.search(text)
    if context and not _is_something_else(text, status):
        return Overflow("context", window_in(text))
    return None


def _is_something_else(text: str, status: int | None) -> bool:
    if _MEMORY.search(text) or _FILTERED.search(text) or _OTHER_LENGTH.search(text):
        return True
    names_context = _NAMES_CONTEXT.search(text)
    if _THROTTLED.search(text) and not (names_context and status in (400, 413, 500)):
        return True
    return bool(_OUTPUT_CAP.search(text)) and not names_context


def window_in(text: str) -> int | None:
    """The window in tokens that an error names: the number that is called the limit, not the one that was sent."""
    text = _ERROR_CODE.sub("", text)
    for pattern in _WINDOWS:
        found = [tokens for match in pattern.finditer(text) if (tokens := _tokens(match))]
        if found:
            return min(found)
    return None


def _tokens(match: re.Match[str]) -> int | None:
    number = int(re.sub(r"\D", "", match[1])) * (1_000 if match[2] else 1)
    return number if SMALLEST_WINDOW <= number <= LARGEST_WINDOW else None


def _status(error: object) -> int | None:
    for name in ("status_code", "status", "code", "http_status"):
        value = cast("dict[str, object]", error).get(name) if isinstance(error, dict) else getattr(error, name, None)
        if isinstance(value, int) and 100 <= value < 600:
            return value
    return None


def _text(error: object) -> str:
    return "\n".join(dict.fromkeys(_texts(error, 3)))


def _texts(error: object, depth: int) -> Iterator[str]:
    """All that an error says, in its message, its body and what caused it."""
    yield str(error)
    if depth and isinstance(error, BaseException):
        for name in ("message", "body", "response"):
            inner: object = getattr(error, name, None)
            text: object = getattr(inner, "text", inner)
            if isinstance(text, str):
                yield text
            elif text is not None and not callable(text):
                yield repr(text)
        if error.__cause__ is not None:
            yield from _texts(error.__cause__, depth - 1)
