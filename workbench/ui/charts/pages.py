"""Which charts a run's pages hold: in a fixed order, as many a page as are still worth looking at, and a filter.

Pure: a screen keeps a `Pages` value, replaces it on a key, and remembers its filter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.ui.charts.model import ChartData

LEAST_WIDTH, LEAST_HEIGHT = 36, 8
"""Of a chart on a page, its frame included."""

_ORDER = (
    "rollout/ep_rew_mean",
    "rollout/ep_len_mean",
    "eval/",
    "reward/",
    "terminated/",
    "truncated/",
    "train/",
    "time/",
    "timings/",
)
"""The beginnings of names, first things first; the rest comes by name."""


@dataclass(frozen=True)
class Grid:
    """How many charts stand beside and above each other."""

    columns: int
    rows: int

    @property
    def room(self) -> int:
        """How many there are."""
        return self.columns * self.rows


def fitting(width: int, height: int, count: int | None = None) -> Grid:
    """Return how many charts fit into `height` rows of `width` cells, at least one.

    Args:
        width: Cells.
        height: Rows.
        count: How many there are to show: no more columns and rows are made than those need.
    """
    columns, rows = max(1, width // LEAST_WIDTH), max(1, height // LEAST_HEIGHT)
    if count is None:
        return Grid(columns, rows)
    columns = min(columns, max(1, count))
    return Grid(columns, min(rows, max(1, -(-count // columns))))


def in_order(names: Sequence[str]) -> list[str]:
    """Return metrics as pages hold them: return, length, evaluation, terms, endings, losses, time, the rest by name."""

    def place(name: str) -> tuple[int, str]:
        found = (index for index, start in enumerate(_ORDER) if name.startswith(start))
        return next(found, len(_ORDER)), name

    return sorted(names, key=place)


def filter_fault(pattern: str) -> str | None:
    """Return why a pattern is no regular expression; nothing where it is one."""
    try:
        re.compile(pattern)
    except re.error as error:
        where = "" if error.pos is None else f" at {error.pos + 1}"
        return f"{error.msg}{where}"
    return None


def matching(charts: Sequence[ChartData], pattern: str) -> list[ChartData]:
    """Return the charts whose metric, title or curve has a regular expression in it, whatever the case.

    A pattern that is none is looked for letter by letter, so that a filter may be half typed.
    """
    if not pattern:
        return list(charts)
    wanted = re.compile(pattern if filter_fault(pattern) is None else re.escape(pattern), re.IGNORECASE)
    return [
        chart
        for chart in charts
        if any(wanted.search(text) for text in (chart.metric, chart.title, *(curve.key for curve in chart.curves)))
    ]


@dataclass(frozen=True, eq=False)
class Pages:
    """The pages of a run's charts."""

    charts: tuple[ChartData, ...]
    """All of them, in order."""
    grid: Grid
    pattern: str = ""
    """A regular expression; only charts that match are shown."""
    number: int = 0
    """The page that is shown, from 0; one beyond the last counts as that."""

    @property
    def shown(self) -> list[ChartData]:
        """Those that match, on all pages."""
        return matching(self.charts, self.pattern)

    @property
    def count(self) -> int:
        """How many pages there are, at least one."""
        return max(1, -(-len(self.shown) // self.grid.room))

    @property
    def page(self) -> list[ChartData]:
        """The charts of the page that is shown."""
        start = self._place * self.grid.room
        return self.shown[start : start + self.grid.room]

    @property
    def caption(self) -> str:
        """How many of them are seen: `6 of 31 charts · page 1 of 6 · / kl|loss`."""
        parts = [f"{len(self.page)} of {len(self.charts)} charts"]
        parts += [f"page {self._place + 1} of {self.count}"] if self.count > 1 else []
        return " · ".join([*parts, *([f"/ {self.pattern}"] if self.pattern else [])])

    @property
    def empty(self) -> str:
        """Why there is no chart to see; nothing where there is one."""
        if self.page:
            return ""
        return f"No chart matches {self.pattern}; {len(self.charts)} are hidden. esc clears."

    def turned(self, by: int) -> Pages:
        """Return the page `by` further on, round from the last to the first."""
        return replace(self, number=(self._place + by) % self.count)

    def filtered(self, pattern: str) -> Pages:
        """Return the first page of those that match."""
        return replace(self, pattern=pattern, number=0)

    def fitted(self, width: int, height: int) -> Pages:
        """Return the pages for another size: the first chart of this page stays on the one that is shown."""
        grid = fitting(width, height, len(self.shown))
        return replace(self, grid=grid, number=self._place * self.grid.room // grid.room)

    @property
    def _place(self) -> int:
        return min(self.number, self.count - 1)


def filter_name(algorithm: str) -> str:
    """Return the name a filter is remembered by: each algorithm has its own losses, so its own."""
    return f"filter {algorithm or 'any'}"
