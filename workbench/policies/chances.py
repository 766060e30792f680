"""What shares of episodes tell: Wilson's range of one share, and McNemar's exact test of two on the same episodes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

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
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share, weight = successes / episodes, z * z / episodes
    middle = (share + weight / 2) / (1 + weight)
    reach = z / (1 + weight) * math.sqrt(share * (1 - share) / episodes + weight / (4 * episodes))
    # At the ends the range touches 0 or 1 exactly; rounding must not leave it a hair beside.
    low = 0.0 if successes == 0 else max(0.0, middle - reach)
    high = 1.0 if successes == episodes else min(1.0, middle + reach)
    return Range(low, high)


def mcnemar(only_ours: int, only_theirs: int) -> float:
    """Return how often chance alone would split as unevenly the episodes that exactly one of two policies solved.

    McNemar's test in its exact, two-sided form: were the policies equal, each such episode would be a fair coin.

    Args:
        only_ours: Episodes that the one solved and the other did not.
        only_theirs: Episodes that only the other solved.
    """
    tosses, fewer = only_ours + only_theirs, min(only_ours, only_theirs)
    # Whole numbers up to the last division: nothing is rounded on the way.
    tail = sum(math.comb(tosses, heads) for heads in range(fewer + 1))
    return min(1.0, 2 * tail / (1 << tosses))
