"""What of a run's past stands in its charts beside the curves: letters, checkpoints, evaluations, shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from workbench.ui.charts.model import Flag, Ladder, Point
from workbench.ui.past import Past, Points
from workbench.ui.watch import RunRow

_SIGNS = {"anomaly": "!", "resumed": "R", "set": "C", "forked": "F"}


def ladder_of(past: Past, row: RunRow) -> tuple[Ladder, ...]:
    """Return the checkpoints a run told of and that are kept."""
    best = None if row.best is None else row.best.steps
    told = {int(mark["steps"]) for mark in past.marks if mark.get("kind") == "checkpoint"}
    steps = sorted(told if past.kept is None else told & past.kept)
    return tuple(Ladder(count, "◆" if count == best else "◇") for count in steps)


def evaluations_of(past: Past) -> tuple[Point, ...]:
    """Return the scores of a run's checkpoints, each with the deviation over its episodes."""
    return tuple(
        Point(float(item.steps), item.mean_return, item.std_return or 0.0)
        for item in past.evaluations
        if item.mean_return is not None
    )


def flags_of(past: Past) -> tuple[Flag, ...]:
    """Return the letters at the top edge: what happened to a run."""
    found = []
    paused = False
    for mark in past.marks:
        sign = _SIGNS.get(str(mark.get("kind")), "")
        if mark.get("kind") == "state":
            sign = "P" if mark.get("state") == "paused" else "R" if paused and mark.get("state") == "running" else ""
            paused = mark.get("state") == "paused"
        if sign:
            found.append(Flag(float(mark.get("steps") or 0), sign))
    return tuple(found)


def shares(counts: Mapping[str, Points]) -> dict[str, Points]:
    """Return each count as percent of the episodes that ended together with it; a gap where none did."""
    if not counts:
        return {}
    steps, where = np.unique(np.concatenate([points.steps for points in counts.values()]), return_inverse=True)
    values = np.nan_to_num(np.concatenate([points.values for points in counts.values()]))
    totals = np.bincount(where.reshape(-1), weights=values, minlength=len(steps))
    totals[totals == 0] = np.nan
    return {
        name: replace(points, values=100 * points.values / totals[np.searchsorted(steps, points.steps)])
        for name, points in counts.items()
    }
