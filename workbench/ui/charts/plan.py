"""What a chart will draw: smoothed and scaled values, and the ranges of both axes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from workbench.ui.charts.axes import nice_ceiling, value_range
from workbench.ui.charts.model import ChartData, ChartView, Curve, XAxis
from workbench.ui.charts.smoothing import smooth

Floats = NDArray[np.float64]

FAR = 3.0
"""A reference further away than this many times the data's own span is named at the edge, not drawn."""

LARGEST = 1e150
"""Differences of larger numbers are not finite; they count as not finite themselves."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A curve ready to draw: its positions, the line in front and the raw values behind it, on the axis' own scale."""

    curve: Curve
    x: Floats
    front: Floats
    raw: Floats


@dataclass(frozen=True, eq=False)
class Plan:
    """Curves and ranges; without a y range there is nothing to draw."""

    curves: tuple[Prepared, ...]
    x_axis: XAxis
    x_range: tuple[float, float]
    y_range: tuple[float, float] | None
    log: bool
    not_finite: tuple[float, ...]
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
        if self.x_axis is XAxis.STEPS or not self.curves or not len(self.curves[-1].x):
            return steps
        leading = self.curves[-1].curve
        return float(np.interp(steps, leading.steps, leading.x(self.x_axis)))

    @property
    def leading(self) -> Prepared | None:
        """The curve the crosshair snaps to: the bold one, which is drawn last."""
        return self.curves[-1] if self.curves else None


def plan(data: ChartData, view: ChartView) -> Plan:
    """Prepare the curves of a chart for the way it is looked at."""
    curves = sorted(data.curves, key=lambda curve: curve.bold)
    log = data.metric in view.log
    notes = []
    if log and not any(np.any(curve.values > 0) for curve in curves):
        log = False
        if any(len(curve.values) for curve in curves):
            notes.append("log y needs a value above 0")
    prepared, not_finite, below = [], [], 0
    for item in curves:
        curve = _in_order(item, view.x_axis)
        x = curve.x(view.x_axis)
        bad = ~np.isfinite(curve.values)
        not_finite += x[bad].tolist()
        raw, front = curve.values, smooth(curve.values, view.weight)
        if log:
            below += int(np.count_nonzero(curve.values <= 0))
            raw, front = _log10(raw), _log10(front)
        prepared.append(Prepared(curve, x, front, raw))
    if below:
        notes.append(f"{below} ≤ 0")
    if not_finite:
        notes.append(f"{len(not_finite)} not finite")
    x_range = _x_range(prepared, data, view)
    y_range = _y_range(prepared, data, x_range, log)
    return Plan(tuple(prepared), view.x_axis, x_range, y_range, log, tuple(not_finite), tuple(notes))


def whole_range(prepared: list[Prepared], data: ChartData, axis: XAxis) -> tuple[float, float]:
    """Return the x range that shows everything: up to the newest point, rounded up while a run is live.

    A budget far away would squeeze the first minutes of a run into one column, so it bounds the axis but does not
    stretch it.
    """
    ends = [float(item.x[-1]) for item in prepared if len(item.x)]
    newest = max(ends, default=0.0)
    if axis is XAxis.STEPS:
        newest = max([newest, *(point.steps for point in data.points), *(item.curve.reached for item in prepared)])
    live = [item.curve.budget for item in prepared if item.curve.budget is not None]
    if live:
        rounded = nice_ceiling(newest)
        within = max(live) if axis is XAxis.STEPS and max(live) > 0 else rounded
        newest = max(newest, min(rounded, within))
    return (0.0, newest) if newest > 0 else (0.0, 1.0)


def _x_range(prepared: list[Prepared], data: ChartData, view: ChartView) -> tuple[float, float]:
    low, high = whole_range(prepared, data, view.x_axis)
    if view.window is None:
        return low, high
    start, end = view.window
    if view.following:
        newest = max((float(item.x[-1]) for item in prepared if len(item.x)), default=high)
        return newest - (end - start), newest
    return start, end


def _y_range(
    prepared: list[Prepared], data: ChartData, x_range: tuple[float, float], log: bool
) -> tuple[float, float] | None:
    fronts, raws = [], []
    for item in prepared:
        inside = (item.x >= x_range[0]) & (item.x <= x_range[1])
        # A window between two points still shows the line that joins them.
        inside |= np.append(inside[1:], False) | np.append(False, inside[:-1]) if len(inside) else inside
        fronts.append(item.front[inside])
        raws.append(item.raw[inside])
    marks = [point.value for point in data.points]
    if log:
        marks = [math.log10(value) for value in marks if value > 0]
    if marks:
        fronts.append(np.asarray(marks, dtype=np.float64))
    if not fronts:
        return None
    span = value_range(np.concatenate(fronts), np.concatenate(raws) if raws else np.empty(0))
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


def _in_order(curve: Curve, axis: XAxis) -> Curve:
    """Return the curve without points that have no place, in order, and without numbers too large to compare."""
    x, values = curve.x(axis), curve.values
    keep = np.isfinite(x) & np.isfinite(curve.steps)
    odd = np.isfinite(values) & (np.abs(values) > LARGEST)
    if keep.all() and not odd.any() and not np.any(np.diff(x) < 0):
        return curve
    order = np.flatnonzero(keep)[np.argsort(x[keep], kind="stable")]
    return replace(
        curve,
        steps=curve.steps[order],
        wall_s=curve.wall_s[order],
        episodes=curve.episodes[order],
        values=np.where(odd, np.nan, values)[order],
    )


def _log10(values: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values > 0, np.log10(values), np.nan)
