"""Curves that grow: what is kept of them is what would be made anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from workbench.runs.series import Series
from workbench.ui.charts import trace as module
from workbench.ui.charts.model import ChartView, Curve, XAxis
from workbench.ui.charts.trace import Trace, Traces


def of(series: Series, **more: object) -> Curve:
    curve = Curve("a", "a", series.steps, series.wall_s, series.episodes, series.values)
    return replace(curve, **more)  # type: ignore[arg-type]


def grown(series: Series, values: list[float | None]) -> Series:
    for value in values:
        steps = len(series) + 1
        series.append(value, steps=steps * 10.0, wall_s=steps * 2.0, episodes=steps)
    return series


VALUES: list[float | None] = [*np.random.default_rng(0).normal(size=300).tolist(), None, 5.0, -1.0, *range(1, 200)]


@pytest.mark.parametrize("axis", XAxis)
@pytest.mark.parametrize("weight", [0.0, 0.9])
@pytest.mark.parametrize("log", [False, True])
def test_a_curve_taken_in_bit_by_bit_is_as_one_taken_in_at_once(axis: XAxis, weight: float, log: bool) -> None:
    series, bits, whole = Series(), Trace(axis, weight, log), Trace(axis, weight, log)
    for start in range(0, len(VALUES), 13):
        grown(series, VALUES[start : start + 13])
        bits.take(of(series))
    whole.take(of(series))
    for one, other in ((bits.front, whole.front), (bits.raw, whole.raw)):
        assert np.array_equal(one.x, other.x)
        assert one.y == pytest.approx(other.y, rel=1e-12, nan_ok=True)
    assert (bits.below, bits.finite, bits.not_finite.tolist()) == (whole.below, whole.finite, whole.not_finite.tolist())


def test_only_what_is_new_is_smoothed(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    class Counted(module.Mean):
        def extend(self, values: np.ndarray) -> np.ndarray:
            taken.append(len(values))
            return super().extend(values)

    monkeypatch.setattr(module, "Mean", Counted)
    series, trace = grown(Series(), VALUES), Trace(XAxis.STEPS, 0.9, False)
    trace.take(of(series))
    for _ in range(3):  # beyond the capacity the series has, too: then it moves to a new buffer
        trace.take(of(grown(series, [1.0] * 200)))
    trace.take(of(series))
    assert taken == [len(VALUES), 200, 200, 200, 0]


def test_a_run_that_went_back_is_taken_in_anew() -> None:
    series, trace = grown(Series(), VALUES), Trace(XAxis.STEPS, 0.0, False)
    trace.take(of(series))
    series.drop_after(1000)
    grown(series, [7.0] * 500)
    trace.take(of(series))
    assert len(trace.raw) == 600 and trace.raw.y[100:].tolist() == [7.0] * 500


def test_a_number_too_large_to_compare_is_not_finite() -> None:
    trace = Trace(XAxis.STEPS, 0.0, False)
    steps = np.arange(3.0)
    trace.take(Curve("a", "a", steps, steps, steps, np.array([1, 1e300, 2])))
    assert np.isnan(trace.raw.y[1]) and trace.not_finite.tolist() == [1] and trace.finite == 2


def test_another_way_of_looking_makes_everything_anew_and_what_is_gone_is_forgotten() -> None:
    traces, curve = Traces(), of(grown(Series(), VALUES))
    traces.begin(ChartView(), False)
    first = traces.trace(curve)
    traces.end()
    traces.begin(ChartView(cursor=5), False)
    assert traces.trace(curve) is first
    traces.end()
    traces.begin(ChartView(weight=0.6), False)
    assert traces.trace(curve) is not first
    traces.begin(ChartView(weight=0.6), False)
    traces.end()
    assert traces._traces == {}
