"""A chart as a table of numbers, for terminals that cannot draw one and for people who have it read to them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workbench import formatting
from workbench.ui.charts.bars import draw_bars
from workbench.ui.charts.cells import BLANK, Cell, style_of
from workbench.ui.charts.drawing import Drawing, draw
from workbench.ui.charts.grouping import Prepared
from workbench.ui.charts.line import Line
from workbench.ui.charts.model import ChartData, ChartView, XAxis
from workbench.ui.charts.plan import Plan, plan
from workbench.ui.charts.trace import Traces

MOST_COLUMNS = 10
FEW_COLUMNS = 5
"""Fewer places than this say little side by side."""
_COLUMN = 8
"""Cells a number has, the space before it counted."""
_WIDEST_NAME = 16
_NARROW_NAME = 10
"""Cells of the places where they stand below each other."""


def tabulate(
    data: ChartData,
    view: ChartView,
    width: int,
    height: int,
    *,
    traces: Traces | None = None,
    plain: bool = False,
) -> Drawing:
    """Write a chart's values at up to ten places of its x axis into `height` rows of `width` cells.

    Seeds have a row of what they say together and, where there is room, two of the edges of their band.

    Parts of a whole are written as bars instead; with `plain` in ASCII.
    """
    prepared = plan(data, view, traces)
    if data.bars is not None and height > 1:
        return Drawing(draw_bars(data.bars, width, height, plain=plain), prepared)
    series = [each for item in reversed(prepared.curves) for each in _series(item, data.title)]
    if len(series) >= height:
        # Who is there comes before how far apart its seeds are.
        series = [each for each in series if not each.is_edge]
    if prepared.y_range is None or not series:
        return draw(data, view, width, height, traces=traces)
    head = str(prepared.x_axis)
    room = min(max(len(name) for name in (*(each.name for each in series), head, "+99 more")), _WIDEST_NAME)
    across, down = (width - room) // _COLUMN, min(MOST_COLUMNS, height - 1)
    if across < FEW_COLUMNS and down > across and len(series) <= (width - _NARROW_NAME) // _COLUMN:
        return Drawing([_fitted(row, width) for row in _upright(prepared, series, down, height)], prepared)
    places = _places(prepared, series, min(MOST_COLUMNS, across))
    rows = [_row(head, [_place(at, prepared.x_axis) for at in places], room, "tick", "tick")]
    fitting = series if len(series) < height else series[: max(0, height - 2)]
    for each in fitting:
        values = [formatting.number(prepared.unscale(_value(each.line, at))) for at in places]
        rows.append(_row(each.name, values, room, each.style, "text"))
    if len(fitting) < len(series):
        rows.append(_row(f"+{len(series) - len(fitting)} more", [], room, "tick", "tick"))
    return Drawing([_fitted(row, width) for row in [*rows, *([[]] * height)][:height]], prepared)


@dataclass(frozen=True, eq=False)
class _Series:
    """What has a row of numbers, or a column where they stand below each other."""

    name: str
    line: Line
    style: str
    is_edge: bool = False
    """Whether it says how far the seeds of the one before it lie apart."""


def _series(item: Prepared, title: str) -> list[_Series]:
    """A curve; of seeds what they say together and the edges of its band, or each where nothing is said together."""
    letter, style = item.curve.letter, style_of("letter", item)
    if not len(item.front):
        members = [member for member in item.members if len(member.front)]
        return [_Series(f"{letter} {member.curve.label}".strip(), member.front, style) for member in members]
    found = [_Series(f"{letter} {item.curve.label}".strip() or title, item.front, style)]
    for name, line in (("from", item.low), ("to", item.high)):
        if line is not None:
            found.append(_Series(f"{letter} {name}".strip(), line, style, is_edge=True))
    return found


def _upright(prepared: Plan, series: list[_Series], count: int, height: int) -> list[list[Cell]]:
    """The table with a row a place, where that shows more of them."""
    heads = [each.name if len(series) > 1 else "" for each in series]
    shown = [formatting.shorten(head, _COLUMN - 1) for head in heads]
    rows = [_row(str(prepared.x_axis), shown, _NARROW_NAME, "tick", "text")]
    for at in _places(prepared, series, count):
        values = [formatting.number(prepared.unscale(_value(each.line, at))) for each in series]
        rows.append(_row(_place(at, prepared.x_axis), values, _NARROW_NAME, "tick", "text"))
    return [*rows, *([[]] * height)][:height]


def _places(prepared: Plan, series: list[_Series], count: int) -> list[float]:
    """Places at equal distances, from the first that is shown to the newest point."""
    low, high = prepared.x_range
    newest = max(float(each.line.x[-1]) for each in series)
    return [float(at) for at in np.linspace(low, max(low, min(high, newest)), max(count, 1))]


def _place(at: float, axis: XAxis) -> str:
    return formatting.duration(at) if axis is XAxis.WALL else formatting.amount(at)


def _value(line: Line, at: float) -> float:
    """The drawn value of the newest point up to a place; NaN before the first."""
    place = int(np.searchsorted(line.x, at, side="right")) - 1
    return float(line.y[place]) if place >= 0 else math.nan


def _row(name: str, numbers: list[str], room: int, name_style: str, style: str) -> list[Cell]:
    text = "".join(number.rjust(_COLUMN) for number in numbers)
    return [Cell(sign, name_style) for sign in formatting.shorten(name, room).ljust(room)] + [
        Cell(sign, style) for sign in text
    ]


def _fitted(row: list[Cell], width: int) -> list[Cell]:
    return [*row[:width], *([BLANK] * (width - len(row)))]
