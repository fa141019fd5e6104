"""From a window to every size that depends on it. All sizes derive here, together, and show what was asked and why not.

Units: tokens, unless a name says characters or seconds.
"""

import math
from dataclasses import dataclass, field, fields
from typing import TypedDict

from abridged.errors import ConfigError

MINIMUM_CONTEXT_LENGTH = 64_000
"""Below this many tokens a compression does not fire, where the window allows (spec: T1)."""


class SettingsArguments(TypedDict, total=False):
    """The keyword arguments that make `Settings`; see there for units and defaults."""

    threshold_percent: float
    minimum_context_length: int
    threshold_ceiling: int | None
    protect_first_n: int
    protect_last_n: int
    summary_target_ratio: float
    tail_ceiling_ratio: float
    min_summary_tokens: int
    summary_ratio: float
    summary_window_share: float
    summary_tokens_ceiling: int
    content_max: int
    content_head: int
    content_tail: int
    arguments_max: int
    arguments_head: int
    prune_min_chars: int
    prune_argument_chars: int
    tail_result_chars: int
    summary_failure_cooldown: float
    transient_failure_cooldown: float
    summary_timeout: float
    ineffective_percent: float
    ineffective_limit: int
    ineffective_expiry: float
    ineffective_growth: float
    frequency_limit: int
    frequency_window: float


@dataclass(frozen=True, slots=True)
class Settings:
    """Every number of a compression (spec: C). Out of range is a `ConfigError`."""

    threshold_percent: float = 0.50
    """Share of the window at which a compression fires."""
    minimum_context_length: int = MINIMUM_CONTEXT_LENGTH
    """The threshold's floor, as far as the window allows (spec: T1, T2)."""
    threshold_ceiling: int | None = None
    """An absolute cap on the threshold, for accounts with a limit per minute; `None` = no cap."""
    protect_first_n: int = 3
    """Messages of the head, the system prompt counted in."""
    protect_last_n: int = 20
    """Messages of the tail, as far as they fit its ceiling."""
    summary_target_ratio: float = 0.20
    """Tail budget as a share of the threshold (spec: P2.2)."""
    tail_ceiling_ratio: float = 1.5
    """How far the tail may go beyond its budget (spec: P2.2)."""
    min_summary_tokens: int = 2_000
    """The smallest summary budget."""
    summary_ratio: float = 0.20
    """Summary budget as a share of what it replaces."""
    summary_window_share: float = 0.05
    """The largest summary as a share of the window."""
    summary_tokens_ceiling: int = 12_000
    """The largest summary of all."""
    content_max: int = 6_000
    """Characters of a message that a summariser is shown whole (spec: P3.5)."""
    content_head: int = 4_000
    """Characters kept from the front of a longer one."""
    content_tail: int = 1_500
    """Characters kept from its end."""
    arguments_max: int = 1_500
    """Characters of a call's arguments that a summariser is shown whole."""
    arguments_head: int = 1_200
    """Characters kept of longer ones."""
    prune_min_chars: int = 200
    """Results shorter than this are never pruned."""
    prune_argument_chars: int = 200
    """Strings in old arguments are cut to this many characters."""
    tail_result_chars: int = 8_000
    """Characters that an oversized result keeps in the tail (spec: P2.5d)."""
    summary_failure_cooldown: float = 600.0
    """Seconds without another try after there was no provider (spec: P3.7)."""
    transient_failure_cooldown: float = 60.0
    """Seconds without another try after a transient failure; twice as long after each further time-out in a row."""
    summary_timeout: float = 120.0
    """Seconds that one request to a summariser may take."""
    ineffective_percent: float = 10.0
    """A compression that saves less than this counts as ineffective (spec: T4)."""
    ineffective_limit: int = 2
    """So many ineffective ones in a row stop automatic compression."""
    ineffective_expiry: float = 600.0
    """Seconds after which that stop ends by itself (spec: T4b)."""
    ineffective_growth: float = 0.20
    """Growth since the last try at which it ends at once."""
    frequency_limit: int = 6
    """So many automatic compressions within `frequency_window` pause the next."""
    frequency_window: float = 600.0
    """Seconds."""

    def __post_init__(self) -> None:
        for entry in fields(self):
            name, value = entry.name, getattr(self, entry.name)
            low, high = _RANGES.get(name, (0, None))
            if value is None:
                if name == "threshold_ceiling":
                    continue
                raise ConfigError(name, value, "a number")
            whole = entry.type in (int, "int", int | None, "int | None")
            fits = isinstance(value, int) if whole else isinstance(value, int | float) and math.isfinite(value)
            if not fits or isinstance(value, bool) or value < low or (high is not None and value > high):
                kind = "a whole number" if whole else "a number"
                raise ConfigError(name, value, f"{kind} from {low}" + ("" if high is None else f" to {high}"))
        usual = {entry.name: entry.default for entry in fields(self)}
        for whole, parts in (("content_max", ("content_head", "content_tail")), ("arguments_max", ("arguments_head",))):
            if sum(getattr(self, part) for part in parts) > getattr(self, whole):
                # Whoever has set none of the parts has to be told of the whole.
                name = next((name for name in (*parts, whole) if getattr(self, name) != usual[name]), parts[0])
                raise ConfigError(name, getattr(self, name), f"{' + '.join(parts)} at most {whole}")


MEANINGS = {
    "threshold_percent": "share of the window at which a compression fires",
    "minimum_context_length": "the threshold is never lower, as far as the window allows (85 % of a small one)",
    "threshold_ceiling": "an absolute cap: compress from so many tokens on, whatever the window is",
    "protect_first_n": "messages of the head",
    "protect_last_n": "messages of the tail, as far as they fit its ceiling",
    "summary_target_ratio": "tail budget as a share of the threshold",
    "tail_ceiling_ratio": "how far the tail may go beyond its budget",
    "min_summary_tokens": "smallest summary budget",
    "summary_ratio": "summary budget as a share of what it replaces",
    "summary_window_share": "largest summary as a share of the window",
    "summary_tokens_ceiling": "largest summary of all",
    "content_max": "characters of a message that a summariser is shown whole",
    "content_head": "characters kept from the front of a longer one",
    "content_tail": "characters kept from its end",
    "arguments_max": "characters of a call's arguments that a summariser is shown whole",
    "arguments_head": "characters kept of longer ones",
    "prune_min_chars": "tool results shorter than this are left alone",
    "prune_argument_chars": "strings in old arguments are cut to this many characters",
    "tail_result_chars": "characters that an oversized result keeps in the tail",
    "summary_failure_cooldown": "seconds without another try after there was no provider",
    "transient_failure_cooldown": "the same after a failure that passes",
    "summary_timeout": "seconds that one request to a summariser may take",
    "ineffective_percent": "a compression that saves less counts as ineffective",
    "ineffective_limit": "so many in a row stop automatic compression",
    "ineffective_expiry": "seconds after which that stop ends by itself",
    "ineffective_growth": "growth at which it ends at once",
    "frequency_limit": "so many compressions within the window below pause the next",
    "frequency_window": "seconds",
}
"""Each setting in one line, for the configuration and the README."""

_RANGES: dict[str, tuple[float, float | None]] = {
    "threshold_percent": (0.01, 1.0),
    "threshold_ceiling": (1, None),
    "summary_target_ratio": (0.01, 0.95),
    "tail_ceiling_ratio": (1.0, 5.0),
    "summary_ratio": (0.01, 0.9),
    "summary_window_share": (0.005, 0.5),
    "min_summary_tokens": (50, None),
    "summary_tokens_ceiling": (50, None),
    "protect_last_n": (1, None),
    "prune_min_chars": (1, None),
    "prune_argument_chars": (1, None),
    "tail_result_chars": (200, None),
    "summary_timeout": (0.01, None),
    "ineffective_percent": (0, 100),
    "ineffective_limit": (1, None),
    "frequency_limit": (1, None),
}

_USABLE_SHARE = 0.85
"""The most of the usable window that a threshold's floor may take (spec: T2)."""
_LARGEST_SHARE = 0.95
"""The most of the usable window that a threshold may take when more was asked for: above, it would never fire."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The sizes that follow from a window. Made by `Budget.derive`; never changed, only made anew."""

    context_length: int
    """The model's window."""
    max_output_tokens: int
    """What is reserved for the answer."""
    threshold_tokens: int
    """Prompt tokens at which a compression fires (spec: T1-T3)."""
    tail_tokens: int
    """The tail's budget, in boundary weight (spec: P2.2)."""
    tail_ceiling: int
    """The most it may weigh."""
    min_summary_tokens: int
    max_summary_tokens: int
    """The bounds of the summary's budget (spec: P3.4)."""
    notes: tuple[str, ...] = field(default=())
    """Why an effective value differs from the one asked for."""

    @property
    def usable_tokens(self) -> int:
        """The window without what is reserved for the answer."""
        return self.context_length - self.max_output_tokens

    @classmethod
    def derive(cls, settings: Settings, context_length: int, max_output_tokens: int | None = None) -> "Budget":
        """Every size for one window. Raises `ConfigError` for a window that leaves no room for input."""
        output = max_output_tokens or 0
        if context_length <= 0:
            raise ConfigError("context_length", context_length, "a number of tokens above 0")
        if output < 0 or output >= context_length:
            raise ConfigError("max_output_tokens", output, f"from 0 to below the window of {context_length} tokens")
        notes: list[str] = []
        threshold = _threshold(settings, context_length, context_length - output, notes)
        tail = max(1, int(threshold * settings.summary_target_ratio))
        largest = min(int(context_length * settings.summary_window_share), settings.summary_tokens_ceiling)
        smallest = settings.min_summary_tokens
        if smallest > threshold // 4:
            smallest = threshold // 4
            notes.append(f"min_summary_tokens {settings.min_summary_tokens} -> {smallest}: a quarter of the threshold")
        return cls(
            context_length, output, threshold, tail, int(tail * settings.tail_ceiling_ratio), smallest, largest,
            tuple(notes),
        )  # fmt: skip

    def result_chars(self, settings: Settings) -> int:
        """What an oversized result keeps in the tail; less where the tail is small: two characters a token."""
        return max(200, min(settings.tail_result_chars, 2 * self.tail_ceiling))

    def summary_tokens(self, content_tokens: int, ratio: float) -> int:
        """The summary's budget for `content_tokens` of what it replaces (spec: P3.4)."""
        return max(self.min_summary_tokens, min(int(content_tokens * ratio), self.max_summary_tokens))


def _threshold(settings: Settings, context_length: int, usable: int, notes: list[str]) -> int:
    asked = int(context_length * settings.threshold_percent)
    floor = min(settings.minimum_context_length, int(usable * _USABLE_SHARE))
    threshold = max(asked, floor)
    if threshold > asked:
        reason = f"never below {floor} tokens" if floor == settings.minimum_context_length else "85 % of a small window"
        notes.append(f"threshold {asked} -> {threshold}: {reason}")
    share = max(_USABLE_SHARE, min(settings.threshold_percent, _LARGEST_SHARE))
    if threshold > int(usable * share):
        threshold = int(usable * share)
        notes.append(f"threshold -> {threshold}: {share:.0%} of the window without the reserved output ({usable})")
    if settings.threshold_ceiling is not None and threshold > settings.threshold_ceiling:
        threshold = settings.threshold_ceiling
        notes.append(f"threshold -> {threshold}: threshold_ceiling")
    return max(1, threshold)
