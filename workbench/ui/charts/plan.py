"""What a chart will draw: smoothed and scaled values, and the ranges of both axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from workbench.axes import nice_ceiling, value_range
from workbench.ui.charts.grouping import Prepared, prepare_group
from workbench.ui.charts.line import nearest
from workbench.ui.charts.model import ChartData, ChartView, Curve, XAxis
from workbench.ui.charts.trace import Traces

Floats = NDArray[np.float64]

FAR = 3.0
"""A reference further away than this many times the data's own span is named at the edge, not drawn."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Curves and ranges; without a y range there is nothing to draw."""

    curves: tuple[Prepared, ...]
    """Those with a letter and a readout: runs and groups, in the order they are drawn."""
    thin: tuple[Prepared, ...]
    """Lines behind them: the seeds of a group, the part of a parent up to a fork."""
    x_axis: XAxis
    x_range: tuple[float, float]
    y_range: tuple[float, float] | None
    log: bool
    not_finite: Floats
    """The positions of the values that are no numbers."""
    notes: tuple[str, ...]
    """What the subtitle says about values that could not be drawn."""

    def scale(self, value: float) -> float:
        """Return a value on the y axis' own scale; what has no place there is NaN."""
        if not self.log:
            return value
        return math.log10(value) if value > 0 else math.nan

    def unscale(self, value: float) -> float:
        """Return the value that stands at a place of the y axis."""
        return 10.0**value if self.log else value

    def x_of(self, steps: float) -> float:
        """Return where a step lies on the x axis, by the points of the curve in front."""
        return _place(steps, self.leading, self.x_axis)

    def steps_at(self, x: float) -> float | None:
        """Return the step of the point of the curve in front that is nearest to a position; nothing without one."""
        leading = self.leading
        if leading is None or not len(leading.x):
            return None
        return float(leading.curve.steps[nearest(leading.x, x)])

    @property
    def leading(self) -> Prepared | None:
        """The curve the crosshair snaps to: the bold one, which is drawn last."""
        return self.curves[-1] if self.curves else None


def plan(data: ChartData, view: ChartView, traces: Traces | None = None) -> Plan:
    """Prepare the curves of a chart for the way it is looked at.

    Args:
        data: What it shows.
        view: How it is looked at.
        traces: What is kept between drawings of one chart, so that only new points are prepared.
    """
    traces = Traces() if traces is None else traces
    log = data.metric in view.log
    found = _prepared(data, view, traces, log)
    notes = []
    if log and not any(item.finite for item in found[0]):
        if any(len(item.curve.values) for item in found[0]):
            notes.append(REFUSED)
        log, found = False, _prepared(data, view, traces, False)
    curves, thin = found
    below = sum(item.below for item in curves)
    not_finite = np.concatenate([item.not_finite for item in curves]) if curves else np.empty(0)
    if below:
        notes.append(f"{below} ≤ 0")
    if len(not_finite):
        notes.append(f"{len(not_finite)} not finite")
    x_range = _x_range([*thin, *curves], data, view)
    # A mark outside a window does not widen the y axis.
    marks = [point.value for point in data.points if _is_seen(point.steps, curves, view, x_range)]
    y_range = _y_range([*thin, *curves], data, x_range, log, marks)
    return Plan(tuple(curves), tuple(thin), view.x_axis, x_range, y_range, log, not_finite, tuple(notes))


REFUSED = "log y needs a value above 0"
"""Why an axis stays straight."""


def _prepared(data: ChartData, view: ChartView, traces: Traces, log: bool) -> tuple[list[Prepared], list[Prepared]]:
    traces.begin(view, log)
    curves, thin = [], []
    for curve in data.curves:
        trace = traces.trace(curve)
        curves.append(Prepared(trace.curve, trace.front, trace.raw, trace.finite, trace.below, trace.not_finite))
        before = _before(curve, view.x_axis)
        if before is not None:
            trace = traces.trace(before, f"{curve.key}\n{before.key}")
            thin.append(Prepared(trace.curve, trace.front, trace.raw, trace.finite))
    for group in data.groups:
        entry, members = prepare_group(group, view, traces, log)
        curves.append(entry)
        thin += members
    traces.end()
    # Grey ones lie behind the others, and the one in front before them all.
    return sorted(curves, key=lambda item: (item.curve.bold, item.curve.slot is not None)), thin


def _before(curve: Curve, axis: XAxis) -> Curve | None:
    """What a run's parent did up to the joint; other axes than steps begin anew with every run."""
    parent = curve.parent
    if parent is None or axis is not XAxis.STEPS or not len(curve.steps):
        return None
    until = int(np.searchsorted(parent.steps, curve.steps[0], side="right"))
    up_to = slice(0, until)
    return replace(
        parent,
        letter="",
        slot=curve.slot,
        bold=False,
        steps=parent.steps[up_to],
        wall_s=parent.wall_s[up_to],
        episodes=parent.episodes[up_to],
        values=parent.values[up_to],
    )


def _place(steps: float, leading: Prepared | None, axis: XAxis) -> float:
    """Where a step lies on an axis, by the points of a curve."""
    if axis is XAxis.STEPS or leading is None or not len(leading.x):
        return steps
    return float(np.interp(steps, leading.curve.steps, leading.x))


def _is_seen(steps: float, curves: Sequence[Prepared], view: ChartView, x_range: tuple[float, float]) -> bool:
    return x_range[0] <= _place(steps, curves[-1] if curves else None, view.x_axis) <= x_range[1]


def whole_range(prepared: Sequence[Prepared], data: ChartData, axis: XAxis) -> tuple[float, float]:
    """Return the x range that shows everything: up to the newest point, rounded up while a run is live.

    A budget far away would squeeze the first minutes of a run into one column, so it bounds the axis but does not
    stretch it.
    """
    newest = max((float(item.x[-1]) for item in prepared if len(item.x)), default=0.0)
    if axis is XAxis.STEPS:
        newest = max([newest, *(point.steps for point in data.points), *(item.curve.reached for item in prepared)])
    live = [item.curve.budget for item in prepared if item.curve.budget is not None]
    if live:
        rounded = nice_ceiling(newest)
        within = max(live) if axis is XAxis.STEPS and max(live) > 0 else rounded
        newest = max(newest, min(rounded, within))
    return (0.0, newest) if newest > 0 else (0.0, 1.0)


def _x_range(prepared: Sequence[Prepared], data: ChartData, view: ChartView) -> tuple[float, float]:
    low, high = whole_range(prepared, data, view.x_axis)
    if view.window is None:
        return low, high
    start, end = view.window
    if view.following:
        newest = max((float(item.x[-1]) for item in prepared if len(item.x)), default=high)
        return newest - (end - start), newest
    return start, end


def _y_range(
    prepared: Sequence[Prepared], data: ChartData, x_range: tuple[float, float], log: bool, marks: list[float]
) -> tuple[float, float] | None:
    fronts: list[float] = []
    raws = []
    for item in prepared:
        for line in (item.front, item.low, item.high):
            extent = None if line is None else line.extent(*x_range)
            fronts += extent or ()
        if item.raw is not None:
            raws.append(item.raw.sample(*x_range))
    fronts += [math.log10(value) for value in marks if value > 0] if log else marks
    span = value_range(np.asarray(fronts, dtype=np.float64), np.concatenate(raws) if raws else np.empty(0))
    if span is None:
        return None
    low, high = span
    for reference in data.references:
        value = reference.value
        if log:
            if value <= 0:
                continue
            value = math.log10(value)
        if low - FAR * (high - low) <= value <= high + FAR * (high - low):
            low, high = min(low, value), max(high, value)
    return low, high
