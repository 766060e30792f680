"""A chart as rows of cells: braille lines, and what is laid over them.

Axes, letters, marks and the crosshair are cells of their own; where lines meet, the one drawn later wins the cell. The
crosshair comes last, so that moving it draws nothing again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from workbench.axes import Tick, log_ticks, ticks, time_ticks
from workbench.formatting import number
from workbench.runs.statistics import FEWEST_RUNS
from workbench.ui.charts.cells import BLANK, Cell, Rows, put, style_of
from workbench.ui.charts.grouping import Prepared
from workbench.ui.charts.line import Line, pieces
from workbench.ui.charts.model import ChartData, ChartView, XAxis
from workbench.ui.charts.plan import Plan, plan
from workbench.ui.charts.raster import BRAILLE, NOBODY, Stroke, column_of, rasterize, row_of, rows_of
from workbench.ui.charts.small import sentence, sparks
from workbench.ui.charts.trace import Traces

SMALLEST = (24, 5)
"""Below this a chart is a sparkline, the last value and an arrow."""


LADDER_FROM = 9
"""Rows from which on checkpoints stand under the axis; with fewer the curve needs them all."""
MOST_RAW = 4
"""With more curves the raw values are drawn behind the one in front only: elsewhere they would hide the others."""
_MOST_TICKS = 10
"""On the y axis, however high it is."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """The cells of a chart's inside, and what was found on the way."""

    rows: Rows
    plan: Plan
    left: int = 0
    """The first column of the plot."""
    width: int = 0
    """The columns of the plot; 0 where no axes were drawn."""
    height: int = 0
    """The rows of the plot; the x axis is the one below, the checkpoints stand under that."""


def draw(
    data: ChartData,
    view: ChartView,
    width: int,
    height: int,
    *,
    traces: Traces | None = None,
    tinted: bool = True,
) -> Drawing:
    """Draw a chart into `height` rows of `width` cells; see `sketch`."""
    return point_at(sketch(data, view, width, height, traces=traces, tinted=tinted), data, view)


def sketch(
    data: ChartData,
    view: ChartView,
    width: int,
    height: int,
    *,
    traces: Traces | None = None,
    tinted: bool = True,
) -> Drawing:
    """Draw all of a chart but its crosshair.

    Args:
        data: What it shows.
        view: How it is looked at.
        width: Cells.
        height: Rows.
        traces: What is kept between drawings of one chart.
        tinted: Whether bands are tints of their cells; else their edges are dotted.
    """
    prepared = plan(data, view, traces)
    if width < 1 or height < 1:
        return Drawing([], prepared)
    if prepared.y_range is None:
        return Drawing(sentence(data.empty, width, height), prepared)
    if width < SMALLEST[0] or height < SMALLEST[1]:
        return Drawing(sparks(prepared, width, height), prepared)
    canvas = _Canvas(data, view, prepared, prepared.y_range, width, height, tinted)
    # Values far from zero that hardly differ have labels that would leave no room for a plot.
    return canvas.drawing() if canvas.width >= width // 3 else Drawing(sparks(prepared, width, height), prepared)


def point_at(drawing: Drawing, data: ChartData, view: ChartView) -> Drawing:
    """Return a drawing with the crosshair of a view laid over it."""
    if view.at is None or not drawing.width:
        return drawing
    rows = [row.copy() for row in drawing.rows]
    column = column_of(drawing.plan.x_of(view.at), drawing.plan.x_range, drawing.width)
    if 0 <= column < drawing.width:
        for row in rows[: drawing.height]:
            cell = row[drawing.left + column]
            if not cell.style or cell.sign == "┄":
                put(row, drawing.left + column, "┊", "cursor")
    chosen = checkpoint_at(data, view.at)
    if chosen is not None and len(rows) > drawing.height + 1:
        column = column_of(drawing.plan.x_of(chosen), drawing.plan.x_range, drawing.width)
        if 0 <= column < drawing.width:
            put(rows[drawing.height + 1], drawing.left + column, "▲", "cursor")
    return replace(drawing, rows=rows)


class _Canvas:
    """The cells of one chart while they are laid."""

    def __init__(
        self,
        data: ChartData,
        view: ChartView,
        prepared: Plan,
        y_range: tuple[float, float],
        width: int,
        height: int,
        tinted: bool,
    ) -> None:
        self.data, self.view, self.plan, self.y_range = data, view, prepared, y_range
        self.tinted = tinted
        self.has_ladder = bool(data.checkpoints) and height >= LADDER_FROM
        self.height = height - 1 - self.has_ladder
        make = log_ticks if prepared.log else ticks
        self.y_ticks = [
            (row, tick)
            for tick in make(*y_range, min(max(1, self.height // 2), _MOST_TICKS))
            for row in self._rows(tick.at)
        ]
        self.left = 1 + max((len(tick.label) for _, tick in self.y_ticks), default=0)
        self.width = width - self.left
        self.rows: Rows = [[BLANK] * width for _ in range(height)]

    def drawing(self) -> Drawing:
        self._axes()
        self._bands()
        named = self._references()
        self._lines()
        self._points()
        self._marks()
        self._ladder()
        self._letters()
        for row, name in named:
            self._name(row, name)
        return Drawing(self.rows, self.plan, self.left, self.width, self.height)

    # Places: none or one each, so that what lies outside is skipped by the loop over them.

    def _rows(self, value: float) -> list[int]:
        if not math.isfinite(value):
            return []
        row = row_of(value, self.y_range, self.height)
        return [row] if 0 <= row < self.height else []

    def _columns(self, x: float) -> list[int]:
        column = column_of(x, self.plan.x_range, self.width)
        return [self.left + column] if 0 <= column < self.width else []

    def _put(self, row: int, column: int, text: str, style: str) -> None:
        put(self.rows[row], column, text, style)

    # Layers, from the back.

    def _axes(self) -> None:
        for row in range(self.height):
            self._put(row, self.left - 1, "│", "axis")
        for row, tick in self.y_ticks:
            self._put(row, 0, tick.label.rjust(self.left - 1), "tick")
            self._put(row, self.left - 1, "┤", "axis")
        self._put(self.height, self.left - 1, "└" + "─" * self.width, "axis")
        for column, text in x_labels(self.plan.x_range, self.plan.x_axis, self.width):
            self._put(self.height, self.left + column, text, "tick")

    def _bands(self) -> None:
        low, high = self.plan.x_range
        places = low + (np.arange(self.width) + 0.5) * ((high - low) / self.width)
        for item in self.plan.curves:
            if item.low is None or item.high is None or len(item.low) < 2:
                continue
            edges = [np.interp(places, line.x, line.y, np.nan, np.nan) for line in (item.low, item.high)]
            inside = np.flatnonzero(np.isfinite(edges[0]) & np.isfinite(edges[1]))
            bottoms, tops = (rows_of(edge[inside], self.y_range, self.height).tolist() for edge in edges)
            style = style_of("band" if self.tinted else "edge", item)
            for column, upper, lower in zip(inside.tolist(), tops, bottoms, strict=True):
                self._band_column(self.left + column, upper, lower, style)

    def _band_column(self, column: int, upper: int, lower: int, style: str) -> None:
        if not self.tinted:
            for row in {upper, lower}:
                if 0 <= row < self.height:
                    self._put(row, column, "·", style)
            return
        tint = Cell(BLANK.sign, BLANK.style, style)
        for row in range(max(0, upper), min(self.height - 1, lower) + 1):
            cell = self.rows[row][column]
            self.rows[row][column] = tint if cell is BLANK else Cell(cell.sign, cell.style, style)

    def _references(self) -> list[tuple[int, str]]:
        named = []
        for reference in self.data.references:
            value = self.plan.scale(reference.value)
            if not math.isfinite(value):
                continue
            name = f" {reference.name} {number(reference.value)}"
            places = self._rows(value)
            for row in places:
                for column in range(self.left, self.left + self.width, 2):
                    if not self.rows[row][column].style:
                        self._put(row, column, "┄", "reference")
            if not places:
                above = value > self.y_range[1]
                name = f" {'↑' if above else '↓'}{name}"
                places = [0 if above else self.height - 1]
            named.append((places[0], name))
        return named

    def _name(self, row: int, name: str) -> None:
        """Write the name of a reference at the right, or further left where a line ends there."""
        last = self.left + self.width - len(name)
        for start in range(last, self.left - 1, -1):
            if all(cell.style == "" or cell.sign == "┄" for cell in self.rows[row][start : start + len(name)]):
                self._put(row, start, name, "reference")
                return

    def _lines(self) -> None:
        strokes: list[Stroke] = []
        styles: list[str] = []

        def add(line: Line, style: str, *, dashed: bool = False) -> None:
            for x, y in pieces(*line.drawn(self.plan.x_range, self.width)):
                strokes.append(Stroke(x, y, len(styles), dashed))
            styles.append(style)

        if self.view.weight > 0:
            for item in self.plan.curves:
                if item.raw is not None and (item.curve.bold or len(self.plan.curves) <= MOST_RAW):
                    add(item.raw, style_of("raw", item))
        for item in self.plan.thin:
            add(item.front, style_of("thin", item))
        for item in self.plan.curves:
            if item.count is None:
                add(item.front, style_of("series", item))
            elif item.low is not None:
                for line, dashed in _dashed(item):
                    add(line, style_of("series", item), dashed=dashed)
        raster = rasterize(strokes, self.width, self.height, self.plan.x_range, self.y_range)
        found = np.nonzero(raster.owners != NOBODY)
        known: dict[tuple[int, int, str], Cell] = {}
        signs, owners = raster.dots[found].tolist(), raster.owners[found].tolist()
        for row, column, dots, owner in zip(found[0].tolist(), found[1].tolist(), signs, owners, strict=True):
            cells, place = self.rows[row], self.left + column
            key = (dots, owner, cells[place].ground)
            if key not in known:
                known[key] = Cell(chr(BRAILLE + dots), styles[owner], key[2])
            cells[place] = known[key]

    def _points(self) -> None:
        for item in self.plan.curves:
            place = item.front.last_finite(math.inf) if item.finite == 1 and not item.members else None
            if place is not None:  # one point makes no line
                x, value = float(item.x[place]), float(item.front.y[place])
                text = f"● {number(self.plan.unscale(value))} {item.curve.letter}".rstrip()
                self._dot(x, value, text, style_of("letter", item))
        for point in self.data.points:
            self._dot(self.plan.x_of(point.steps), self.plan.scale(point.value), "•", "point")

    def _dot(self, x: float, value: float, text: str, style: str) -> None:
        for row in self._rows(value):
            for column in self._columns(x):
                self._put(row, min(column, self.left + self.width - len(text)), text, style)

    def _marks(self) -> None:
        inside = self.plan.not_finite
        low, high = self.plan.x_range
        inside = inside[(inside >= low) & (inside <= high)]
        if len(inside):
            share = (inside - low) / (high - low) * self.width if high > low else np.zeros(len(inside))
            for column in np.unique(np.minimum(share.astype(np.int64), self.width - 1)).tolist():
                self._put(self.height - 1, self.left + column, "×", "bad")
        for flag in self.data.flags:
            for column in self._columns(self.plan.x_of(flag.steps)):
                self._put(0, column, flag.sign, "flag")

    def _ladder(self) -> None:
        if not self.has_ladder:
            return
        # The best and the pinned are never hidden by a neighbour in the same column.
        for rung in sorted(self.data.checkpoints, key=lambda rung: rung.sign != "◇"):
            for column in self._columns(self.plan.x_of(rung.steps)):
                self._put(self.height + 1, column, rung.sign, "ladder" if rung.sign == "◇" else "best")
        if self.data.playing is not None:
            for column in self._columns(self.plan.x_of(self.data.playing)):
                self._put(self.height + 1, column, "▲", "playing")

    def _letters(self) -> None:
        for item in reversed(self.plan.curves):
            if not item.curve.letter or (item.finite < 2 and not item.members):
                continue
            ends = [item.front] if len(item.front) else [member.front for member in item.members]
            for line in ends:
                last = line.last_finite(self.plan.x_range[1])
                if last is None:
                    continue
                for row in self._rows(float(line.y[last])):
                    for column in self._columns(float(line.x[last])):
                        self._letter(item, row, min(column + 1, self.left + self.width - 1))

    def _letter(self, item: Prepared, row: int, column: int) -> None:
        for near in (row, row - 1, row + 1, row - 2, row + 2):
            if 0 <= near < self.height and not self.rows[near][column].style.startswith("letter"):
                self._put(near, column, item.curve.letter, style_of("letter", item))
                return


def _dashed(item: Prepared) -> list[tuple[Line, bool]]:
    """A group's line in two: where enough runs have data, and, dashed, where not."""
    if item.count is None:
        return [(item.front, False)]
    few = item.count < FEWEST_RUNS
    if not few.any():
        return [(item.front, False)]
    # The dashes reach to the neighbours, so that nothing is missing between the two.
    reach = few | np.append(few[1:], False) | np.append(False, few[:-1])
    y = item.front.y
    return [(Line(item.x, np.where(reach, y, np.nan)), True), (Line(item.x, np.where(few, np.nan, y)), False)]


def checkpoint_at(data: ChartData, steps: float | None) -> int | None:
    """Return the steps of the nearest checkpoint at or before a step; nothing without one."""
    if steps is None:
        return None
    before = [rung.steps for rung in data.checkpoints if rung.steps <= steps]
    return max(before, default=None)


def x_labels(x_range: tuple[float, float], axis: XAxis, width: int) -> list[tuple[int, str]]:
    """Return the labels inside the x axis and their columns; the last carries the unit where that fits."""
    count = max(1, width // 14)
    found: list[Tick] = time_ticks(*x_range, count) if axis is XAxis.WALL else ticks(*x_range, count)
    unit = {XAxis.STEPS: "steps", XAxis.WALL: "", XAxis.EPISODES: "episodes"}[axis]
    placed: list[tuple[int, str]] = []
    free = 0
    for tick in found:
        text = tick.label if not placed and column_of(tick.at, x_range, width) == 0 else f" {tick.label}"
        start = min(max(0, column_of(tick.at, x_range, width) - len(text) // 2), width - len(text))
        if start < free:
            continue
        if start + len(text) < width:
            text += " "
        placed.append((start, text))
        free = start + len(text)
    if not unit or not placed:
        return placed
    if free + len(unit) + 2 <= width:
        return [*placed, (width - len(unit) - 1, f" {unit}")]
    start, text = placed[-1]
    joined = f"{text.rstrip()} {unit}"
    before = placed[-2][0] + len(placed[-2][1]) if len(placed) > 1 else 0
    return [*placed[:-1], (width - len(joined), joined)] if before <= width - len(joined) else placed
