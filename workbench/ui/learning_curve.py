"""The strip under a montage as a chart: the returns of its runs by step, and where its clips lie on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from workbench.runs.directory import RunDirectory
from workbench.runs.history import History
from workbench.ui.charts.model import ChartData, Ladder, Point
from workbench.ui.charts.overlay import LETTERS, Identity
from workbench.ui.past import Past, take
from workbench.ui.run_charts import RETURN, curve_of, evaluation_points
from workbench.ui.theme import SERIES_COUNT

_FEWEST = 2
"""Points of a curve; with fewer evaluations the training returns are drawn."""


def read_curves(runs: Iterable[RunDirectory]) -> dict[str, Past]:
    """Return what some runs did, by name; reads whole streams, so call it on a thread."""
    found = {}
    for run in runs:
        history = History(run)
        history.refresh()
        found[run.name] = take(history, run.record())
    return found


def curve_chart(pasts: Mapping[str, Past], clips: Sequence[tuple[str, int]]) -> ChartData:
    """Return the chart: evaluations where there are two, else the training returns, and a dot a clip.

    Args:
        pasts: What the runs did, by name.
        clips: The run and the steps of each clip.
    """
    curves, dots = [], []
    for place, (name, past) in enumerate(pasts.items()):
        points = evaluation_points(past)
        if points is None or len(points.values) < _FEWEST:
            points = past.series.get(RETURN)
        letter = LETTERS[place % len(LETTERS)] if len(pasts) > 1 else ""
        curves.append(curve_of(name, name, points, Identity(place if place < SERIES_COUNT else None, letter)))
        if points is not None and len(points.steps):
            dots += [
                Point(float(steps), float(np.interp(steps, points.steps, points.values)))
                for run, steps in clips
                if run == name
            ]
    ladder = tuple(Ladder(steps) for steps in sorted({steps for _, steps in clips}))
    why = "No returns yet to draw a curve from."
    return ChartData("curve", "return by step", tuple(curves), points=tuple(dots), checkpoints=ladder, empty=why)
