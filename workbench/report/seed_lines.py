"""Curves of several seeds as lines of one drawing.

A mean over fewer and fewer seeds jumps where one ends, and tells of those that took longest. So what all say together
ends with the first, and each that goes on is drawn by itself from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from workbench.report.plot import Floats, Line
from workbench.runs.statistics import seed_band

Curve = tuple[Floats, Floats]
"""Steps (rising) and values, `(n,)` each."""


def seed_lines(curves: Sequence[Curve], style: Line, *, with_band: bool = True) -> list[Line]:
    """Return the lines that draw a group of seeds: at most one with the label, and what is left of longer ones.

    Args:
        curves: Of each seed; those without points are left out.
        style: Its label, colour and dash are taken; a line that is one seed's own has no label.
        with_band: Whether to draw the interval around what they say together, where there are seeds enough.
    """
    curves = [curve for curve in curves if len(curve[0])]
    if len(curves) <= 1:
        return [replace(style, steps=steps, values=values) for steps, values in curves]
    band = seed_band(curves) if with_band else seed_band(curves, repetitions=1)
    everyone = band.count == len(curves)
    if not everyone.any():
        return [
            replace(style, label="" if place else style.label, steps=steps, values=values, thin=True)
            for place, (steps, values) in enumerate(curves)
        ]
    together = replace(style, steps=band.steps[everyone], values=band.iqm[everyone])
    if with_band:
        together = replace(together, low=band.low[everyone], high=band.high[everyone])
    last = together.steps[-1]
    alone = []
    for steps, values in curves:
        later = np.flatnonzero(steps > last)
        if len(later):
            # From the point before on, so that the line begins where the other ends.
            rest = slice(max(0, int(later[0]) - 1), None)
            alone.append(replace(style, label="", steps=steps[rest], values=values[rest], thin=True))
    return [together, *alone]
