"""Lines drawn in braille by plotext; the one module that knows it.

Never plotext's global figure: every drawing has a figure of its own. Cells are read from its matrix, not from its
escape codes, and a line's colour there is the number of its stroke, so that the theme decides the colours later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DOTS_X, DOTS_Y = 2, 4
"""Braille dots in one cell."""


@dataclass(frozen=True, eq=False)
class Stroke:
    """One line to draw: finite points in the order of x, and whose it is."""

    x: Floats
    y: Floats
    owner: int
    """Comes back with each cell this line won, 0 to 255."""


Raster = list[list[tuple[str, int] | None]]
"""Rows from the top, each of cells: a braille sign and its owner, or nothing."""


def rasterize(
    strokes: Sequence[Stroke], width: int, height: int, x_range: tuple[float, float], y_range: tuple[float, float]
) -> Raster:
    """Draw lines into `height` rows of `width` cells; where two meet the later one wins the cell."""
    blank: Raster = [[None] * width for _ in range(height)]
    drawable = [stroke for stroke in strokes if len(stroke.x)]
    if not drawable or width < 1 or height < 1:
        return blank
    # Imported when first drawn: the app is up before it is needed.
    from plotext._figure import _figure_class

    figure = _figure_class()
    figure._limit_size(False, False)
    figure.plot_size(width, height)
    figure.frame(False)
    figure.xticks([])
    figure.yticks([])
    figure.xlim(*x_range)
    figure.ylim(*y_range)
    # plotext walks every dot of a line, also outside: a spike of 1e30 would keep it busy for ever.
    margin = (y_range[1] - y_range[0]) / height
    for stroke in drawable:
        y = np.clip(stroke.y, y_range[0] - margin, y_range[1] + margin)
        figure.plot(stroke.x.tolist(), y.tolist(), marker="braille", color=stroke.owner)
    figure._set_sizes()
    figure._build_matrix()
    matrix = figure.monitor.matrix
    for row in range(height):
        signs, owners = matrix.marker[height - 1 - row], matrix.fullground[height - 1 - row]
        blank[row] = [(sign, int(owner)) if sign != " " else None for sign, owner in zip(signs, owners, strict=True)]
    return blank


def column_of(x: float, x_range: tuple[float, float], width: int) -> int:
    """Return the cell column of a position, as plotext rounds it; outside the range it is outside `0 … width - 1`."""
    return _dot(x, x_range, width * DOTS_X) // DOTS_X


def row_of(y: float, y_range: tuple[float, float], height: int) -> int:
    """Return the cell row of a value, counted from the top."""
    return height - 1 - _dot(y, y_range, height * DOTS_Y) // DOTS_Y


def _dot(value: float, limits: tuple[float, float], dots: int) -> int:
    return int(np.floor(round(0.5 + (dots - 1) * (value - limits[0]) / (limits[1] - limits[0]), 8)))
