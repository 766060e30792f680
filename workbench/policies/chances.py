"""What shares of episodes tell: Wilson's range of one share, and McNemar's exact test of two on the same episodes."""

from __future__ import annotations

import math
from dataclasses import dataclass

CONFIDENCE = 0.95
"""Of every range."""

SIGNIFICANT = 0.05
"""A difference that chance makes less often than this is called one."""


@dataclass(frozen=True)
class Range:
    """Where a share probably lies."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """How much it leaves open."""
        return self.high - self.low

    def straddles(self, bar: float) -> bool:
        """Tell whether the share may lie on either side of a bar."""
        return self.low < bar < self.high

    def percent(self) -> str:
        """Return it in whole percent, rounded outwards: `79 % to 93 %`."""
        # What rounding left a hair beyond a whole number is that number.
        low, high = math.floor(100 * self.low + 1e-9), math.ceil(100 * self.high - 1e-9)
        return f"{low}\u00a0% to {high}\u00a0%"


def wilson(successes: int, episodes: int, confidence: float = CONFIDENCE) -> Range:
    """Return the range in which the success rate lies, after E. B. Wilson (JASA 22, 1927), without correction.

    Args:
        successes: How many of the episodes were a success.
        episodes: How many there were, at least one.
        confidence: How often such a range holds the true rate.
    """
    from scipy.stats import binomtest

    found = binomtest(successes, episodes).proportion_ci(confidence, method="wilson")
    return Range(float(found.low), float(found.high))


def mcnemar(only_ours: int, only_theirs: int) -> float:
    """Return how often chance alone would split as unevenly the episodes that exactly one of two policies solved.

    McNemar's test in its exact, two-sided form: were the policies equal, each such episode would be a fair coin.

    Args:
        only_ours: Episodes that the one solved and the other did not.
        only_theirs: Episodes that only the other solved.
    """
    from scipy.stats import binomtest

    tosses = only_ours + only_theirs
    return float(binomtest(only_ours, tosses, 0.5).pvalue) if tosses else 1.0
