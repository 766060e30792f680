"""The characters a chart is made of. Each names its style, and the widget gives that a colour."""

from __future__ import annotations

from typing import NamedTuple

from workbench.ui.charts.grouping import Prepared


class Cell(NamedTuple):
    """One character and the name of its style (`axis`, `series-3`, `raw-3`, …)."""

    sign: str
    style: str
    ground: str = ""
    """The name of what is behind it: the band of a group."""


Rows = list[list[Cell]]
BLANK = Cell(" ", "")


def put(row: list[Cell], column: int, text: str, style: str) -> None:
    """Write a text into a row, as far as it fits; what is behind stays."""
    for place, sign in enumerate(text, start=column):
        if 0 <= place < len(row):
            row[place] = Cell(sign, style, row[place].ground)


def style_of(kind: str, item: Prepared) -> str:
    """Return the name of an entry's style: its slot, or muted; the one in front is bold."""
    slot = "muted" if item.curve.slot is None else str(item.curve.slot)
    return f"{kind}-{slot}{'-bold' if item.curve.bold and kind in ('series', 'letter') else ''}"
