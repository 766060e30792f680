"""What the border of a chart says: where the crosshair is, and the values there."""

from __future__ import annotations

import math

import numpy as np

from workbench import formatting
from workbench.runs.statistics import FEWEST_RUNS
from workbench.ui.charts.cells import style_of
from workbench.ui.charts.drawing import checkpoint_at
from workbench.ui.charts.grouping import Prepared
from workbench.ui.charts.line import nearest
from workbench.ui.charts.model import ChartData, ChartView, SeedView, XAxis
from workbench.ui.charts.plan import Plan

Words = list[tuple[str, str]]
"""Pieces of a line, each with the name of its style."""

WIDE = 56
"""Cells from which on a border says how the chart is drawn."""
_ROOMY = 110
"""Cells from which on it also says what each seed of a group has at the crosshair."""


def readout(data: ChartData, view: ChartView, plan: Plan, width: int = _ROOMY) -> Words:
    """Return the moment of the crosshair, else of the newest point, with each curve's value, raw in brackets."""
    leading = plan.leading
    if leading is None or not len(leading.x):
        return []
    steps = float(leading.curve.steps[-1]) if view.at is None else view.at
    place = nearest(leading.curve.steps, steps)
    moment = f"{formatting.amount(steps)} · {formatting.duration(float(leading.curve.x(XAxis.WALL)[place]))}"
    words: Words = [(moment if view.at is None else f"at {moment}", "tick")]
    for item in reversed(plan.curves):
        words += _entry(item, view, plan, steps, width)
    if view.at is not None:
        before = [point for point in data.points if point.steps <= steps]
        if before:
            newest = max(before, key=lambda point: point.steps)
            words.append((f"   • {formatting.spread(newest.value, newest.spread)}", "point"))
    checkpoint = checkpoint_at(data, view.at if view.at is not None else steps)
    if checkpoint is not None:
        words.append((f"   {'◇' if view.at is None else '▲'} {formatting.amount(checkpoint)}", "ladder"))
    return words + _shares(data, plan, leading, steps, width)


def settings(data: ChartData, view: ChartView, plan: Plan, width: int) -> str:
    """Return how the chart is drawn, as much of it as there is room for; what could not be drawn comes first."""
    return " · ".join(text for _, text in settings_parts(data, view, plan, width))


def settings_parts(data: ChartData, view: ChartView, plan: Plan, width: int) -> list[tuple[str, str]]:
    """Return the same in parts, each with the command that changes it; empty where there is none."""
    parts = [("", note) for note in plan.notes]
    if plan.log:
        parts.append(("chart.log_y", "log y"))
    if width >= WIDE:
        parts.append(("chart.smoothing", f"smooth {view.weight:g}" if view.weight else "not smoothed"))
        parts.append(("chart.x_axis", view.x_axis.value))
    elif view.x_axis is not XAxis.STEPS:
        parts.append(("chart.x_axis", view.x_axis.value))
    if data.groups and width >= WIDE:
        most = max(len(group.members) for group in data.groups)
        drawn = (
            view.seeds.value if view.seeds is not SeedView.BAND else "band 95 %" if most >= FEWEST_RUNS else "no band"
        )
        parts.append(("chart.seeds", f"{drawn} of {most} seeds"))
    return parts


def _entry(item: Prepared, view: ChartView, plan: Plan, steps: float, width: int) -> Words:
    place = int(np.searchsorted(item.curve.steps, steps, side="right")) - 1
    value = plan.unscale(float(item.front.y[place])) if place >= 0 else math.nan
    if not math.isfinite(value):
        return []
    words: Words = []
    if item.curve.letter:
        words.append((f"   {item.curve.letter}", style_of("letter", item)))
        words.append((f" {formatting.number(value)}", "text"))
    else:
        words.append((f"   {formatting.number(value)}", "text"))
    raw = float(item.curve.values[place])
    if item.count is not None:
        words.append((_group(item, view, plan, place, steps, width), "tick"))
    elif view.weight > 0 and view.at is not None and math.isfinite(raw):
        words.append((f" ({formatting.number(raw)})", "tick"))
    return words


def _group(item: Prepared, view: ChartView, plan: Plan, place: int, steps: float, width: int) -> str:
    """What stands behind a group's value: how many have one, the ends of its band, or each seed's own."""
    assert item.count is not None
    if item.count[place] < FEWEST_RUNS:
        return f" ({item.count[place]} of {len(item.members)})"
    if view.at is not None and width >= _ROOMY and len(item.members) * 14 < width - 60:
        values = [f"{member.curve.label.split()[-1]} {_at(member, plan, steps)}" for member in item.members]
        return f"  ({'   '.join(values)})"
    if item.low is None or item.high is None:
        return ""
    ends = [formatting.number(plan.unscale(float(line.y[place]))) for line in (item.low, item.high)]
    return f" ({'…'.join(ends)})"


def _at(item: Prepared, plan: Plan, steps: float) -> str:
    place = int(np.searchsorted(item.curve.steps, steps, side="right")) - 1
    return formatting.number(plan.unscale(float(item.front.y[place])) if place >= 0 else None)


def _shares(data: ChartData, plan: Plan, leading: Prepared, steps: float, width: int) -> Words:
    """How far the curve in front is, seen from what was measured before: only where both are above nothing."""
    place = int(np.searchsorted(leading.curve.steps, steps, side="right")) - 1
    value = plan.unscale(float(leading.front.y[place])) if place >= 0 else math.nan
    words: Words = []
    for reference in data.references:
        if not reference.compared or reference.value <= 0 or not value >= 0:
            continue
        when = "" if reference.steps is None else f" at {formatting.amount(reference.steps)}"
        words.append((f"   {formatting.percent(value / reference.value)} of the {reference.name}{when}", "reference"))
        known = [formatting.spread(reference.value, reference.spread) if reference.spread is not None else ""]
        known += [formatting.plural(reference.seeds, "seed") if reference.seeds else "", reference.source]
        told = ", ".join(part for part in known if part)
        words += [(f" ({told})", "tick")] if told and width >= _ROOMY else []
    return words
