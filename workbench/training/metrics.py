"""What the whole episodes of an iteration say, as metrics.

Means and deviations are per step, over all steps of the episodes that ended; sums are per episode. `length/<reason>`
is the mean length of the episodes that ended for that reason, told only where one did.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.simulation import Episode


class EpisodeMetrics:
    """Folds episodes into metrics, one iteration after another."""

    def __init__(self) -> None:
        self.episodes = 0
        """Whole episodes so far."""
        self._endings: dict[str, int] = {}

    def state(self) -> dict[str, Any]:
        """Return what goes on from one iteration to the next, as plain data."""
        return {"episodes": self.episodes, "endings": self._endings}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` returned."""
        self.episodes, self._endings = state["episodes"], dict(state["endings"])

    def fold(self, episodes: Iterable[Episode]) -> dict[str, float]:
        """Return the metrics of the episodes that ended in an iteration; none where none ended."""
        ended = list(episodes)
        if not ended:
            return {}
        self.episodes += len(ended)
        steps = sum(episode.length for episode in ended)
        metrics: dict[str, float] = {}
        for term, (total, squares) in _totals(
            (episode.term_sums, episode.term_square_sums) for episode in ended
        ).items():
            metrics |= _spread(f"reward/{term}", total, squares, steps)
            metrics[f"reward/{term}_sum"] = total / len(ended)
        total = math.fsum(episode.ret for episode in ended)
        squares = math.fsum(episode.reward_square_sum for episode in ended)
        metrics |= _spread("rollout/reward", total, squares, steps)
        for key, (total, squares) in _totals(
            (episode.info_sums, episode.info_square_sums) for episode in ended
        ).items():
            metrics |= _spread(f"info/{key}", total, squares, steps)
        # An ending that was seen once is counted ever after, zeros too, so that its curve has no holes.
        self._endings = dict.fromkeys(self._endings, 0)
        lengths: dict[str, list[int]] = {}
        for episode in ended:
            name = f"{'terminated' if episode.terminated else 'truncated'}/{episode.reason}"
            self._endings[name] = self._endings.get(name, 0) + 1
            lengths.setdefault(f"length/{episode.reason}", []).append(episode.length)
        return metrics | self._endings | {name: sum(each) / len(each) for name, each in lengths.items()}


def _totals(
    pairs: Iterator[tuple[Mapping[str, float], Mapping[str, float]]],
) -> dict[str, tuple[float, float]]:
    totals: dict[str, tuple[float, float]] = {}
    for sums, squares in pairs:
        for name, value in sums.items():
            before, before_squares = totals.get(name, (0.0, 0.0))
            totals[name] = (before + value, before_squares + squares[name])
    return totals


def _spread(name: str, total: float, squares: float, steps: int) -> dict[str, float]:
    mean = total / steps
    return {f"{name}_mean": mean, f"{name}_std": math.sqrt(max(0.0, squares / steps - mean * mean))}
