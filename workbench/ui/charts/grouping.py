"""Groups of seeds made ready to draw: a line with what lies around it, or a line a seed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from workbench.runs.statistics import FEWEST_RUNS, SeedBand
from workbench.ui.charts.line import Line
from workbench.ui.charts.model import ChartView, Curve, Group, SeedView, XAxis
from workbench.ui.charts.trace import Traces, log10

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Prepared:
    """An entry of a chart ready to draw, on the axis' own scale."""

    curve: Curve
    """What it is of; of a group, what it says together."""
    front: Line
    raw: Line | None = None
    """What lies faintly behind, unsmoothed."""
    finite: int = 0
    """Points that can be drawn."""
    below: int = 0
    """Values that have no logarithm."""
    not_finite: Floats = field(default_factory=lambda: np.empty(0))
    low: Line | None = None
    """The lower edge of a group's band."""
    high: Line | None = None
    count: NDArray[np.int64] | None = None
    """How many runs of a group have data at each of its points."""
    members: tuple[Prepared, ...] = ()
    """The runs of a group."""

    @property
    def x(self) -> Floats:
        """The positions of its points."""
        return self.front.x


def prepare_group(group: Group, view: ChartView, traces: Traces, log: bool) -> tuple[Prepared, tuple[Prepared, ...]]:
    """Return the entry of a group, and the thin lines to draw behind it."""
    members = []
    for member in group.members:
        trace = traces.trace(member, f"{group.key}\n{member.key}")
        thin = replace(trace.curve, slot=group.slot, bold=False, letter="")
        members.append(Prepared(thin, trace.front, None, trace.finite, trace.below, trace.not_finite))
    band = group.band
    entry = _entry(group, band, tuple(members), view, log)
    hides_members = band is not None and view.seeds is not SeedView.LINES and not group.shows_members
    return entry, () if hides_members else tuple(members)


def _entry(group: Group, band: SeedBand | None, members: tuple[Prepared, ...], view: ChartView, log: bool) -> Prepared:
    budgets = [member.budget for member in group.members if member.budget is not None]
    curve = Curve(
        group.key,
        group.label,
        *(np.empty(0),) * 4,
        group.letter,
        group.slot,
        group.bold,
        max(budgets, default=None),
        max((member.reached for member in group.members), default=0.0),
    )
    below = sum(item.below for item in members)
    bad = np.concatenate([item.not_finite for item in members]) if members else np.empty(0)
    if band is None or not len(band.steps):
        finite = sum(item.finite for item in members)
        return Prepared(curve, Line(np.empty(0), np.empty(0)), None, finite, below, bad, members=members)
    middle, low, high = (
        (band.median, band.lowest, band.highest) if view.seeds is SeedView.RANGE else (band.iqm, band.low, band.high)
    )
    enough = band.count >= FEWEST_RUNS
    low, high = np.where(enough, low, np.nan), np.where(enough, high, np.nan)
    wall_s, episodes = (_mean_positions(group, band.steps, axis) for axis in (XAxis.WALL, XAxis.EPISODES))
    curve = replace(curve, steps=band.steps, wall_s=wall_s, episodes=episodes, values=middle)
    x = curve.x(view.x_axis)
    known = np.isfinite(x)
    if log:
        middle, low, high = (log10(values) for values in (middle, low, high))
    if not known.all():
        curve = replace(
            curve, steps=band.steps[known], wall_s=wall_s[known], episodes=episodes[known], values=curve.values[known]
        )
    # Means of members that begin and end at different times may step back a little.
    x = np.maximum.accumulate(x[known]) if known.any() else x[known]
    lines = [Line(x, values[known]) for values in (middle, low, high)]
    finite = int(np.count_nonzero(np.isfinite(lines[0].y)))
    has_band = view.seeds is not SeedView.LINES
    return Prepared(
        curve,
        lines[0],
        None,
        finite,
        below,
        bad,
        lines[1] if has_band else None,
        lines[2] if has_band else None,
        band.count[known],
        members,
    )


def _mean_positions(group: Group, steps: Floats, axis: XAxis) -> Floats:
    """Where steps lie on another axis: the mean of the members that have data there."""
    total, count = np.zeros(len(steps)), np.zeros(len(steps))
    for member in group.members:
        if not len(member.steps):
            continue
        found = np.interp(steps, member.steps, member.x(axis), left=np.nan, right=np.nan)
        known = np.isfinite(found)
        total[known] += found[known]
        count += known
    return np.asarray(np.divide(total, count, out=np.full(len(steps), np.nan), where=count > 0), dtype=np.float64)
