"""Which way pictures are drawn in this terminal: as half blocks unless a person or the terminal says more."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Literal

from workbench.remote.declaration import LARGEST_SIDE
from workbench.ui.graphics.terminal import Cell, Offered, cell_size

Kind = Literal["halfblocks", "kitty", "sixel"]
Wanted = Literal["halfblocks", "auto", "kitty", "sixel", "off"]

USUAL_CELL: Cell = (8, 16)
"""Of terminals that do not tell; kitty scales pictures to cells anyway."""
MOST_PIXELS = 640 * 480
"""A larger picture is drawn smaller and scaled up by the terminal: what draws it may be a processor."""


@dataclass(frozen=True)
class Way:
    """How pictures are drawn."""

    kind: Kind = "halfblocks"
    cell: Cell = (1, 2)
    """Pixels of a cell."""

    def pixels(self, columns: int, rows: int) -> tuple[int, int]:
        """Return width and height of a picture that fills some cells."""
        width, height = columns * self.cell[0], rows * self.cell[1]
        if self.kind == "halfblocks" or not width or not height:
            return width, height
        shrink = min(1.0, LARGEST_SIDE / max(width, height), math.sqrt(MOST_PIXELS / (width * height)))
        return max(1, round(width * shrink)), max(1, round(height * shrink))

    def cells(self, size: tuple[int, int], columns: int, rows: int) -> tuple[int, int]:
        """Return the cells that a picture takes which was made to lie within some.

        Args:
            size: Its width and height in pixels.
            columns: Of the cells it was made for.
            rows: Of them.
        """
        width, height = self.pixels(columns, rows)
        if not width or not height:
            return 0, 0
        return (
            max(1, min(columns, round(size[0] / width * columns))),
            max(1, min(rows, round(size[1] / height * rows))),
        )


def choose(wanted: Wanted, offered: Offered, *, is_truecolour: bool) -> Way:
    """Return how pictures are drawn.

    Args:
        wanted: What a person set.
        offered: What the terminal said, where it was asked.
        is_truecolour: Whether the terminal shows every colour: kitty's placeholders are told apart by theirs.
    """
    # In a browser another program draws the cells.
    if wanted in ("halfblocks", "off") or "TEXTUAL_DRIVER" in os.environ:
        return Way()
    cell = offered.cell or cell_size()
    # A picture in sixels is as large as its pixels, so without the size of a cell it would lie over its neighbours.
    has_sixel = wanted == "sixel" or (wanted == "auto" and offered.sixel)
    if has_sixel and cell is not None:
        return Way("sixel", cell)
    # Terminals that have both (WezTerm, Konsole) know nothing of placeholders; kitty and Ghostty have no sixels.
    has_kitty = wanted == "kitty" or (wanted == "auto" and offered.kitty and not offered.sixel)
    if has_kitty and is_truecolour:
        return Way("kitty", cell or USUAL_CELL)
    return Way()
