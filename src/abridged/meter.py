"""How full the window is. What the provider reported and what is estimated are two numbers, never mixed (spec: T5b).

A report belongs to one request. Where the estimate of that request is known, the pair corrects later estimates, and
what came after the request is the growth of the estimate. Where it is not known, the larger of the two numbers stands.
"""

from abridged.conversation.tokens import Calibration

LARGE_GROWTH = 1.25
"""Right after a compression the estimate alone counts only from so many times the threshold on."""


class Meter:
    """The prompt's size over one session, in tokens."""

    def __init__(self) -> None:
        self.calibration = Calibration()
        self.reported = 0
        """Prompt tokens of the last response; 0 before the first."""
        self._reported_estimate = 0
        """The estimate of the request that `reported` belongs to; 0 = unknown."""
        self._next_estimate = 0
        """The estimate of the request that is sent next; 0 = unknown."""
        self.compressed = False
        """A compression ran and no response has come since: `reported` is of the past."""

    def expect(self, estimate: int, *, compressed: bool = False) -> None:
        """A conversation of this estimate is sent next."""
        self._next_estimate = estimate
        self.compressed = self.compressed or compressed

    def report(self, prompt_tokens: int) -> bool:
        """The provider counted a request. Returns whether it was the first one after a compression."""
        first = self.compressed
        self.reported, self.compressed = prompt_tokens, False
        self._reported_estimate, self._next_estimate = self._next_estimate, 0
        if self._reported_estimate:
            self.calibration.observe(self._reported_estimate, prompt_tokens)
        return first

    def tokens(self, estimate: int) -> int:
        """Prompt tokens of a conversation of this estimate, from all that is known."""
        whole = self.calibration.apply(estimate)
        if self.compressed or not self.reported:
            return whole
        if not self._reported_estimate:
            return max(self.reported, whole)
        if estimate < self._reported_estimate:
            return whole
        return self.reported + self.calibration.apply(estimate - self._reported_estimate)

    def due(self, threshold: int) -> int:
        """The threshold for an estimate: higher as long as a compression waits for the provider's word."""
        return int(threshold * LARGE_GROWTH) if self.compressed else threshold
