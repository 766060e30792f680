"""Zooming, panning and moving the crosshair: from one way of looking at charts to the next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.ui.charts.drawing import checkpoint_at
from workbench.ui.charts.line import nearest
from workbench.ui.charts.model import ChartData, ChartView, SeedView, XAxis
from workbench.ui.charts.plan import REFUSED, Plan
from workbench.ui.charts.weights import WEIGHTS

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


def next_seeds(view: ChartView) -> ChartView:
    """Return the view with groups of seeds drawn in the next way."""
    ways = tuple(SeedView)
    return replace(view, seeds=ways[(ways.index(view.seeds) + 1) % len(ways)])


def toggled_log(view: ChartView, metric: str) -> ChartView:
    """Return the view with the y axis of a metric logarithmic, or straight again."""
    return replace(view, log=view.log ^ {metric})


def log_refusal(data: ChartData) -> str | None:
    """Return why the y axis of a chart cannot be logarithmic; nothing where it can."""
    members = (member for group in data.groups for member in group.members)
    values = [curve.values for curve in (*data.curves, *members) if len(curve.values)]
    return REFUSED if values and not any(np.any(item > 0) for item in values) else None


def zoomed(view: ChartView, plan: Plan, factor: float, about: float | None = None) -> ChartView:
    """Return the view with its stretch of x made shorter (above 1) or longer; it holds still from then on.

    Args:
        view: The view before.
        plan: What is drawn.
        factor: How much larger everything becomes.
        about: The place that stays where it is; the crosshair's, and without one the newest end, unless given.
    """
    low, high = plan.x_range
    whole = _whole(plan)
    width = (high - low) / factor
    if width >= whole:
        return replace(view, window=None, following=True)
    width = max(width, min(_narrowest(plan), high - low))
    if about is None:
        about = high if view.at is None else plan.x_of(view.at)
    share = (about - low) / (high - low) if high > low else 0.5
    start = about - width * min(max(share, 0.0), 1.0)
    start = min(max(start, 0.0), max(0.0, max(whole, high) - width))
    return replace(view, window=(start, start + width), following=False)


def panned(view: ChartView, plan: Plan, direction: int) -> ChartView:
    """Return the view half a width further; nothing moves while everything is shown."""
    low, high = plan.x_range
    return moved(view, plan, direction * (high - low) / 2)


def moved(view: ChartView, plan: Plan, by: float) -> ChartView:
    """Return the view further along x, within the data; nothing moves while everything is shown."""
    if view.window is None:
        return view
    low, high = plan.x_range
    width = high - low
    start = min(max(low + by, 0.0), max(0.0, _whole(plan) - width))
    return replace(view, window=(start, start + width), following=False)


def stepped(view: ChartView, plan: Plan, direction: int) -> ChartView:
    """Return the view with the crosshair on the next or previous point of the curve in front."""
    leading = plan.leading
    if leading is None or not len(leading.x):
        return view
    steps = leading.curve.steps
    first, last = leading.front.places(*plan.x_range)
    if first >= last:
        return view
    if view.at is None:
        return replace(view, cursor=float(steps[last - 1]))
    place = nearest(steps, view.at) + direction
    return replace(view, cursor=float(steps[min(max(place, 0), len(steps) - 1)]))


def at_position(view: ChartView, plan: Plan, x: float) -> ChartView:
    """Return the view with the crosshair on the point of the curve in front that is nearest to a position."""
    steps = plan.steps_at(x)
    return view if steps is None else replace(view, cursor=steps)


def hovered(view: ChartView, plan: Plan, x: float | None) -> ChartView:
    """Return the view with the pointer over a position, or over none: one that was set stays where it is."""
    return replace(view, hovered=None if x is None else plan.steps_at(x))


def at_checkpoint(view: ChartView, data: ChartData, direction: int) -> ChartView:
    """Return the view with the crosshair on the next or previous checkpoint; without one yet, on the newest."""
    ladder = sorted(rung.steps for rung in data.checkpoints)
    if not ladder:
        return view
    here = checkpoint_at(data, view.at)
    if view.at is None or here is None:
        return replace(view, cursor=float(ladder[-1] if view.at is None else ladder[0]))
    place = ladder.index(here)
    if direction < 0 and here < view.at:
        place += 1  # between two checkpoints the one before is the first met on the way back
    return replace(view, cursor=float(ladder[min(max(place + direction, 0), len(ladder) - 1)]))


def _whole(plan: Plan) -> float:
    return max((float(item.x[-1]) for item in plan.curves if len(item.x)), default=plan.x_range[1])


def _narrowest(plan: Plan) -> float:
    leading = plan.leading
    if leading is None or len(leading.x) <= FEWEST_POINTS:
        return plan.x_range[1] - plan.x_range[0]
    end = min(max(leading.front.places(*plan.x_range)[1], FEWEST_POINTS + 1), len(leading.x))
    return float(leading.x[end - 1] - leading.x[end - 1 - FEWEST_POINTS])
