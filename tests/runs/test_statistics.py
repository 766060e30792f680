"""Interquartile means, intervals and bands, against their published definitions and hand-made numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench.runs.statistics import bootstrap, common_grid, iqm, resample, seed_band


@pytest.mark.parametrize(
    ("scores", "mean"),
    [
        # As scipy.stats.trim_mean(scores, 0.25, axis=None) of scipy 1.17.1 has them.
        ([3.0, 1, 2], 2.0),
        ([1.0, 2, 3, 4], 2.5),
        ([5.0, 9, 1, 7, 100], 7.0),
        ([4744.0, 4842.6, 5594.3, 3795.1, 2.5, 9999, -40, 17], 3349.675),
        (np.arange(12.0).reshape(4, 3) ** 2, 33.166666666666664),
    ],
)
def test_the_interquartile_mean_is_that_of_rliable(scores: object, mean: float) -> None:
    assert iqm(scores) == pytest.approx(mean, abs=1e-9)  # type: ignore[arg-type]


def test_the_interquartile_mean_of_nothing_is_unknown() -> None:
    assert math.isnan(iqm([]))


def _published_iqm(scores: list[float]) -> float:
    ordered = sorted(scores)
    cut = int(0.25 * len(ordered))
    kept = ordered[cut : len(ordered) - cut]
    return math.fsum(kept) / len(kept)


@pytest.mark.parametrize("runs", [3, 4, 5, 9])
def test_the_interval_is_the_percentile_bootstrap_over_runs(runs: int) -> None:
    scores = np.random.default_rng(runs).normal(100, 30, size=runs)
    draws = np.random.default_rng(7).integers(runs, size=(500, runs, 1))
    by_hand = sorted(_published_iqm([float(scores[run]) for (run,) in draw]) for draw in draws)
    # Percentiles lie on the line between neighbours: the 2.5th of 500 draws at place 0.025 · 499 = 12.475.
    low = by_hand[12] + 0.475 * (by_hand[13] - by_hand[12])
    high = by_hand[486] + 0.525 * (by_hand[487] - by_hand[486])
    found = bootstrap(scores, repetitions=500, seed=7)
    assert found.value == pytest.approx(_published_iqm(scores.tolist()), abs=1e-9)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))


def test_the_bootstrap_draws_the_runs_of_each_task_by_themselves() -> None:
    # One task always gives 0, the other always 10: whatever runs are drawn, half of all scores are each.
    found = bootstrap(np.array([[0.0, 10.0]] * 4), statistic=lambda drawn: float(drawn.mean()))
    assert (found.value, found.low, found.high) == (5, 5, 5)
    apart = bootstrap(np.array([[0.0, 10.0], [1.0, 11.0], [2.0, 12.0]]), statistic=lambda drawn: float(drawn[0, 0]))
    assert (apart.low, apart.high) == (0, 2)


def test_two_runs_have_no_interval() -> None:
    found = bootstrap([1.0, 2.0])
    assert found.value == 1.5 and math.isnan(found.low) and math.isnan(found.high)


def test_resampling_is_on_the_line_between_points_and_nowhere_else() -> None:
    found = resample(np.array([10.0, 20, 30, 40]), np.array([1.0, 2, np.inf, 4]), np.array([5.0, 10, 15, 25, 40, 41]))
    assert found == pytest.approx([np.nan, 1, 1.5, np.nan, 4, np.nan], nan_ok=True)
    assert np.isnan(resample(np.empty(0), np.empty(0), np.arange(3.0))).all()


def test_the_grid_stays_where_it_is_while_runs_grow() -> None:
    short = common_grid([(np.array([1000.0, 900_000]), np.zeros(2))])
    longer = common_grid([(np.array([1000.0, 950_000]), np.zeros(2))])
    assert set(short[:-1]) <= set(longer)
    assert (longer[0], longer[1], longer[2], longer[-1]) == (1000, 5000, 10_000, 950_000)


def test_runs_that_are_nearly_level_are_compared_as_far_as_all_have_come() -> None:
    level = [(np.array([0.0, end]), np.zeros(2)) for end in (1_000_000.0, 991_000.0, 995_000.0)]
    assert common_grid(level)[-1] == 991_000 and seed_band(level).count.tolist()[-1] == 3
    behind = [*level[:2], (np.array([0.0, 612_345.0]), np.zeros(2))]
    band = seed_band(behind)
    assert band.steps[-1] == 991_000 and 612_345 in band.steps
    assert band.count[band.steps <= 612_345].min() == 3 and band.count[band.steps > 612_345].max() == 2


def test_a_band_needs_three_runs_at_each_step() -> None:
    steps = np.array([0.0, 10, 20])
    series = [(steps, np.array([1.0, 2, 3])), (steps, np.array([3.0, 4, 5])), (steps[:2], np.array([8.0, 9]))]
    band = seed_band(series, grid=np.array([0.0, 10, 20, 30]))
    assert band.steps.tolist() == [0, 10, 20] and band.count.tolist() == [3, 3, 2] and band.runs == 3
    # Of three, none is left out: the mean. Of all three the median is the middle one.
    assert band.iqm == pytest.approx([4, 5, 4])
    assert band.median == pytest.approx([3, 4, 4])
    assert (band.lowest.tolist(), band.highest.tolist()) == ([1, 2, 3], [8, 9, 5])
    assert np.isnan(band.low).tolist() == [False, False, True] == np.isnan(band.high).tolist()
    # 27 equally likely draws of three runs: three times the lowest has 1 of 27, above 2.5 %, so it is the lower end.
    assert (band.low[0], band.high[0]) == (pytest.approx(1), pytest.approx(8))


def test_the_same_runs_always_have_the_same_band() -> None:
    rng = np.random.default_rng(0)
    series = [(np.arange(50.0), rng.normal(size=50)) for _ in range(5)]
    one, other = seed_band(series), seed_band(series)
    assert np.array_equal(one.low, other.low) and np.array_equal(one.high, other.high)
    assert np.all(one.low <= one.iqm) and np.all(one.iqm <= one.high)


def test_a_group_without_points_has_an_empty_band() -> None:
    band = seed_band([(np.empty(0), np.empty(0))] * 3)
    assert len(band.steps) == len(band.iqm) == len(band.low) == 0
