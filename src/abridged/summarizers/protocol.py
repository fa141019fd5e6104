"""The only seam to a model: a request in, a text out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """What a summariser is asked."""

    prompt: str
    """The whole prompt, instructions and conversation, as one user message."""
    budget_tokens: int
    """What the summary should take; a target, not a cap on the output: a model that thinks needs room for that."""
    source_tokens: int
    """Tokens of what the summary replaces; a longer answer is useless."""


@dataclass(frozen=True, slots=True)
class SummaryResult:
    """What it answered."""

    text: str | None
    finish_reason: str | None = None
    """"length" means cut off; anything else, or nothing, means complete."""


@runtime_checkable
class Summarizer(Protocol):
    """Writes summaries. Any failure is an exception, best a `SummarizerError` that says its kind."""

    @property
    def name(self) -> str: ...

    def summarize(self, request: SummaryRequest) -> SummaryResult: ...


class CallableSummarizer:
    """Any function from a prompt to a text."""

    def __init__(self, function: Callable[[str], str | None]) -> None:
        self._function = function
        self.name: str = getattr(function, "__name__", type(function).__name__)

    def summarize(self, request: SummaryRequest) -> SummaryResult:
        return SummaryResult(self._function(request.prompt))


def as_summarizer(given: Summarizer | Callable[[str], str | None]) -> Summarizer:
    """The summariser itself, or a function made one. Raises `TypeError` for anything else."""
    if isinstance(given, Summarizer):
        return given
    if callable(given):
        return CallableSummarizer(given)
    raise TypeError(f"a summarizer is a function from prompt to text or has summarize(request), not {given!r}")
