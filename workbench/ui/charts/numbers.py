"""A chart as a table of numbers, for terminals that cannot draw one and for people who have it read to them."""

from __future__ import annotations

import math

import numpy as np

from workbench import formatting
from workbench.ui.charts.bars import draw_bars
from workbench.ui.charts.cells import BLANK, Cell, style_of
from workbench.ui.charts.drawing import Drawing, draw
from workbench.ui.charts.grouping import Prepared
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

    Parts of a whole are written as bars instead; with `plain` in ASCII.
    """
    prepared = plan(data, view, traces)
    if data.bars is not None and height > 1:
        return Drawing(draw_bars(data.bars, width, height, plain=plain), prepared)
    curves = [item for item in reversed(prepared.curves) if len(item.x)]
    if prepared.y_range is None or not curves:
        return draw(data, view, width, height, traces=traces)
    names = {id(item): f"{item.curve.letter} {item.curve.label}".strip() or data.title for item in curves}
    head = str(prepared.x_axis)
    room = min(max(len(name) for name in (*names.values(), head, "+99 more")), _WIDEST_NAME)
    across, down = (width - room) // _COLUMN, min(MOST_COLUMNS, height - 1)
    if across < FEW_COLUMNS and down > across and len(curves) <= (width - _NARROW_NAME) // _COLUMN:
        return Drawing([_fitted(row, width) for row in _upright(prepared, curves, names, down, height)], prepared)
    places = _places(prepared, curves, min(MOST_COLUMNS, across))
    rows = [_row(head, [_place(at, prepared.x_axis) for at in places], room, "tick", "tick")]
    fitting = curves if len(curves) < height else curves[: max(0, height - 2)]
    for item in fitting:
        values = [formatting.number(prepared.unscale(_value(item, at))) for at in places]
        rows.append(_row(names[id(item)], values, room, style_of("letter", item), "text"))
    if len(fitting) < len(curves):
        rows.append(_row(f"+{len(curves) - len(fitting)} more", [], room, "tick", "tick"))
    return Drawing([_fitted(row, width) for row in [*rows, *([[]] * height)][:height]], prepared)


def _upright(
    prepared: Plan, curves: list[Prepared], names: dict[int, str], count: int, height: int
) -> list[list[Cell]]:
    """The table with a row a place, where that shows more of them."""
    heads = [names[id(item)] if len(curves) > 1 else "" for item in curves]
    shown = [formatting.shorten(head, _COLUMN - 1) for head in heads]
    rows = [_row(str(prepared.x_axis), shown, _NARROW_NAME, "tick", "text")]
    for at in _places(prepared, curves, count):
        values = [formatting.number(prepared.unscale(_value(item, at))) for item in curves]
        rows.append(_row(_place(at, prepared.x_axis), values, _NARROW_NAME, "tick", "text"))
    return [*rows, *([[]] * height)][:height]


def _places(prepared: Plan, curves: list[Prepared], count: int) -> list[float]:
    """Places at equal distances, from the first that is shown to the newest point."""
    low, high = prepared.x_range
    newest = max(float(item.x[-1]) for item in curves)
    return [float(at) for at in np.linspace(low, max(low, min(high, newest)), max(count, 1))]


def _place(at: float, axis: XAxis) -> str:
    return formatting.duration(at) if axis is XAxis.WALL else formatting.amount(at)


def _value(item: Prepared, at: float) -> float:
    """The drawn value of the newest point up to a place; NaN before the first."""
    place = int(np.searchsorted(item.x, at, side="right")) - 1
    return float(item.front.y[place]) if place >= 0 else math.nan


def _row(name: str, numbers: list[str], room: int, name_style: str, style: str) -> list[Cell]:
    text = "".join(number.rjust(_COLUMN) for number in numbers)
    return [Cell(sign, name_style) for sign in formatting.shorten(name, room).ljust(room)] + [
        Cell(sign, style) for sign in text
    ]


def _fitted(row: list[Cell], width: int) -> list[Cell]:
    return [*row[:width], *([BLANK] * (width - len(row)))]
