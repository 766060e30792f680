"""How much one run, or group of seeds, is ahead of another: differences with their bootstrap intervals.

The percentile bootstrap of `workbench.runs.statistics`, for a difference: groups are drawn independently of each other,
and episodes that two policies played from the same starts are drawn as pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.runs.statistics import CONFIDENCE, FEWEST_RUNS, REPETITIONS, Interval, iqm

Floats = NDArray[np.float64]

_SEED = 20_210_830
FEWEST_EPISODES = 5
"""With fewer there is no interval of a difference between pairs."""


def ahead(ours: ArrayLike, theirs: ArrayLike, *, repetitions: int = REPETITIONS, seed: int = _SEED) -> Interval:
    """Return how much the interquartile mean of some runs is above that of others.

    Args:
        ours: A score a run, `(n,)`.
        theirs: The same of the others, `(m,)`.
        repetitions: Draws of the bootstrap.
        seed: Of the draws: the same scores always give the same interval.

    Returns:
        The difference; low and high are NaN where either side has fewer than three runs.
    """
    mine, others = _finite(ours), _finite(theirs)
    value = iqm(mine) - iqm(others)
    runs = min(len(mine), len(others))
    if runs < FEWEST_RUNS:
        return Interval(value, float("nan"), float("nan"), runs)
    generator = np.random.default_rng(seed)
    drawn = np.array(
        [
            iqm(mine[generator.integers(len(mine), size=len(mine))])
            - iqm(others[generator.integers(len(others), size=len(others))])
            for _ in range(repetitions)
        ]
    )
    return _interval(value, drawn, runs)


def ahead_in_pairs(
    ours: ArrayLike, theirs: ArrayLike, *, repetitions: int = REPETITIONS, seed: int = _SEED
) -> Interval:
    """Return how much the mean return over episodes is above that of another policy on the same episodes.

    Args:
        ours: A return an episode, `(n,)`.
        theirs: Those of the other policy, in the same order, `(n,)`.
        repetitions: Draws of the bootstrap.
        seed: Of the draws.

    Returns:
        The difference; low and high are NaN with fewer than five episodes.
    """
    gaps = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    gaps = gaps[np.isfinite(gaps)]
    value = float(gaps.mean()) if len(gaps) else float("nan")
    if len(gaps) < FEWEST_EPISODES:
        return Interval(value, float("nan"), float("nan"), len(gaps))
    places = np.random.default_rng(seed).integers(len(gaps), size=(repetitions, len(gaps)))
    return _interval(value, gaps[places].mean(axis=1), len(gaps))


def _interval(value: float, drawn: Floats, runs: int) -> Interval:
    low, high = np.percentile(drawn, (50 * (1 - CONFIDENCE), 50 * (1 + CONFIDENCE)))
    return Interval(value, float(low), float(high), runs)


def _finite(scores: ArrayLike) -> Floats:
    flat = np.asarray(scores, dtype=np.float64).reshape(-1)
    return flat[np.isfinite(flat)]
