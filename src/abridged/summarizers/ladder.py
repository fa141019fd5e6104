"""Summary model, then main model, then nobody. What each rung said is kept; a failure is never an exception.

The ladder decides who is asked, how often, and how long anybody waits; what is asked is the task's business. `None`
means that nobody wrote: the caller writes by rule. A summary model that is not found is left for good (spec: P3.7).
"""

import contextvars
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from abridged.budget import Settings
from abridged.errors import FAILURE_KINDS, FailureKind, SummarizerError
from abridged.report import Attempt
from abridged.summarizers.failures import failure_of
from abridged.summarizers.protocol import CancelToken, Summarizer, SummaryRequest, SummaryResult, Usage, window_of

logger = logging.getLogger(__name__)

Check = Callable[[SummaryResult, SummaryRequest], str]
"""The usable text of an answer; raises `SummarizerError` where there is none."""
Ask = Callable[[SummaryRequest], str]
"""One request to the rung whose turn it is; raises `SummarizerError`."""
Task = Callable[[int, Ask], str]
"""Writes one summary with as many requests as it takes, none longer than a window of so many tokens."""

KEEPS_ALL: frozenset[FailureKind] = frozenset({"auth", "rate_limit", "network", "cancelled"})
"""Failures that end by themselves or by a word of the user: nothing need be lost for them while there is room."""
_LONG_COOLDOWN: frozenset[FailureKind] = frozenset({"no_provider", "auth"})
_OWN_FAULT: frozenset[FailureKind] = frozenset({"cancelled"})
"""No reason to ask the next rung, or to wait before the next try."""
_SHRINK_TRIES: dict[FailureKind, int] = {"overflow": 3, "truncated": 1}
"""How often a rung is asked again with half the window: what fills a window leaves no room for the answer."""
_LONGEST_COOLDOWN = 3_600.0
_POLL = 0.05
"""Seconds between two looks at the cancel token."""


@dataclass(slots=True)
class _Tally:
    """What one rung took."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, usage: Usage) -> None:
        self.prompt_tokens += usage.prompt_tokens
        self.completion_tokens += usage.completion_tokens


class Ladder:
    """The rungs of one session, and how long each attempt has to wait."""

    def __init__(self, rungs: list[Summarizer], check: Check, settings: Settings, clock: Callable[[], float]) -> None:
        self._all = rungs
        self._check = check
        self._settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """A new session: every rung is tried again, at once."""
        self._rungs = list(self._all)
        self._resume_at = 0.0
        self._timeouts = 0
        self.last_failure: FailureKind | None = None
        """How the last try ended; `None` = well, or nobody was asked yet."""

    def export_state(self) -> dict[str, Any]:
        """What must outlive a restart, as plain values: a doomed request is not made at once (spec: T4b)."""
        return {"resume_at": self._resume_at, "timeouts": self._timeouts, "last_failure": self.last_failure}

    def import_state(self, state: Mapping[str, Any]) -> None:
        """Take what `export_state` gave."""
        self._resume_at = float(state.get("resume_at") or 0.0)
        self._timeouts = int(state.get("timeouts") or 0)
        failure = state.get("last_failure")
        self.last_failure = cast("FailureKind", failure) if failure in FAILURE_KINDS else None

    @property
    def empty(self) -> bool:
        """Nobody was ever to be asked."""
        return not self._all

    @property
    def cooldown_seconds(self) -> float:
        """Seconds until the next attempt; 0 = now."""
        return max(0.0, self._resume_at - self._clock())

    def write(
        self, task: Task, window: int, attempts: list[Attempt], cancel: CancelToken, *, force: bool = False
    ) -> str | None:
        """A checked summary, or `None`.

        `window`: tokens of a rung that does not say its own. `force` does not wait for the cooldown.
        """
        with self._lock:
            return self._write(task, window, attempts, cancel, force=force)

    def _write(
        self, task: Task, window: int, attempts: list[Attempt], cancel: CancelToken, *, force: bool
    ) -> str | None:
        if not self._rungs:
            return None
        if self.cooldown_seconds and not force:
            attempts.append(Attempt("cooldown", "skipped", f"{self.cooldown_seconds:.0f} s left"))
            return None
        for rung in list(self._rungs):
            text, failure = "", None
            tally, started = _Tally(), time.monotonic()
            try:
                text = self._climb(rung, task, window_of(rung) or window, tally, cancel)
            except Exception as error:  # a summariser is foreign code; whatever it raises is its answer
                failure = failure_of(error)
            attempts.append(
                Attempt(
                    rung.name,
                    failure.kind if failure else "ok",
                    failure.detail if failure else "",
                    tally.requests, tally.prompt_tokens, tally.completion_tokens, time.monotonic() - started,
                )
            )  # fmt: skip
            if failure is None:
                self.last_failure, self._timeouts = None, 0
                return text
            self.last_failure = failure.kind
            logger.warning("summariser %s: %s", rung.name, failure)
            if failure.kind in _OWN_FAULT:
                return None
            if failure.kind == "not_found" and len(self._rungs) > 1:
                self._rungs.remove(rung)
        if not force:
            self._timeouts = self._timeouts + 1 if self.last_failure == "timeout" else 0
        self._resume_at = self._clock() + self._cooldown()
        return None

    def _cooldown(self) -> float:
        """Seconds; longer with every time-out in a row: what was too slow three times is too slow the fourth time."""
        settings = self._settings
        if self.last_failure in _LONG_COOLDOWN:
            return settings.summary_failure_cooldown
        growing = settings.transient_failure_cooldown * 2 ** max(0, self._timeouts - 1)
        return min(growing, max(_LONGEST_COOLDOWN, settings.transient_failure_cooldown))

    def _climb(self, rung: Summarizer, task: Task, window: int, tally: _Tally, cancel: CancelToken) -> str:
        """The task by one rung; a rung that has no room for a request or its answer gets shorter ones."""

        def ask(request: SummaryRequest) -> str:
            tally.requests += 1
            answer = answer_of(rung, request)
            tally.add(answer.usage)
            return self._check(answer, request)

        tries = dict(_SHRINK_TRIES)
        while True:
            cancel.raise_if_cancelled()
            try:
                return task(window, ask)
            except SummarizerError as error:
                if not tries.get(error.kind):
                    raise
                tries[error.kind] -= 1
                window //= 2


def answer_of(rung: Summarizer, request: SummaryRequest) -> SummaryResult:
    """What a summariser answers, waited for no longer than the request says; raises `SummarizerError`.

    It works in a thread of its own, so that one that hangs can be left; what it says later is never heard.
    """
    own = CancelToken(parent=request.cancel)
    asked = replace(request, cancel=own)
    said: list[SummaryResult] = []
    failed: list[BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            said.append(rung.summarize(asked))
        except BaseException as error:  # also what a library raises to end a program: it ends this request alone
            failed.append(error)
        finally:
            done.set()

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), name=f"abridged-{rung.name}", daemon=True).start()
    end = time.monotonic() + request.timeout
    try:
        while not done.wait(min(_POLL, max(0.0, end - time.monotonic()))):
            own.raise_if_cancelled()
            if time.monotonic() >= end:
                raise SummarizerError("timeout", f"no answer within {request.timeout:g} s")
    finally:
        own.cancel()  # whoever still works on it may stop
    if failed:
        raise failure_of(failed[0])
    return said[0]
