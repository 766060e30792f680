"""Zooming, panning and moving the crosshair: from one way of looking at charts to the next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.ui.charts.drawing import checkpoint_at
from workbench.ui.charts.model import ChartData, ChartView, XAxis
from workbench.ui.charts.plan import Plan
from workbench.ui.charts.smoothing import WEIGHTS

FEWEST_POINTS = 20
"""Zooming in ends where a window holds so few."""


def next_weight(view: ChartView) -> ChartView:
    """Return the view with the next strength of smoothing."""
    place = WEIGHTS.index(view.weight) if view.weight in WEIGHTS else 0
    return replace(view, weight=WEIGHTS[(place + 1) % len(WEIGHTS)])


def next_axis(view: ChartView) -> ChartView:
    """Return the view along the next axis; the window goes, the crosshair stays at its moment."""
    axes = tuple(XAxis)
    return replace(view, x_axis=axes[(axes.index(view.x_axis) + 1) % len(axes)], window=None, following=True)


def toggled_log(view: ChartView, metric: str) -> ChartView:
    """Return the view with the y axis of a metric logarithmic, or straight again."""
    return replace(view, log=view.log ^ {metric})


def zoomed(view: ChartView, plan: Plan, factor: float) -> ChartView:
    """Return the view with its stretch of x made shorter (above 1) or longer, about the crosshair.

    Without a crosshair and while following, the newest end stays where it is.
    """
    low, high = plan.x_range
    whole = _whole(plan)
    width = (high - low) / factor
    if width >= whole:
        return replace(view, window=None, following=True)
    width = max(width, min(_narrowest(plan), high - low))
    if view.cursor is None:
        return replace(view, window=(high - width, high), following=view.following)
    centre = plan.x_of(view.cursor)
    share = (centre - low) / (high - low) if high > low else 0.5
    start = centre - width * min(max(share, 0.0), 1.0)
    return replace(view, window=(start, start + width), following=False)


def panned(view: ChartView, plan: Plan, direction: int) -> ChartView:
    """Return the view half a width further; nothing moves while everything is shown."""
    if view.window is None:
        return view
    low, high = plan.x_range
    width = high - low
    start = min(max(low + direction * width / 2, 0.0), max(0.0, _whole(plan) - width))
    return replace(view, window=(start, start + width), following=False)


def stepped(view: ChartView, plan: Plan, direction: int) -> ChartView:
    """Return the view with the crosshair on the next or previous point of the curve in front."""
    leading = plan.leading
    if leading is None or not len(leading.x):
        return view
    steps = leading.curve.steps
    shown = np.flatnonzero((leading.x >= plan.x_range[0]) & (leading.x <= plan.x_range[1]))
    if not len(shown):
        return view
    if view.cursor is None:
        return replace(view, cursor=float(steps[shown[-1]]))
    place = int(np.argmin(np.abs(steps - view.cursor))) + direction
    return replace(view, cursor=float(steps[min(max(place, 0), len(steps) - 1)]))


def at_position(view: ChartView, plan: Plan, x: float) -> ChartView:
    """Return the view with the crosshair on the point of the curve in front that is nearest to a position."""
    leading = plan.leading
    if leading is None or not len(leading.x):
        return view
    return replace(view, cursor=float(leading.curve.steps[int(np.argmin(np.abs(leading.x - x)))]))


def at_checkpoint(view: ChartView, data: ChartData, direction: int) -> ChartView:
    """Return the view with the crosshair on the next or previous checkpoint; without one yet, on the newest."""
    ladder = sorted(rung.steps for rung in data.checkpoints)
    if not ladder:
        return view
    here = checkpoint_at(data, view.cursor)
    if view.cursor is None or here is None:
        return replace(view, cursor=float(ladder[-1] if view.cursor is None else ladder[0]))
    place = ladder.index(here)
    if direction < 0 and here < view.cursor:
        place += 1  # between two checkpoints the one before is the first met on the way back
    return replace(view, cursor=float(ladder[min(max(place + direction, 0), len(ladder) - 1)]))


def _whole(plan: Plan) -> float:
    return max((float(item.x[-1]) for item in plan.curves if len(item.x)), default=plan.x_range[1])


def _narrowest(plan: Plan) -> float:
    leading = plan.leading
    if leading is None or len(leading.x) <= FEWEST_POINTS:
        return plan.x_range[1] - plan.x_range[0]
    return float(leading.x[-1] - leading.x[-1 - FEWEST_POINTS])
