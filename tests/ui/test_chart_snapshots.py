"""Pictures of charts: dark and light, small and large, in plain signs and without colours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from textual.app import App, ComposeResult
from textual.containers import Grid

from workbench.runs.statistics import seed_band
from workbench.ui.charts.model import (
    ChartData,
    ChartView,
    Curve,
    Flag,
    Group,
    Ladder,
    Point,
    Reference,
    SeedView,
    XAxis,
)
from workbench.ui.theme import DARK, LIGHT, THEMES
from workbench.ui.widgets.chart import Chart

Compare = Callable[..., bool]

SMALL, LARGE = (80, 24), (160, 48)
NAMES = ("7f3a", "1c08", "e5d2", "b19e", "63f1", "2b60", "40ac", "0b72", "9d77", "d411")


def climbing(place: int, *, top: float, count: int = 400, end: float = 9.15e6, **more: object) -> Curve:
    """A curve that climbs and wobbles, the same on every machine."""
    share = np.arange(1, count + 1) / count
    wobble = np.sin(np.arange(count) * (1.7 + 0.3 * place)) + np.sin(np.arange(count) * 0.37 * (place + 1))
    values = top * (1 - np.exp(-3 * share)) + 0.04 * top * wobble
    steps = share * end
    curve = Curve(NAMES[place], f"ant {NAMES[place]}", steps, steps / 9800, steps / 900, values)
    return replace(curve, **more)  # type: ignore[arg-type]


LADDER = tuple(Ladder(place * 1_000_000, {8: "◆", 5: "*"}.get(place, "◇")) for place in range(10))
GOAL = Reference(2000, "goal")


def overlay() -> ChartData:
    """Ten runs, two of them without a colour left, the last one in front."""
    curves = tuple(
        climbing(
            place, top=600 + 170 * place, end=(5 + 0.4 * place) * 1e6, letter="abcdefghij"[place],
            slot=place if place < 8 else None, bold=place == 7,
        )
        for place in range(10)
    )  # fmt: skip
    return ChartData("return", "return", curves, (GOAL,), note="+2 in grey")


def band() -> ChartData:
    """A group of three seeds, one of them not as far, with all that a chart of returns has besides."""
    members = tuple(
        climbing(place, top=1500 + 130 * place, end=end) for place, end in enumerate((9.15e6, 9.0e6, 6.4e6))
    )
    together = seed_band([(item.steps, item.values) for item in members])
    group = Group("g", "ant ×3", members, "a", 0, True, together)
    recipe = Reference(1700, "reference", 96, 5, 9.8e6, "recipe", compared=True)
    return ChartData(
        "return", "return", references=(GOAL, recipe), groups=(group,), checkpoints=LADDER,
        flags=(Flag(2e6, "C"), Flag(4e6, "P"), Flag(4.1e6, "R"), Flag(7.11e6, "!")), playing=5_000_000,
        points=tuple(Point(place * 1e6, 190.0 * place, 74.0) for place in range(1, 9)),
    )  # fmt: skip


def forked() -> ChartData:
    """A run that was forked, paused, and has values that are no numbers."""
    parent = climbing(0, top=900, end=4e6)
    child = climbing(
        1, top=700, letter="b", slot=3, bold=True, parent=parent,
    )  # fmt: skip
    values = child.values.copy() + 500
    values[200:230] = np.nan
    steps = 4e6 + child.steps * 0.5
    child = replace(child, steps=steps, wall_s=steps / 9800, values=values)
    return ChartData("return", "return", (child,), flags=(Flag(4e6, "F"),), checkpoints=LADDER[4:9])


def losses() -> list[ChartData]:
    """Small charts side by side: falling, of one point, of none, constant."""
    falling = climbing(0, top=1.0)
    falling = replace(falling, values=1000 * np.exp(-6 * falling.steps / 9.15e6) - 3, slot=0, bold=True)
    single = replace(falling, steps=falling.steps[:1], values=np.array([42.0]), wall_s=falling.wall_s[:1],
                     episodes=falling.episodes[:1])  # fmt: skip
    constant = replace(falling, values=np.full(400, 9800.0))
    return [
        ChartData("loss", "train/value_loss", (falling,)),
        ChartData("one", "train/one", (single,)),
        ChartData("none", "losses", (), empty="Losses start after learning_starts, 10\u00a0000 steps."),
        ChartData("constant", "time/fps", (constant,)),
    ]


class Charts(App[None]):
    """Charts in two columns, the first with the focus."""

    CSS = "Grid { grid-size: 2; }"

    def __init__(self, *charts: ChartData, view: ChartView, theme: str, plain: bool = False) -> None:
        super().__init__()
        self.plain = plain
        self._charts, self._view, self._wanted = charts, view, theme

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = self._wanted

    def compose(self) -> ComposeResult:
        if len(self._charts) == 1:
            yield Chart(self._charts[0], self._view)
        else:
            with Grid():
                for data in self._charts:
                    yield Chart(data, self._view)


VIEWS = {
    "overlay": (overlay, ChartView()),
    "band": (band, ChartView(cursor=7.5e6)),
    "range": (band, ChartView(seeds=SeedView.RANGE, window=(2e6, 8e6), following=False)),
    "lines": (band, ChartView(seeds=SeedView.LINES, weight=0.97)),
    "forked": (forked, ChartView(weight=0.6)),
    "wall": (forked, ChartView(x_axis=XAxis.WALL, cursor=7e6)),
}


@pytest.mark.parametrize(
    ("size", "theme"), [(SMALL, DARK), (SMALL, LIGHT), (LARGE, DARK)], ids=["dark", "light", "large"]
)
@pytest.mark.parametrize("name", ["overlay", "band"])
def test_main_charts(snap_compare: Compare, name: str, size: tuple[int, int], theme: str) -> None:
    make, view = VIEWS[name]
    assert snap_compare(Charts(make(), view=view, theme=theme), terminal_size=size)


@pytest.mark.parametrize("name", ["range", "lines", "forked", "wall"])
def test_other_ways_of_looking(snap_compare: Compare, name: str) -> None:
    make, view = VIEWS[name]
    assert snap_compare(Charts(make(), view=view, theme=DARK), terminal_size=SMALL)


@pytest.mark.parametrize("size", [SMALL, LARGE, (44, 8)], ids=["small", "large", "sparklines"])
def test_a_page_of_small_charts(snap_compare: Compare, size: tuple[int, int]) -> None:
    app = Charts(*losses(), view=ChartView(log=frozenset({"loss"})), theme=DARK)
    assert snap_compare(app, terminal_size=size)


def test_numbers(snap_compare: Compare) -> None:
    app = Charts(overlay(), view=ChartView(numbers=True), theme=LIGHT)
    assert snap_compare(app, terminal_size=SMALL)


def test_plain(snap_compare: Compare) -> None:
    assert snap_compare(Charts(band(), view=ChartView(), theme=DARK, plain=True), terminal_size=SMALL)


def test_without_colours(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(Charts(band(), view=ChartView(), theme=DARK), terminal_size=SMALL)
