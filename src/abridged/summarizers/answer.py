"""Is a model's answer a summary? What is not counts as a failure of that model, like an error (spec: P3.10)."""

import re

from abridged.conversation.tokens import Counter
from abridged.errors import SummarizerError
from abridged.summarizers.protocol import SummaryResult
from abridged.summary.document import SummaryDocument, parse

_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"\A.*?</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
"""Some servers leave out the opening."""
_FENCE = re.compile(r"\A\s*```\w*\n(.*?)\n?```\s*\Z", re.DOTALL)
_TOOL_SYNTAX = re.compile(r"<(?:tool_call|function_call|invoke)\b|\[TOOL_CALLS?\]|\"tool_calls\"\s*:", re.IGNORECASE)
SMALLEST_SHAPE = 2
"""An answer with fewer known headings is a refusal or something else, not a summary."""


def usable(answer: SummaryResult, source_tokens: int, counter: Counter) -> str:
    """The answer without its reasoning. Raises `SummarizerError`: empty, truncated, malformed, refusal or inflated.

    Where there is no answer, reasoning that has the shape of one will do. `source_tokens`: of what it replaces.
    """
    if answer.finish_reason in ("length", "max_tokens"):
        raise SummarizerError("truncated", "the answer was cut off")
    clean = without_reasoning(answer.text or "")
    if not clean and answer.reasoning:
        clean = answer.reasoning.strip()
        if headings(parse(clean), clean) < SMALLEST_SHAPE:
            clean = ""
    if not clean:
        raise SummarizerError("empty", "no text in the answer")
    if _TOOL_SYNTAX.search(clean):
        raise SummarizerError("malformed", "tool calls in the answer")
    if headings(parse(clean), clean) < SMALLEST_SHAPE:
        raise SummarizerError("refusal", "none of the sections was written")
    tokens = counter(clean)
    if tokens >= source_tokens:
        raise SummarizerError("inflated", f"{tokens:,} tokens for {source_tokens:,} tokens of conversation")
    return clean


def without_reasoning(text: str) -> str:
    """The text without what was thought aloud, and without a code fence around all of it."""
    clean = _THOUGHT.sub("", _THINKING.sub("", text), count=1).strip()
    fenced = _FENCE.match(clean)
    return fenced[1].strip() if fenced else clean


def headings(document: SummaryDocument, text: str) -> int:
    """How many of the sections an answer has, empty ones counted where their heading stands."""
    low = text.casefold()
    return sum(bool(items) or f"## {title.casefold()}" in low for title, items in document.sections.items())
