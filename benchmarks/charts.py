"""Measures charts of a million points a curve, and the memory of one that is drawn again for half a day.

    python benchmarks/charts.py [--hours 12] [--points 1000000] [--no-file]

Writes the section "Charts" of `terminal.md`. Nothing else should run meanwhile; half a day takes some ten minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import psutil
from sections import TERMINAL, machine, replace_section, table
from textual.app import App, ComposeResult

from workbench.runs.series import Series
from workbench.ui.charts.model import ChartData, ChartView, Curve, XAxis
from workbench.ui.theme import DARK, THEMES
from workbench.ui.widgets.chart import Chart

CURVES, LIVE = 8, 4
"""Curves of the chart that is measured, and of the one that is drawn for half a day."""
REPEATS = 30
UPDATES_PER_S = 2
LIMIT_MS, LIMIT_MB = 60, 30


class Bare(App[None]):
    """One chart that fills the terminal."""

    def on_mount(self) -> None:
        """Take our colours."""
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK

    def compose(self) -> ComposeResult:
        """Yield the chart."""
        yield Chart(ChartData("return", "return"))


class Runs:
    """Curves that grow, as readers of run folders keep them."""

    def __init__(self, points: int, count: int = CURVES) -> None:
        rng = np.random.default_rng(0)
        self.series = [Series() for _ in range(count)]
        for series in self.series:
            values = np.cumsum(rng.normal(size=points)) + 20 * rng.normal(size=points)
            for place, value in enumerate(values.tolist()):
                self._append(series, place, value)
        self._rng = rng

    @staticmethod
    def _append(series: Series, place: int, value: float) -> None:
        series.append(value, steps=(place + 1) * 512, wall_s=place * 0.05, episodes=place // 4)

    def grow(self, run: int) -> None:
        """Add a point to one of them."""
        series = self.series[run % len(self.series)]
        self._append(series, len(series), float(self._rng.normal() * 20 + len(series) * 0.01))

    @property
    def data(self) -> ChartData:
        """The chart of them all, as now."""
        return ChartData(
            "return",
            "return",
            tuple(
                Curve(
                    str(place), f"run {place}", item.steps, item.wall_s, item.episodes, item.values,
                    "abcdefgh"[place], place, place == len(self.series) - 1,
                )
                for place, item in enumerate(self.series)
            ),
        )  # fmt: skip


def redraw(app: Bare, data: ChartData, view: ChartView) -> tuple[float, float]:
    """Show a chart and return how long the whole screen took: ms of CPU time, and by the clock."""
    chart = app.query_one(Chart)
    begun, cpu = time.perf_counter(), time.thread_time()
    chart.data, chart.view = data, view
    app.screen._compositor.render_strips()
    return 1000 * (time.thread_time() - cpu), 1000 * (time.perf_counter() - begun)


async def repaints(points: int) -> list[list[str]]:
    """Return rows of milliseconds."""
    runs, view = Runs(points), ChartView()
    app = Bare()
    rows: list[list[str]] = []

    def told(what: str, times: list[tuple[float, float]]) -> None:
        ordered = sorted(cpu for cpu, _ in times)
        worst = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
        figures = (statistics.median(ordered), worst, ordered[-1], statistics.median(clock for _, clock in times))
        rows.append([what, *(f"{figure:.1f}" for figure in figures)])

    async with app.run_test(size=(160, 48)) as pilot:
        await pilot.pause()

        def repeat(what: str, make: Callable[[int], tuple[ChartData, ChartView]]) -> None:
            told(what, [redraw(app, *make(place)) for place in range(REPEATS)])

        def grown(place: int) -> tuple[ChartData, ChartView]:
            for run in range(CURVES):
                runs.grow(run)
            return runs.data, view

        newest = points * 512.0
        told("first", [redraw(app, runs.data, view)])
        repeat("again, nothing new", lambda _: (runs.data, view))
        repeat("a new point on every curve", grown)
        repeat(
            "zoomed and moved",
            lambda place: (
                runs.data,
                replace(view, window=(newest * place / 40, newest * (place + 5) / 40), following=False),
            ),
        )
        repeat(
            "zoomed to 200 points",
            lambda place: (
                runs.data,
                replace(view, window=(512.0 * place * 900, 512.0 * (place * 900 + 200)), following=False),
            ),
        )
        data = runs.data
        repeat("crosshair moved", lambda place: (data, replace(view, cursor=512.0 * (place + 1) * 1000)))
        told("another smoothing, once", [redraw(app, data, replace(view, weight=0.97))])
        told("another x axis, once", [redraw(app, data, replace(view, x_axis=XAxis.WALL))])
    return rows


async def half_a_day(hours: float) -> tuple[int, float, float, float]:
    """Return updates, milliseconds of CPU time of one, and the memory at the start and its growth, in MB."""
    process, runs, view = psutil.Process(), Runs(10, LIVE), ChartView()
    app, updates = Bare(), int(hours * 3600 * UPDATES_PER_S)
    before, begun = 0.0, 0.0
    warm = 200
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        for update in range(warm + updates):
            if update == warm:
                gc.collect()
                before, begun = process.memory_info().rss / 1e6, time.thread_time()
            runs.grow(update)
            redraw(app, runs.data, view)
            if update % 50 == 0:
                await pilot.pause(0)
        mean = 1000 * (time.thread_time() - begun) / max(1, updates)
        gc.collect()
        return updates, mean, before, process.memory_info().rss / 1e6 - before


def main() -> None:
    """Measure, print, and write the section."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=12.0, help="how long the chart is drawn again, by its own clock")
    parser.add_argument("--points", type=int, default=1_000_000, help="of each of the eight curves")
    parser.add_argument("--no-file", action="store_true", help="only print")
    asked = parser.parse_args()
    updates, mean_ms, start_mb, grown_mb = asyncio.run(half_a_day(asked.hours))
    rows = asyncio.run(repaints(asked.points))
    about = (
        f"{CURVES} curves of {asked.points:,} points, smoothed, in a terminal of 160 by 48, {REPEATS} repaints each: "
        "milliseconds of CPU time from new data to the whole screen as strips, and by the clock beside it. "
        f"The target is {LIMIT_MS} ms after the first."
    )
    memory = (
        f"{asked.hours:g} hours of {UPDATES_PER_S} updates a second by a simulated clock, {updates:,} real redraws of "
        f"{LIVE} live curves that grow in turn, in a terminal of 80 by 24: {mean_ms:.1f} ms of CPU time each on "
        f"average; the memory grew by {grown_mb:.1f} MB from {start_mb:.0f} MB, the points included. "
        f"The target is {LIMIT_MB} MB."
    )
    times = table(["repaint", "median", "p95", "most", "median by the clock"], rows)
    made = f"Measured on {machine()}. `python benchmarks/charts.py`"
    text = "\n\n".join([about, times, memory, made])
    print(text)
    if not asked.no_file:
        replace_section(TERMINAL, "Charts", text)


if __name__ == "__main__":
    main()
