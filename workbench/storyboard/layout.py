"""Where the parts of a grid lie: title, cells with their captions, and a strip under them. All measures are even."""

from __future__ import annotations

import math
from dataclasses import dataclass

from workbench.errors import RequestError

WIDEST, TALLEST = 3840, 2160
"""Larger grids have their cells made smaller; few players show more."""
PREFERRED_ASPECT = 16 / 9
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


def lay_out(count: int, size: tuple[int, int], *, columns: int | None = None, strip: bool = False) -> GridLayout:
    """Return the layout of `count` cells.

    Args:
        count: How many cells.
        size: Width and height of the clips; cells are smaller where the grid would be too large.
        columns: How many side by side; chosen by shape without.
        strip: Whether to leave room under the cells.

    Raises:
        RequestError: Less than one column.
    """
    if columns is not None and columns < 1:
        raise RequestError(f"--columns is {columns}; it must be at least 1.")
    columns = min(count, columns or best_columns(count, size))
    rows = math.ceil(count / columns)
    layout = _at(count, size, columns, rows, strip=strip)
    shrink = min(1.0, WIDEST / layout.width, TALLEST / layout.height)
    while shrink < 1 and (layout.width > WIDEST or layout.height > TALLEST):
        layout = _at(count, (_even(size[0] * shrink), _even(size[1] * shrink)), columns, rows, strip=strip)
        shrink *= 0.99
    return layout


def _at(count: int, size: tuple[int, int], columns: int, rows: int, *, strip: bool) -> GridLayout:
    width, height = size
    unit = min(width / 480, height / 360)
    margin, gap, bar = _even(14 * unit), _even(10 * unit), _even(38 * unit)
    top = margin + _even(34 * unit) + _even(8 * unit)
    across = columns * width + (columns - 1) * gap
    captions, cells = [], []
    for place in range(count):
        row, column = divmod(place, columns)
        # A last row that is not full stands in the middle.
        in_row = min(columns, count - row * columns)
        indent = _even((columns - in_row) * (width + gap) / 2)
        x, y = margin + indent + column * (width + gap), top + row * (bar + height + gap)
        captions.append(Box(x, y, width, bar))
        cells.append(Box(x, y + bar, width, height))
    bottom = top + rows * (bar + height + gap) - gap
    under = Box(margin, bottom + gap, across, _even(120 * unit)) if strip else None
    return GridLayout(
        width=across + 2 * margin,
        height=(bottom if under is None else under.y + under.height) + margin,
        unit=unit,
        title=Box(margin, margin, across, _even(34 * unit)),
        cells=tuple(cells),
        captions=tuple(captions),
        strip=under,
    )


def _even(value: float) -> int:
    return max(2, 2 * round(value / 2))
