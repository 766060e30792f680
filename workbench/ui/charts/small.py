"""What stands where no axes do: a sentence why there is nothing, and a line a curve where there is no room."""

from __future__ import annotations

from workbench.formatting import number
from workbench.ui.charts.cells import BLANK, Cell, Rows, style_of
from workbench.ui.charts.plan import Plan
from workbench.ui.charts.spark import sparkline, trend

_LEAST_SPARK = 4


def sentence(text: str, width: int, height: int) -> Rows:
    """Return a sentence in the middle of nothing, wrapped at words."""
    lines: list[str] = [""]
    for word in text.split(" "):  # not at no-break spaces
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    lines = lines[:height]
    above = (height - len(lines)) // 2
    rows: Rows = [[BLANK] * width for _ in range(height)]
    for offset, line in enumerate(lines):
        start = max(0, (width - len(line)) // 2)
        for column, sign in enumerate(line[:width]):
            rows[above + offset][start + column] = Cell(sign, "empty")
    return rows


def sparks(prepared: Plan, width: int, height: int) -> Rows:
    """Return a line a curve: sparkline, last value, arrow."""
    rows: Rows = [[BLANK] * width for _ in range(height)]
    for row, item in zip(rows, reversed(prepared.curves), strict=False):
        finite = item.front.sample(*prepared.x_range)
        if not len(finite):
            continue
        words = f" {number(prepared.unscale(float(finite[-1])))} {trend(finite)}"
        letter = f"{item.curve.letter} " if item.curve.letter else ""
        text = letter + sparkline(finite, max(_LEAST_SPARK, width - len(words) - 2))
        for column, sign in enumerate((text + words)[:width]):
            row[column] = Cell(sign, style_of("series", item))
    return rows
