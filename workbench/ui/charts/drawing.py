"""A chart as rows of cells: braille lines, and what is laid over them.

Axes, letters, marks and the crosshair are cells of their own; where lines meet, the one drawn later wins the cell. A
cell names its style (`axis`, `series-3`, `raw-3`, …) and the widget gives that a colour.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from workbench.formatting import number
from workbench.ui.charts.axes import Tick, log_ticks, ticks, time_ticks
from workbench.ui.charts.decimate import cut, decimate, pieces
from workbench.ui.charts.model import ChartData, ChartView, XAxis
from workbench.ui.charts.plan import Plan, Prepared, plan
from workbench.ui.charts.raster import Stroke, column_of, rasterize, row_of
from workbench.ui.charts.spark import sparkline, trend

SMALLEST = (24, 5)
"""Below this a chart is a sparkline, the last value and an arrow."""


LADDER_FROM = 9
"""Rows from which on checkpoints stand under the axis; with fewer the curve needs them all."""
MOST_RAW = 4
"""With more curves the raw values are drawn behind the one in front only: elsewhere they would hide the others."""


class Cell(NamedTuple):
    """One character and the name of its style."""

    sign: str
    style: str


Rows = list[list[Cell]]
BLANK = Cell(" ", "")


@dataclass(frozen=True, eq=False)
class Drawing:
    """The cells of a chart's inside, and what was found on the way."""

    rows: Rows
    plan: Plan
    left: int = 0
    """The first column of the plot."""
    width: int = 0
    """The columns of the plot; 0 where no axes were drawn."""


def draw(data: ChartData, view: ChartView, width: int, height: int) -> Drawing:
    """Draw a chart into `height` rows of `width` cells."""
    prepared = plan(data, view)
    if width < 1 or height < 1:
        return Drawing([], prepared)
    if prepared.y_range is None:
        return Drawing(_sentence(data.empty, width, height), prepared)
    if width < SMALLEST[0] or height < SMALLEST[1]:
        return Drawing(_small(prepared, width, height), prepared)
    return _Canvas(data, view, prepared, prepared.y_range, width, height).drawing()


class _Canvas:
    """The cells of one chart while they are laid."""

    def __init__(
        self, data: ChartData, view: ChartView, prepared: Plan, y_range: tuple[float, float], width: int, height: int
    ) -> None:
        self.data, self.view, self.plan, self.y_range = data, view, prepared, y_range
        self.has_ladder = bool(data.checkpoints) and height >= LADDER_FROM
        self.height = height - 1 - self.has_ladder
        make = log_ticks if prepared.log else ticks
        self.y_ticks = [(row, tick) for tick in make(*y_range, max(1, self.height // 2)) for row in self._rows(tick.at)]
        self.left = 1 + max((len(tick.label) for _, tick in self.y_ticks), default=0)
        self.width = width - self.left
        self.rows: Rows = [[BLANK] * width for _ in range(height)]

    def drawing(self) -> Drawing:
        self._axes()
        named = self._references()
        self._lines()
        self._points()
        self._marks()
        self._ladder()
        self._crosshair()
        self._letters()
        for row, name in named:
            self._name(row, name)
        return Drawing(self.rows, self.plan, self.left, self.width)

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
        for offset, sign in enumerate(text):
            if 0 <= column + offset < len(self.rows[row]):
                self.rows[row][column + offset] = Cell(sign, style)

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

    def _references(self) -> list[tuple[int, str]]:
        named = []
        for reference in self.data.references:
            value = self.plan.scale(reference.value)
            if not math.isfinite(value):
                continue
            name = f" {reference.name} {number(reference.value)}"
            places = self._rows(value)
            for row in places:
                self._put(row, self.left, ("┄ " * self.width)[: self.width], "reference")
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
            if all(cell.style in ("", "reference") for cell in self.rows[row][start : start + len(name)]):
                self._put(row, start, name, "reference")
                return

    def _lines(self) -> None:
        strokes: list[Stroke] = []
        styles: list[str] = []
        for kind in ("raw", "series") if self.view.weight > 0 else ("series",):
            for item in self.plan.curves:
                if kind == "raw" and len(self.plan.curves) > MOST_RAW and not item.curve.bold:
                    continue
                y = item.raw if kind == "raw" else item.front
                for piece_x, piece_y in pieces(*cut(item.x, y, *self.plan.x_range)):
                    strokes.append(Stroke(*decimate(piece_x, piece_y, self.width), len(styles)))
                styles.append(style_of(kind, item))
        for row, cells in enumerate(rasterize(strokes, self.width, self.height, self.plan.x_range, self.y_range)):
            for column, cell in enumerate(cells):
                if cell is not None:
                    self.rows[row][self.left + column] = Cell(cell[0], styles[cell[1]])

    def _points(self) -> None:
        for item in self.plan.curves:
            finite = np.flatnonzero(np.isfinite(item.front))
            if len(finite) == 1:  # one point makes no line
                x, value = float(item.x[finite[0]]), float(item.front[finite[0]])
                text = f"● {number(self.plan.unscale(value))} {item.curve.letter}".rstrip()
                self._dot(x, value, text, style_of("letter", item))
        for point in self.data.points:
            self._dot(self.plan.x_of(point.steps), self.plan.scale(point.value), "•", "point")

    def _dot(self, x: float, value: float, text: str, style: str) -> None:
        for row in self._rows(value):
            for column in self._columns(x):
                self._put(row, min(column, self.left + self.width - len(text)), text, style)

    def _marks(self) -> None:
        for x in self.plan.not_finite:
            for column in self._columns(x):
                self._put(self.height - 1, column, "×", "bad")
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
        chosen = checkpoint_at(self.data, self.view.cursor)
        if chosen is not None:
            for column in self._columns(self.plan.x_of(chosen)):
                self._put(self.height + 1, column, "▲", "cursor")

    def _crosshair(self) -> None:
        if self.view.cursor is None:
            return
        for column in self._columns(self.plan.x_of(self.view.cursor)):
            for row in range(self.height):
                if self.rows[row][column].sign in " ┄":
                    self._put(row, column, "┊", "cursor")

    def _letters(self) -> None:
        for item in reversed(self.plan.curves):
            shown = np.flatnonzero(np.isfinite(item.front) & (item.x <= self.plan.x_range[1]))
            if not item.curve.letter or len(shown) < 2:
                continue
            for row in self._rows(float(item.front[shown[-1]])):
                for column in self._columns(float(item.x[shown[-1]])):
                    self._letter(item, row, min(column + 1, self.left + self.width - 1))

    def _letter(self, item: Prepared, row: int, column: int) -> None:
        for near in (row, row - 1, row + 1, row - 2, row + 2):
            if 0 <= near < self.height and not self.rows[near][column].style.startswith("letter"):
                self._put(near, column, item.curve.letter, style_of("letter", item))
                return


def style_of(kind: str, item: Prepared) -> str:
    """Return the name of a curve's style: its slot, or muted; the one in front is bold."""
    slot = "muted" if item.curve.slot is None else str(item.curve.slot)
    return f"{kind}-{slot}{'-bold' if item.curve.bold and kind != 'raw' else ''}"


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


def _sentence(text: str, width: int, height: int) -> Rows:
    """A sentence in the middle of nothing, wrapped at words."""
    lines: list[str] = [""]
    for word in text.split():
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


def _small(prepared: Plan, width: int, height: int) -> Rows:
    """A line a curve: sparkline, last value, arrow."""
    rows: Rows = [[BLANK] * width for _ in range(height)]
    for row, item in zip(rows, reversed(prepared.curves), strict=False):
        finite = item.front[np.isfinite(item.front)]
        if not len(finite):
            continue
        words = f" {number(prepared.unscale(float(finite[-1])))} {trend(finite)}"
        text = (f"{item.curve.letter} " if item.curve.letter else "") + sparkline(
            finite, max(4, width - len(words) - 2)
        )
        for column, sign in enumerate((text + words)[:width]):
            row[column] = Cell(sign, style_of("series", item))
    return rows
