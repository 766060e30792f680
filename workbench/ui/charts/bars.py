"""Shares of a whole as bars: what each reward term gives, and how episodes end. Cells only, as all charts."""

from __future__ import annotations

import math

from workbench import formatting
from workbench.ui.charts.cells import BLANK, Cell, Rows
from workbench.ui.charts.model import Bar, Bars
from workbench.ui.charts.spark import sparkline

_LONGEST = 24
"""Cells of the longest bar."""
_NAME = 18
"""And of the longest name."""
_SPARK = 9


def draw_bars(content: Bars, width: int, height: int, *, plain: bool = False) -> Rows:
    """Write bars into `height` rows of `width` cells: name, facts, course, share, and a bar as long as that.

    What there is no room for goes: first the courses, then the bars, then the facts from the last one on.
    """
    bars = content.bars
    names = max((len(bar.name) for bar in bars), default=0)
    room = min(names, _NAME)
    columns = [
        max(len(text) for text in texts) for texts in zip(content.heads, *(bar.facts for bar in bars), strict=True)
    ]
    left = 2 + room
    while columns and left + sum(column + 2 for column in columns) + 7 > width:
        columns.pop()
    left += sum(column + 2 for column in columns)
    has_trend = not plain and any(bar.trend is not None for bar in bars) and left + _SPARK + 9 <= width
    left += (_SPARK + 2) * has_trend + 7
    longest = min(_LONGEST, width - left - 2)
    largest = max((abs(bar.share) for bar in bars if bar.share is not None and math.isfinite(bar.share)), default=0.0)
    rows: Rows = [_head(content.heads, columns, room, has_trend=has_trend)]
    for bar in bars:
        row = [Cell(bar.letter[:1] or " ", _style("letter", bar)), BLANK]
        row += _text(formatting.shorten(bar.name, room).ljust(room), "text")
        for text, column in zip(bar.facts, columns, strict=False):
            row += _text("  " + text.rjust(column), "text")
        if has_trend:
            drawn = "" if bar.trend is None else sparkline(bar.trend, _SPARK)
            row += _text("  " + drawn.ljust(_SPARK), _style("series", bar))
        row += _text(formatting.percent(bar.share).rjust(7), "text")
        if longest >= 3 and largest > 0 and bar.share is not None and math.isfinite(bar.share):
            cells = round(abs(bar.share) / largest * longest)
            full, taken = ("#", "-") if plain else ("▓", "░")
            row += _text("  " + (full if bar.share >= 0 else taken) * cells, _style("series", bar))
        rows.append(row)
    if content.note:
        rows += [[], _text(content.note, "tick")] if len(rows) + 1 < height else [_text(content.note, "tick")]
    rows = [*rows[:height], *([[]] * (height - len(rows)))]
    return [[*row[:width], *([BLANK] * (width - len(row)))] for row in rows]


def _head(heads: tuple[str, ...], columns: list[int], room: int, *, has_trend: bool) -> list[Cell]:
    text = " " * (2 + room)
    for head, column in zip(heads, columns, strict=False):
        text += "  " + head.rjust(column)
    return _text(text + ("  trend" if has_trend else ""), "tick")


def _text(text: str, style: str) -> list[Cell]:
    return [Cell(sign, style) for sign in text]


def _style(kind: str, bar: Bar) -> str:
    return f"{kind}-{'muted' if bar.slot is None else bar.slot}"
