"""When not to compress although the threshold is reached.

Two stops, and neither latches: compressions that save little, and compressions that come too often. Each ends by time;
the first also by growth; both give way when the window is nearly full. Runs that a user forced are neither held back
nor counted (spec: T4, T4b).
"""

import logging
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from abridged.budget import Settings

logger = logging.getLogger(__name__)

Clock = Callable[[], float]
"""Seconds, wall clock: a stop must end although the process was restarted."""

PRESSURE = 0.90
"""From this share of the usable window on no stop holds: an overflow is worse than a useless compression."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an automatic compression may run, and if not, why."""

    allowed: bool
    reason: str = ""


class Guard:
    """The memory of one session's compressions; `reset` makes it as new."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._warned = ""
        self.reset()

    def reset(self) -> None:
        """Forget everything, as a new session does."""
        self.ineffective = 0
        """Ineffective automatic compressions in a row."""
        self._last_at = 0.0
        self._last_tokens = 0
        self._recent: deque[float] = deque(maxlen=self._settings.frequency_limit)
        self._strikes_before: int | None = None
        """Strikes before the last automatic compression, until the provider has judged it."""
        self._warned = ""

    def export_state(self) -> dict[str, Any]:
        """What must outlive a restart, as plain values."""
        return {
            "ineffective": self.ineffective, "last_at": self._last_at, "last_tokens": self._last_tokens,
            "recent": list(self._recent),
        }  # fmt: skip

    def import_state(self, state: Mapping[str, Any]) -> None:
        """Take what `export_state` gave."""
        self.ineffective = int(state.get("ineffective") or 0)
        self._last_at = float(state.get("last_at") or 0.0)
        self._last_tokens = int(state.get("last_tokens") or 0)
        self._recent.extend(float(at) for at in state.get("recent") or ())

    def judge(self, tokens: int, usable_tokens: int) -> Verdict:
        """May an automatic compression run at `tokens` prompt tokens?"""
        verdict = self._verdict(tokens, usable_tokens)
        if not verdict.allowed and verdict.reason != self._warned:
            logger.warning("compression skipped: %s", verdict.reason)
        self._warned = verdict.reason
        return verdict

    def _verdict(self, tokens: int, usable_tokens: int) -> Verdict:
        settings, now = self._settings, self._clock()
        if tokens >= usable_tokens * PRESSURE:
            return Verdict(True)
        if self.ineffective >= settings.ineffective_limit:
            expired = now - self._last_at >= settings.ineffective_expiry
            grown = tokens > self._last_tokens * (1 + settings.ineffective_growth)
            if not (expired or grown):
                return Verdict(
                    False,
                    f"the last {self.ineffective} compressions saved under {settings.ineffective_percent:g} % each; "
                    "start a new session with /new, or force one with /compress",
                )
        recent = sum(now - at < settings.frequency_window for at in self._recent)
        if recent >= settings.frequency_limit:
            return Verdict(
                False,
                f"{recent} compressions within {settings.frequency_window:g} seconds: the window refills too fast; "
                "start a new session with /new, or force one with /compress",
            )
        return Verdict(True)

    def record(self, tokens_before: int, tokens_after: int, *, forced: bool, prompt_tokens: int | None = None) -> None:
        """Count one compression by its effect.

        `prompt_tokens`: the provider's count before it, where known: growth is measured from there (spec: T5b).
        """
        if forced:
            self._strikes_before = None
            return
        self._last_at, self._last_tokens = self._clock(), prompt_tokens or tokens_before
        self._recent.append(self._last_at)
        self._strikes_before = self.ineffective
        self._count(self._effective(tokens_before, tokens_after))

    def correct(self, reported_before: int, reported_after: int) -> None:
        """The provider's own count of the same compression came in: it decides (spec: T4b)."""
        if self._strikes_before is None or reported_before <= 0:
            return
        self.ineffective, self._strikes_before = self._strikes_before, None
        self._count(self._effective(reported_before, reported_after))

    def _count(self, effective: bool) -> None:
        self.ineffective = 0 if effective else self.ineffective + 1

    def _effective(self, before: int, after: int) -> bool:
        return before > 0 and 100.0 * (before - after) / before >= self._settings.ineffective_percent
