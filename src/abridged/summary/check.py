"""Is a model's answer a summary? What is not counts as a failure of that model, like an error (spec: P3.10)."""

import re

from abridged.errors import SummarizerError
from abridged.summary.document import SummaryDocument, parse

_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"\A\s*```\w*\n(.*?)\n?```\s*\Z", re.DOTALL)
_TOOL_SYNTAX = re.compile(r"<(?:tool_call|function_call|invoke)\b|\[TOOL_CALLS?\]|\"tool_calls\"\s*:", re.IGNORECASE)
SMALLEST_SHAPE = 2
"""An answer with fewer known headings is a refusal or something else, not a summary."""


def usable(text: str | None, *, finish_reason: str | None, source_tokens: int, tokens: int) -> str:
    """The answer without its reasoning. Raises `SummarizerError`: empty, truncated, malformed, refusal or inflated."""
    if finish_reason == "length":
        raise SummarizerError("truncated", "the answer was cut off")
    clean = _THINKING.sub("", text or "").strip()
    fenced = _FENCE.match(clean)
    clean = fenced[1].strip() if fenced else clean
    if not clean:
        raise SummarizerError("empty", "no text in the answer")
    if _TOOL_SYNTAX.search(clean):
        raise SummarizerError("malformed", "tool calls in the answer")
    if headings(parse(clean), clean) < SMALLEST_SHAPE:
        raise SummarizerError("refusal", "none of the sections was written")
    if tokens >= source_tokens:
        raise SummarizerError("inflated", f"{tokens} tokens for {source_tokens} tokens of conversation")
    return clean


def headings(document: SummaryDocument, text: str) -> int:
    """How many of the sections an answer has, empty ones counted where their heading stands."""
    low = text.casefold()
    return sum(bool(items) or f"## {title.casefold()}" in low for title, items in document.sections.items())
