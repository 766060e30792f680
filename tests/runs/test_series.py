import math

import numpy as np

from workbench.runs.series import Series


def fill(series: Series, values: list[float | None]) -> None:
    for index, value in enumerate(values):
        series.append(value, steps=10 * index, wall_s=float(index), episodes=None)


def test_points_come_back_as_they_went_in_however_many() -> None:
    series = Series()
    fill(series, [float(value) for value in range(1000)])
    assert len(series) == 1000
    np.testing.assert_array_equal(series.steps, np.arange(0, 10_000, 10))
    np.testing.assert_array_equal(series.values, np.arange(1000))
    assert np.isnan(series.episodes).all()


def test_bounds_pass_over_what_is_not_finite() -> None:
    series = Series()
    fill(series, [None, 2.0, math.inf, -1.0, math.nan])
    assert (series.low, series.high, series.last, series.not_finite) == (-1.0, 2.0, -1.0, 3)
    assert np.isnan(series.values).tolist() == [True, False, True, False, True]


def test_dropping_what_a_resumed_run_writes_again() -> None:
    series = Series()
    fill(series, [1.0, 5.0, None, 9.0])
    before = series.values
    series.drop_after(10)
    assert (series.low, series.high, series.last, series.not_finite) == (1.0, 5.0, 5.0, 0)
    series.append(7.0, steps=20, wall_s=None, episodes=None)
    assert series.values.tolist() == [1.0, 5.0, 7.0]
    assert before[3] == 9.0  # a view handed out earlier is left alone


def test_dropping_everything_leaves_no_bounds() -> None:
    series = Series()
    fill(series, [1.0])
    series.drop_after(-1)
    assert len(series) == 0
    assert series.last is None
    assert series.low > series.high


def test_many_points_at_once_are_as_many_single_ones() -> None:
    values = [1.0, math.nan, -2.0, math.inf, *range(200)]
    together, single = Series(), Series()
    for series in (together, single):
        series.append(7.0, steps=0, wall_s=None, episodes=None)
    steps = np.arange(1.0, 1.0 + len(values))
    together.extend(np.array(values), steps=steps, wall_s=steps / 2, episodes=np.full(len(values), np.nan))
    for value, at in zip(values, steps, strict=True):
        single.append(value, steps=at, wall_s=at / 2, episodes=None)
    for name in ("steps", "wall_s", "episodes", "values"):
        np.testing.assert_array_equal(getattr(together, name), getattr(single, name))
    for name in ("low", "high", "last", "not_finite"):
        assert getattr(together, name) == getattr(single, name)
