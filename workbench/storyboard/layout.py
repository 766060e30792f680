"""Where the parts of a grid lie: title, cells with their captions, and a strip under them. All measures are even."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.errors import RequestError

LONGEST_SIDE = 3840
"""Larger grids have their cells made smaller; few players show more."""
FILM_PIXELS = 1920 * 1200
"""The same by area: encoding more takes memory that a training beside it may need."""
POSTER_PIXELS = 3840 * 2160
"""The same of one picture."""
PREFERRED_ASPECT = 16 / 9
STRIP = 120
"""The height of the strip under cells of 360 rows, in pixels; under many it is higher, for it is as wide as all."""
STRIP_SHAPE = 7
"""So many times as wide as high it is at most."""
Place = tuple[int, float]
"""Row and column of a cell, counted from 0; half a column where cells stand in the middle."""
HOLE_COST = 0.6
"""How much an empty cell counts against a number of columns, beside the grid's shape."""


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels."""

    x: int
    y: int
    width: int
    height: int

    @property
    def corners(self) -> tuple[int, int, int, int]:
        """Left, top, right and bottom, the last two inside."""
        return self.x, self.y, self.x + self.width - 1, self.y + self.height - 1


@dataclass(frozen=True)
class GridLayout:
    """Where everything is."""

    width: int
    height: int
    unit: float
    """How large a cell is against one of 360 rows: text and spacing follow."""
    title: Box
    cells: tuple[Box, ...]
    captions: tuple[Box, ...]
    """One above each cell, touching it."""
    strip: Box | None
    """Under the cells, as wide as all of them."""


def best_columns(count: int, size: tuple[int, int]) -> int:
    """Return how many columns make a grid of `count` cells a wide screen's shape with few empty cells."""

    def cost(columns: int) -> float:
        rows = math.ceil(count / columns)
        shape = columns * size[0] / (rows * size[1])
        return abs(math.log(shape / PREFERRED_ASPECT)) + HOLE_COST * (rows * columns - count)

    return min(range(1, count + 1), key=cost)


def lay_out(
    count: int,
    size: tuple[int, int],
    *,
    columns: int | None = None,
    strip: bool = False,
    places: Sequence[tuple[int, int]] | None = None,
    most_pixels: int = FILM_PIXELS,
    longest_side: int = LONGEST_SIDE,
) -> GridLayout:
    """Return the layout of `count` cells.

    Args:
        count: How many cells.
        size: Width and height of the clips; cells are smaller where the grid would be too large.
        columns: How many side by side; chosen by shape without.
        strip: Whether to leave room under the cells.
        places: Row and column of each cell, where they mean something; `columns` has no say then.
        most_pixels: The area that is not exceeded.
        longest_side: The width and height that are not.

    Raises:
        RequestError: Less than one column.
    """
    if columns is not None and columns < 1:
        raise RequestError(f"--columns is {columns}; it must be at least 1.")
    if places is None:
        columns = min(count, columns or best_columns(count, size))
        where: Sequence[Place] = _row_by_row(count, columns)
    else:
        where = places
    layout = _at(where, size, strip=strip)
    shrink = 1.0
    while layout.width * layout.height > most_pixels or max(layout.width, layout.height) > longest_side:
        area = math.sqrt(most_pixels / (layout.width * layout.height))
        # A hundredth less each time: sides are rounded to even numbers, and so may not shrink at all.
        shrink *= 0.99 * min(1.0, area, longest_side / max(layout.width, layout.height))
        layout = _at(where, (_even(size[0] * shrink), _even(size[1] * shrink)), strip=strip)
    return layout


def _row_by_row(count: int, columns: int) -> list[Place]:
    """Fill rows from the left; a last one that is not full stands in the middle."""
    full = count // columns * columns
    indent = (columns - (count - full)) / 2
    return [(place // columns, place % columns + (indent if place >= full else 0)) for place in range(count)]


def _at(places: Sequence[Place], size: tuple[int, int], *, strip: bool) -> GridLayout:
    width, height = size
    rows = 1 + max(row for row, _ in places)
    columns = 1 + max(math.floor(column) for row, column in places)
    unit = min(width / 480, height / 360)
    margin, gap, bar = _even(14 * unit), _even(10 * unit), _even(38 * unit)
    top = margin + _even(34 * unit) + _even(8 * unit)
    across = columns * width + (columns - 1) * gap
    captions, cells = [], []
    for row, column in places:
        x, y = margin + _even_floor(column * (width + gap)), top + row * (bar + height + gap)
        captions.append(Box(x, y, width, bar))
        cells.append(Box(x, y + bar, width, height))
    bottom = top + rows * (bar + height + gap) - gap
    under = Box(margin, bottom + gap, across, _even(max(STRIP * unit, across / STRIP_SHAPE))) if strip else None
    return GridLayout(
        width=across + 2 * margin,
        height=(bottom if under is None else under.y + under.height) + margin,
        unit=unit,
        title=Box(margin, margin, across, _even(34 * unit)),
        cells=tuple(cells),
        captions=tuple(captions),
        strip=under,
    )


def _even_floor(value: float) -> int:
    return 2 * math.floor(value / 2)


def _even(value: float) -> int:
    return max(2, 2 * round(value / 2))
