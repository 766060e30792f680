"""The chart on the screen: when it draws, in which colours, and what a click means."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from textual.app import App, ComposeResult

from tests.ui import seen
from workbench.ui.charts.model import ChartData, ChartView, Curve
from workbench.ui.theme import DARK, LIGHT, THEMES
from workbench.ui.widgets.chart import Chart

STEPS = np.arange(1, 101) * 1000.0
DATA = ChartData("m", "return", (Curve("run", "run", STEPS, STEPS, STEPS, STEPS / 10, "a", 0),))


class ChartApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.clicked: list[float] = []

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK

    def compose(self) -> ComposeResult:
        yield Chart(DATA, id="chart")

    def on_chart_clicked(self, message: Chart.Clicked) -> None:
        self.clicked.append(message.x)


@pytest.fixture
def app() -> ChartApp:
    return ChartApp()


def chart(app: ChartApp) -> Chart:
    return app.query_one(Chart)


def colours(app: ChartApp) -> set[str]:
    return {
        segment.style.color.get_truecolor().hex
        for line in range(chart(app).size.height)
        for segment in chart(app).render_line(line)
        if segment.style and segment.style.color and any("\u2800" < sign <= "\u28ff" for sign in segment.text)
    }


async def test_title_settings_and_readout_stand_on_the_frame(app: ChartApp) -> None:
    async with app.run_test(size=(80, 12)):
        lines = seen.lines(app)
        assert lines[0].startswith("╭─ return ─") and lines[0].endswith("─ smooth 0.9 · steps ─╮")
        assert lines[-1].startswith("╰─ 100 k") and "a 9 100" in lines[-1]


async def test_what_has_not_changed_is_not_drawn_again(app: ChartApp) -> None:
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.pause()
        before = chart(app).drawn
        chart(app).data = DATA
        chart(app).view = ChartView()
        chart(app).refresh()
        await pilot.pause()
        assert chart(app).drawn == before
        chart(app).view = ChartView(weight=0)
        await pilot.pause()
        assert chart(app).drawn == before + 1


async def test_a_hidden_chart_is_not_drawn(app: ChartApp) -> None:
    async with app.run_test(size=(80, 12)) as pilot:
        chart(app).display = False
        await pilot.pause()
        before = chart(app).drawn
        for number in range(5):
            chart(app).data = replace(DATA, title=str(number))
        await pilot.pause()
        assert chart(app).drawn == before


async def test_a_change_of_theme_changes_the_colours_and_draws_nothing(app: ChartApp) -> None:
    async with app.run_test(size=(80, 12)) as pilot:
        dark, before = colours(app), chart(app).drawn
        assert "#5dcaff" in dark
        app.theme = LIGHT
        await pilot.pause()
        assert "#5786e9" in colours(app) and not colours(app) & dark
        assert chart(app).drawn == before


async def test_a_click_means_a_place_on_the_axis(app: ChartApp) -> None:
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.click("#chart", offset=(40, 5))
        await pilot.click("#chart", offset=(0, 5))
        assert len(app.clicked) == 1 and app.clicked[0] == pytest.approx(45_000, rel=0.1)


async def test_the_smallest_terminals_do_no_harm(app: ChartApp) -> None:
    async with app.run_test(size=(80, 12)) as pilot:
        for size in ((1, 1), (2, 2), (10, 3), (30, 6)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        assert "return" in seen.text(app)
