"""What the border of a chart says: where the crosshair is, and the values there."""

from __future__ import annotations

import math

import numpy as np

from workbench import formatting
from workbench.ui.charts.drawing import checkpoint_at, style_of
from workbench.ui.charts.model import ChartData, ChartView, XAxis
from workbench.ui.charts.plan import Plan, Prepared

Words = list[tuple[str, str]]
"""Pieces of a line, each with the name of its style."""


def readout(data: ChartData, view: ChartView, plan: Plan) -> Words:
    """Return the moment of the crosshair, else of the newest point, with each curve's value, raw in brackets."""
    leading = plan.leading
    if leading is None or not len(leading.x):
        return []
    steps = float(leading.curve.steps[-1]) if view.cursor is None else view.cursor
    place = int(np.argmin(np.abs(leading.curve.steps - steps)))
    moment = f"{formatting.amount(steps)} · {formatting.duration(float(leading.curve.wall_s[place]))}"
    words: Words = [(moment if view.cursor is None else f"at {moment}", "tick")]
    for item in reversed(plan.curves):
        value, raw = _values(item, plan, steps)
        if not math.isfinite(value):
            continue
        if item.curve.letter:
            words.append((f"   {item.curve.letter}", style_of("letter", item)))
            words.append((f" {formatting.number(value)}", "text"))
        else:
            words.append((f"   {formatting.number(value)}", "text"))
        if view.weight > 0 and view.cursor is not None and math.isfinite(raw):
            words.append((f" ({formatting.number(raw)})", "tick"))
    if view.cursor is not None:
        before = [point for point in data.points if point.steps <= steps]
        if before:
            newest = max(before, key=lambda point: point.steps)
            words.append((f"   • {formatting.spread(newest.value, newest.spread)}", "point"))
    checkpoint = checkpoint_at(data, steps if view.cursor is None else view.cursor)
    if checkpoint is not None:
        words.append((f"   {'◇' if view.cursor is None else '▲'} {formatting.amount(checkpoint)}", "ladder"))
    return words


def settings(data: ChartData, view: ChartView, plan: Plan, width: int) -> str:
    """Return how the chart is drawn, as much of it as there is room for; what could not be drawn comes first."""
    parts = list(plan.notes)
    if plan.log:
        parts.append("log y")
    if width >= 56:
        parts += [f"smooth {view.weight:g}" if view.weight else "not smoothed", view.x_axis.value]
    elif view.x_axis is not XAxis.STEPS:
        parts.append(view.x_axis.value)
    return " · ".join(parts)


def _values(item: Prepared, plan: Plan, steps: float) -> tuple[float, float]:
    """The drawn and the raw value of a curve at the newest of its points up to a step."""
    own = item.curve.steps
    place = int(np.searchsorted(own, steps, side="right")) - 1
    if place < 0:
        return math.nan, math.nan
    return plan.unscale(float(item.front[place])), float(item.curve.values[place])
