"""The scores of some episodes, and what follows from them; as a value, and as the JSON that others read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

Z_95 = 1.96
"""Standard errors within which the mean of a normal distribution lies in 95 % of samples."""


@dataclass(frozen=True)
class Evaluation:
    """The scores of some episodes, in the order of their numbers."""

    environment: str
    """The Gymnasium ID."""
    checkpoint: Path | None
    """Where the policy is; None for an agent without one."""
    seed: int
    """The number of the first episode."""
    deterministic: bool
    """Whether the actor took its best action, or sampled."""
    returns: tuple[float, ...]
    """The sum of each episode's rewards."""
    lengths: tuple[int, ...]
    """Steps of each episode."""
    reasons: tuple[str, ...]
    """Why each episode ended."""
    terminated: tuple[bool, ...]
    """Whether each episode ended by itself; the others were cut."""
    successes: tuple[bool, ...] | None = None
    """Whether each episode was a success; None where the environment does not say what one is."""
    successful_at_reset: int = 0
    """How many episodes were a success before anything acted: they tell nothing of the policy."""
    terms: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """The sum of each reward term in each episode, by its name."""
    problems: Mapping[int, str] = field(default_factory=dict)
    """What went wrong in the simulation, by the place of the episode that it ended."""
    control_period_s: float | None = None
    """Simulated time of one step; None where the environment does not say."""

    @property
    def episodes(self) -> int:
        """How many episodes there are."""
        return len(self.returns)

    @property
    def endings(self) -> dict[str, int]:
        """How many episodes ended for each reason, the most frequent first."""
        return dict(Counter(self.reasons).most_common())

    @property
    def success_count(self) -> int | None:
        """How many episodes were a success; None where that is not measured."""
        return None if self.successes is None else sum(self.successes)

    @property
    def success_rate(self) -> float | None:
        """The share of episodes that were a success; None where that is not measured."""
        return None if self.successes is None else sum(self.successes) / len(self.successes)

    @property
    def mean(self) -> float:
        """Mean return."""
        return float(np.mean(self.returns))

    @property
    def std(self) -> float:
        """Standard deviation of the returns, of these episodes and no others."""
        return float(np.std(self.returns))

    @property
    def lower_bound(self) -> float:
        """The lower end of the 95 % confidence interval of the mean return, by the normal approximation.

        One episode tells nothing of the spread; its return stands for the bound then.
        """
        if len(self.returns) < 2:
            return self.mean
        return self.mean - Z_95 * float(np.std(self.returns, ddof=1)) / math.sqrt(len(self.returns))

    @property
    def min(self) -> float:
        """Lowest return."""
        return min(self.returns)

    @property
    def max(self) -> float:
        """Highest return."""
        return max(self.returns)

    @property
    def mean_length(self) -> float:
        """Mean steps of an episode."""
        return float(np.mean(self.lengths))

    def to_json(self) -> dict[str, Any]:
        """Return the scores as `evaluation.json` holds them."""
        return {
            "environment": self.environment,
            "seed": self.seed,
            "episodes": len(self.returns),
            "num_episodes": len(self.returns),
            "deterministic": self.deterministic,
            "mean_return": self.mean,
            "std_return": self.std,
            "lower_bound": self.lower_bound,
            "min_return": self.min,
            "max_return": self.max,
            "mean_length": self.mean_length,
            "success_rate": self.success_rate,
            "success_measured": self.successes is not None,
            "episodes_successful_at_reset": self.successful_at_reset,
            "returns": list(self.returns),
            "lengths": list(self.lengths),
            "reasons": list(self.reasons),
            "terminated": list(self.terminated),
            "successes": None if self.successes is None else list(self.successes),
            "endings": self.endings,
            "terms": {name: list(sums) for name, sums in self.terms.items()},
            "problems": {str(place): problem for place, problem in self.problems.items()},
            "control_period_s": self.control_period_s,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], checkpoint: Path | None) -> Evaluation:
        """Return the scores that `evaluation.json` holds of a checkpoint; what earlier versions left out is unknown.

        Raises:
            KeyError: Something is missing.
        """
        successes = data.get("successes")
        return cls(
            environment=data["environment"],
            checkpoint=checkpoint,
            seed=data["seed"],
            deterministic=data["deterministic"],
            returns=tuple(data["returns"]),
            lengths=tuple(data["lengths"]),
            reasons=tuple(data["reasons"]),
            terminated=tuple(data["terminated"]),
            successes=None if successes is None else tuple(successes),
            successful_at_reset=data.get("episodes_successful_at_reset", 0),
            terms={name: tuple(sums) for name, sums in data.get("terms", {}).items()},
            problems={int(place): problem for place, problem in data.get("problems", {}).items()},
            control_period_s=data.get("control_period_s"),
        )
