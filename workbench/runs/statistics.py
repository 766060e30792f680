"""What several runs say together: interquartile means, bootstrap intervals, and the band of a group of seeds.

The interquartile mean and the percentile bootstrap over runs are those of Agarwal et al., "Deep Reinforcement Learning
at the Edge of the Statistical Precipice", NeurIPS 2021 (arXiv:2108.13264), as their library rliable computes them:
a quarter of the scores, rounded down, is left out at each end; runs are drawn with replacement, for each task anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
"""Of every interval."""
REPETITIONS = 2000
"""Draws of a bootstrap; the ends of a 95 % interval of five runs then move by about 1 % of its width."""
FEWEST_RUNS = 3
"""With fewer there is no interval."""
GRID_POINTS = 200
"""About as many places a group of runs is compared at."""
_LEVEL = 2
"""Runs whose ends are no further apart than so many steps of the grid are as far as each other."""
_SEED = 20_210_830
_TRIMMED = 0.25
_MOST_DRAWN = 4_000_000
"""Numbers held at once while a bootstrap runs."""


@dataclass(frozen=True)
class Interval:
    """A number computed from several runs, with the bootstrap interval around it."""

    value: float
    low: float
    """NaN with fewer than three runs."""
    high: float
    runs: int


@dataclass(frozen=True, eq=False)
class SeedBand:
    """A group of runs on one grid of steps, `(n,)` each; low and high are NaN where fewer than three have data."""

    steps: Floats
    count: NDArray[np.int64]
    """How many runs have data there, at least one."""
    runs: int
    """How many there are in all."""
    iqm: Floats
    low: Floats
    """The lower end of the bootstrap interval of the interquartile mean."""
    high: Floats
    median: Floats
    lowest: Floats
    highest: Floats


def iqm(scores: ArrayLike) -> float:
    """Return the interquartile mean of all scores of any shape; NaN without any.

    A quarter of them, rounded down, is left out at each end, as `scipy.stats.trim_mean` does with 0.25.
    """
    flat = np.asarray(scores, dtype=np.float64).reshape(-1)
    return float(_trimmed_mean(flat[:, None])[0]) if len(flat) else math.nan


def bootstrap(
    scores: ArrayLike,
    *,
    statistic: Callable[[Floats], float] = iqm,
    confidence: float = CONFIDENCE,
    repetitions: int = REPETITIONS,
    seed: int = _SEED,
) -> Interval:
    """Return a statistic of several runs with its stratified percentile bootstrap interval.

    The runs of each task are drawn with replacement by themselves, so that every draw holds as many of each.

    Args:
        scores: `(runs,)`, or `(runs, tasks)`.
        statistic: Of all scores of one draw, `(runs, tasks)`.
        confidence: Of the interval.
        repetitions: How many draws.
        seed: Of the draws: the same scores always give the same interval.
    """
    table = np.asarray(scores, dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    runs, tasks = table.shape
    value = statistic(table) if table.size else math.nan
    if runs < FEWEST_RUNS or not tasks:
        return Interval(value, math.nan, math.nan, runs)
    generator = np.random.default_rng(seed)
    columns = np.arange(tasks)
    drawn = [statistic(table[generator.integers(runs, size=(runs, tasks)), columns]) for _ in range(repetitions)]
    low, high = np.percentile(drawn, _ends(confidence))
    return Interval(value, float(low), float(high), runs)


def resample(steps: Floats, values: Floats, grid: Floats) -> Floats:
    """Return a curve at the steps of a grid, `(n,)`: between its points on their line, NaN outside and in its gaps.

    Args:
        steps: Rising, `(m,)`.
        values: `(m,)`; what is not finite is a gap.
        grid: `(n,)`.
    """
    if not len(steps):
        return np.full(len(grid), np.nan)
    clean = np.where(np.isfinite(values), values, np.nan)
    return np.asarray(np.interp(grid, steps, clean, left=np.nan, right=np.nan))


def common_grid(series: Sequence[tuple[Floats, Floats]], points: int = GRID_POINTS) -> Floats:
    """Return about `points` steps that all the series are compared at, from the first point of any to the last.

    They are multiples of 1, 2 or 5 times a power of ten, so that they stay where they are while the series grow. Where
    several end nearly together they are compared as far as all of those have come: live runs are never quite level.
    """
    filled = [steps for steps, _ in series if len(steps)]
    if not filled:
        return np.empty(0)
    ends = np.array([float(steps[-1]) for steps in filled])
    first, last = min(float(steps[0]) for steps in filled), float(ends.max())
    if not last > first:
        return np.array([first])
    rough = (last - first) / max(points, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    last = max(first, float(ends[ends >= last - _LEVEL * step].min()))
    multiples = np.arange(math.ceil(first / step), math.floor(last / step) + 1) * step
    return np.unique(np.concatenate(([first], multiples, ends[ends <= last])))


def seed_band(
    series: Sequence[tuple[Floats, Floats]],
    *,
    grid: Floats | None = None,
    repetitions: int = REPETITIONS,
    seed: int = _SEED,
) -> SeedBand:
    """Return what a group of runs says together, step by step.

    Args:
        series: Steps (rising) and values of each run, `(m,)` each.
        grid: The steps to compare at; `common_grid` of the series unless given.
        repetitions: Draws of the bootstrap; the same runs are drawn at every step, so that the band is smooth.
        seed: Of the draws.
    """
    grid = common_grid(series) if grid is None else grid
    table = np.array([resample(steps, values, grid) for steps, values in series]).reshape(len(series), len(grid))
    present = np.isfinite(table)
    known = present.any(axis=0)
    grid, table, present = grid[known], table[:, known], present[:, known]
    columns = len(grid)
    low, high, middle = np.full(columns, np.nan), np.full(columns, np.nan), np.empty(columns)
    patterns, which = np.unique(present.T, axis=0, return_inverse=True)
    for place, pattern in enumerate(patterns):
        chosen = np.flatnonzero(which.reshape(-1) == place)
        scores = table[np.ix_(np.flatnonzero(pattern), chosen)]
        middle[chosen] = _trimmed_mean(scores)
        if len(scores) >= FEWEST_RUNS:
            low[chosen], high[chosen] = _interval(scores, repetitions, seed)
    filled = columns > 0
    return SeedBand(
        grid,
        present.sum(axis=0),
        len(series),
        middle,
        low,
        high,
        np.nanmedian(table, axis=0) if filled else np.empty(0),
        np.nanmin(table, axis=0) if filled else np.empty(0),
        np.nanmax(table, axis=0) if filled else np.empty(0),
    )


def _trimmed_mean(scores: Floats) -> Floats:
    """The interquartile mean along the first axis."""
    cut = int(_TRIMMED * len(scores))
    if cut:
        scores = np.sort(scores, axis=0)[cut : len(scores) - cut]
    return np.asarray(scores.mean(axis=0))


def _interval(scores: Floats, repetitions: int, seed: int) -> tuple[Floats, Floats]:
    """The bootstrap interval of each column of `(runs, columns)`, all of the same draws."""
    runs, columns = scores.shape
    drawn = np.random.default_rng(seed).integers(runs, size=(runs, repetitions))
    # Few runs can be drawn in few ways only, and in which order makes no difference.
    ways, which = np.unique(np.sort(drawn, axis=0), axis=1, return_inverse=True)
    at_once = max(1, _MOST_DRAWN // drawn.size)
    parts = [
        np.percentile(
            _trimmed_mean(scores[ways, start : start + at_once])[which.reshape(-1)], _ends(CONFIDENCE), axis=0
        )
        for start in range(0, columns, at_once)
    ]
    low, high = np.concatenate(parts, axis=1)
    return low, high


def _ends(confidence: float) -> tuple[float, float]:
    return 50 * (1 - confidence), 50 * (1 + confidence)
