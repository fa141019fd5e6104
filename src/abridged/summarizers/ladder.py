"""Summary model, then main model, then nobody. What each rung said is kept; a failure is never an exception.

`None` means that nobody wrote: the caller writes by rule. A summary model that is not found is left for good.
(spec: P3.7)
"""

from collections.abc import Callable

from abridged.budget import Settings
from abridged.errors import FailureKind, SummarizerError
from abridged.report import Attempt
from abridged.summarizers.protocol import Summarizer, SummaryRequest, SummaryResult

Check = Callable[[SummaryResult, SummaryRequest], str]
"""The usable text of an answer; raises `SummarizerError` where there is none."""

_LONG_COOLDOWN: frozenset[FailureKind] = frozenset({"no_provider", "auth"})
_BY_STATUS: dict[int, FailureKind] = {
    401: "auth", 403: "auth", 404: "not_found", 408: "timeout", 413: "overflow", 429: "rate_limit", 503: "not_found",
}  # fmt: skip


class Ladder:
    """The rungs of one session, and how long each attempt has to wait."""

    def __init__(self, rungs: list[Summarizer], check: Check, settings: Settings, clock: Callable[[], float]) -> None:
        self._all = rungs
        self._check = check
        self._settings = settings
        self._clock = clock
        self.reset()

    def reset(self) -> None:
        """A new session: every rung is tried again, at once."""
        self._rungs = list(self._all)
        self._resume_at = 0.0

    @property
    def empty(self) -> bool:
        """Nobody was ever to be asked."""
        return not self._all

    @property
    def cooldown_seconds(self) -> float:
        """Seconds until the next attempt; 0 = now."""
        return max(0.0, self._resume_at - self._clock())

    def write(self, request: SummaryRequest, attempts: list[Attempt], *, force: bool = False) -> str | None:
        """A checked summary, or `None`. `force` does not wait for the cooldown."""
        if not self._rungs:
            return None
        if self.cooldown_seconds and not force:
            attempts.append(Attempt("cooldown", "skipped", f"{self.cooldown_seconds:.0f} s left"))
            return None
        failed: FailureKind = "other"
        for rung in list(self._rungs):
            try:
                text = self._check(rung.summarize(request), request)
            except Exception as error:  # a summariser is foreign code; whatever it raises is its answer
                failed, detail = classify(error)
                attempts.append(Attempt(rung.name, failed, detail))
                if failed == "not_found" and len(self._rungs) > 1:
                    self._rungs.remove(rung)
            else:
                attempts.append(Attempt(rung.name, "ok"))
                return text
        settings = self._settings
        long = failed in _LONG_COOLDOWN
        self._resume_at = self._clock() + (
            settings.summary_failure_cooldown if long else settings.transient_failure_cooldown
        )
        return None


def classify(error: Exception) -> tuple[FailureKind, str]:
    """The kind of a failure and its first line, from the exception's type and status alone."""
    detail = f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}"
    if isinstance(error, SummarizerError):
        return error.kind, error.detail
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status in _BY_STATUS:
        return _BY_STATUS[status], detail
    if isinstance(error, TimeoutError):
        return "timeout", detail
    if isinstance(error, ConnectionError | OSError):
        return "network", detail
    if isinstance(error, RuntimeError):
        return "no_provider", detail
    return "other", detail
