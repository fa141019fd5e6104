"""The only seam to a model: a request in, a text out."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from abridged.errors import SummarizerError

DEFAULT_TIMEOUT = 120.0
"""Seconds that one request may take: a local or a thinking model needs them."""


class CancelToken:
    """Says to whoever works on a summary that nobody waits for it any more. Safe from several threads."""

    def __init__(self, parent: "CancelToken | None" = None) -> None:
        """`parent`: when it is cancelled this is, too, but not the other way round."""
        self._event = threading.Event()
        self._parent = parent
        self._actions: list[Callable[[], object]] = []
        self._lock = threading.Lock()

    def cancel(self) -> None:
        """Once is enough; more often does nothing more."""
        with self._lock:
            self._event.set()
            actions, self._actions = self._actions, []
        for action in actions:
            action()

    def on_cancel(self, action: Callable[[], object]) -> None:
        """Run `action` in the thread that cancels, or at once where that has happened; it must not raise.

        The token of a request is cancelled at its end in any case: what was opened for it can be closed here.
        """
        with self._lock:
            if not self._event.is_set():
                self._actions.append(action)
                return
        action()

    @property
    def cancelled(self) -> bool:
        return self._event.is_set() or (self._parent is not None and self._parent.cancelled)

    def wait(self, seconds: float) -> bool:
        """Wait until cancelled, at most so long; whether it was."""
        end = time.monotonic() + seconds
        while not self.cancelled and (left := end - time.monotonic()) > 0:
            self._event.wait(min(left, 0.05))
        return self.cancelled

    def raise_if_cancelled(self) -> None:
        """Raises `SummarizerError` of the kind `cancelled`."""
        if self.cancelled:
            raise SummarizerError("cancelled", "nobody waits for the summary any more")


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """What a summariser is asked."""

    instructions: str
    """Who it is, and what a summary is: the same in every request. For a model's system prompt."""
    record: str
    """The conversation between fences, and the task. For the one user message."""
    budget_tokens: int
    """What the summary should take; a target, not a cap on the output: a model that thinks needs room for that."""
    source_tokens: int
    """Tokens of what the summary replaces; a longer answer is useless."""
    timeout: float = DEFAULT_TIMEOUT
    """Seconds until nobody waits for the answer any more."""
    cancel: CancelToken = field(default_factory=CancelToken)

    @property
    def prompt(self) -> str:
        """All of it as one text, for those who take one."""
        return f"{self.instructions}\n\n{self.record}"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class SummaryResult:
    """What it answered."""

    text: str | None
    finish_reason: str | None = None
    """"length" means cut off; anything else, or nothing, means complete."""
    usage: Usage = Usage()
    reasoning: str | None = None
    """What a thinking model wrote beside its answer. Read only where there is no answer."""


@runtime_checkable
class Summarizer(Protocol):
    """Writes summaries. Any failure is an exception, best a `SummarizerError` that says its kind.

    It may have an attribute `context_length`: the window of its model in tokens, `None` where that is not known.
    """

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


AnySummarizer = Summarizer | Callable[[str], str | None]


def as_summarizer(given: AnySummarizer) -> Summarizer:
    """The summariser itself, or a function made one. Raises `TypeError` for anything else."""
    if isinstance(given, Summarizer):
        return given
    if callable(given):
        return CallableSummarizer(given)
    raise TypeError(f"a summarizer is a function from prompt to text or has summarize(request), not {given!r}")


def window_of(summarizer: Summarizer) -> int | None:
    """Tokens of its model's window, where it says."""
    window = getattr(summarizer, "context_length", None)
    return window if isinstance(window, int) and window > 0 else None
