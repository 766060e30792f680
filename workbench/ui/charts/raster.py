"""Lines as braille dots: two columns and four rows of them in one cell.

Where lines meet, the one drawn later wins the cell. A cell knows the number of its line, so that the theme decides the
colours later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Dots = NDArray[np.int64]

DOTS_X, DOTS_Y = 2, 4
"""Braille dots in one cell."""
NOBODY = -1
"""The owner of a cell without a dot."""
BRAILLE = 0x2800
"""The sign without a dot; the lower eight bits of the others say which are set."""
_BITS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]], dtype=np.uint8)
"""Of each dot in its cell, `(DOTS_Y, DOTS_X)`, as Unicode numbers them."""
_FAR = 1e6
"""Dots; no terminal is as wide."""
_DASH = 4
"""Dot columns of a dash, and of the gap behind it."""


@dataclass(frozen=True, eq=False)
class Stroke:
    """One line to draw: finite points in the order of x, and whose it is."""

    x: Floats
    y: Floats
    owner: int
    """Comes back with each cell this line won."""
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class Raster:
    """Cells from the top, each with its dots and the line they are of."""

    dots: NDArray[np.uint8]
    """The lower byte of the braille sign, `(height, width)`; 0 where there is none."""
    owners: NDArray[np.int16]
    """Whose line won the cell, `(height, width)`."""

    def sign(self, row: int, column: int) -> str:
        """Return the braille sign of a cell."""
        return chr(BRAILLE + int(self.dots[row, column]))


def rasterize(
    strokes: Sequence[Stroke], width: int, height: int, x_range: tuple[float, float], y_range: tuple[float, float]
) -> Raster:
    """Draw lines into `height` rows of `width` cells."""
    raster = Raster(np.zeros((height, width), np.uint8), np.full((height, width), NOBODY, np.int16))
    if width < 1 or height < 1:
        return raster
    # A spike of 1e30 would be a line of as many dots; just outside it looks the same.
    margin = (y_range[1] - y_range[0]) / height
    for stroke in strokes:
        if not len(stroke.x):
            continue
        y = np.clip(stroke.y, y_range[0] - margin, y_range[1] + margin)
        column, row = _walk(
            _round(_places(stroke.x, x_range, width * DOTS_X)), _round(_places(y, y_range, height * DOTS_Y))
        )
        inside = (column >= 0) & (column < width * DOTS_X) & (row >= 0) & (row < height * DOTS_Y)
        if stroke.dashed:
            inside &= column // _DASH % 2 == 0
        grid = np.zeros((height * DOTS_Y, width * DOTS_X), np.uint8)
        grid[height * DOTS_Y - 1 - row[inside], column[inside]] = 1
        cells = np.tensordot(grid.reshape(height, DOTS_Y, width, DOTS_X), _BITS, axes=((1, 3), (0, 1)))
        won = cells > 0
        raster.dots[won] = cells[won]
        raster.owners[won] = stroke.owner
    return raster


def column_of(x: float, x_range: tuple[float, float], width: int) -> int:
    """Return the cell column of a position; outside the range it is outside `0 … width - 1`."""
    return int(_round(_places(np.array([x]), x_range, width * DOTS_X))[0]) // DOTS_X


def row_of(y: float, y_range: tuple[float, float], height: int) -> int:
    """Return the cell row of a value, counted from the top."""
    return int(rows_of(np.array([y]), y_range, height)[0])


def rows_of(y: Floats, y_range: tuple[float, float], height: int) -> Dots:
    """Return where many values are, as `row_of` does for one, `(n,)`."""
    return height - 1 - _round(_places(y, y_range, height * DOTS_Y)) // DOTS_Y


def dot_edges(x_range: tuple[float, float], width: int) -> Floats:
    """Return where the dot columns of `width` cells begin, and where the last one ends, `(2 * width + 1,)`."""
    dots = width * DOTS_X
    width_of_one = (x_range[1] - x_range[0]) / (dots - 1)
    return np.asarray(x_range[0] + (np.arange(dots + 1) - 0.5) * width_of_one, dtype=np.float64)


def _places(values: Floats, limits: tuple[float, float], dots: int) -> Floats:
    with np.errstate(over="ignore"):
        return (dots - 1) * ((values - limits[0]) / (limits[1] - limits[0]))


def _round(places: Floats) -> Dots:
    # Rounded first: what a sum of tenths misses by the last bit must not fall into the neighbour.
    # And clipped: what is that far outside may be further than whole numbers reach.
    rounded: Dots = np.floor(np.round(np.clip(places, -_FAR, _FAR), 8) + 0.5).astype(np.int64)
    return rounded


def _walk(column: Dots, row: Dots) -> tuple[Dots, Dots]:
    """Every dot on the way from dot to dot: no two further apart than one, and none beside another without need."""
    run, rise = np.diff(column), np.diff(row)
    parts = np.maximum(np.abs(run), np.abs(rise))
    segment = np.repeat(np.arange(len(parts)), parts)
    share = (np.arange(len(segment)) - np.repeat(np.cumsum(parts) - parts, parts)) / parts[segment]
    across = np.append(column[segment] + _round(share * run[segment]), column[-1:])
    return across, np.append(row[segment] + _round(share * rise[segment]), row[-1:])
