"""The chart on the screen: when it draws, in which colours, and what a click means."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from textual import events, on
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot

from tests.ui import seen
from workbench.ui.charts.model import ChartData, ChartView, Curve, Ladder
from workbench.ui.theme import DARK, LIGHT, THEMES
from workbench.ui.widgets.chart import Chart

STEPS = np.arange(1, 101) * 1000.0
DATA = ChartData("m", "return", (Curve("run", "run", STEPS, STEPS, STEPS, STEPS / 10, "a", 0),))


class ChartApp(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.clicked: list[float] = []
        self.told: list[Chart.Told] = []

    def on_mount(self) -> None:
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK

    def compose(self) -> ComposeResult:
        yield Chart(DATA, id="chart")

    def on_chart_clicked(self, message: Chart.Clicked) -> None:
        self.clicked.append(message.x)

    @on(Chart.Hovered)
    @on(Chart.Zoomed)
    @on(Chart.Dragged)
    @on(Chart.AxisDoubleClicked)
    @on(Chart.CheckpointClicked)
    @on(Chart.SettingClicked)
    @on(Chart.TitleDoubleClicked)
    def _told(self, message: Chart.Told) -> None:
        self.told.append(message)

    def of(self, kind: type[Message]) -> list[Any]:
        return [message for message in self.told if type(message) is kind]


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


async def wheel(pilot: Pilot[None], kind: type[events.MouseScrollUp | events.MouseScrollDown], x: int, y: int) -> None:
    widget = chart(pilot.app)  # type: ignore[arg-type]
    widget.post_message(kind(widget, x, y, 0, 0, 0, False, False, False))
    await pilot.pause()


async def test_the_wheel_zooms_about_the_pointer(app: ChartApp) -> None:
    async with app.run_test(size=(80, 12)) as pilot:
        await wheel(pilot, events.MouseScrollUp, 40, 5)
        await wheel(pilot, events.MouseScrollDown, 40, 5)
        closer, away = app.of(Chart.Zoomed)
        assert closer.x == away.x == pytest.approx(45_000, rel=0.1)
        assert closer.factor == pytest.approx(1 / away.factor) and closer.factor > 1


async def test_dragging_moves_what_is_seen_and_is_no_click(app: ChartApp) -> None:
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.mouse_down("#chart", offset=(40, 5))
        await pilot.hover("#chart", offset=(50, 5))
        await pilot.hover("#chart", offset=(45, 5))
        await pilot.mouse_up("#chart", offset=(45, 5))
        await pilot.pause()
        width = chart(app)._draw().width
        assert sum(message.by for message in app.of(Chart.Dragged)) == pytest.approx(-5 * 100_000 / width)
        assert app.clicked == []
        await pilot.click("#chart", offset=(40, 5))
        assert len(app.clicked) == 1


async def test_the_pointer_over_the_plot_is_told_and_that_it_left(app: ChartApp) -> None:
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.hover("#chart", offset=(40, 5))
        await pilot.hover("#chart", offset=(0, 0))
        assert [message.x is None for message in app.of(Chart.Hovered)][-2:] == [False, True]


async def test_the_borders_and_the_axis_can_be_clicked(app: ChartApp) -> None:
    async with app.run_test(size=(80, 14)) as pilot:
        chart(app).data = replace(DATA, checkpoints=(Ladder(20_000), Ladder(50_000)))
        await pilot.pause()
        top, axis, ladder = seen.lines(app)[0], seen.lines(app)[11], seen.lines(app)[12]
        assert "└0" in axis and ladder.count("◇") == 2
        await pilot.click("#chart", offset=(top.index("smooth"), 0))
        await pilot.click("#chart", offset=(top.index("steps"), 0))
        assert [message.command for message in app.of(Chart.SettingClicked)] == ["chart.smoothing", "chart.x_axis"]
        await pilot.click("#chart", offset=(ladder.index("◇"), 12))
        assert [message.steps for message in app.of(Chart.CheckpointClicked)] == [20_000]
        await pilot.double_click("#chart", offset=(40, 11))
        await pilot.double_click("#chart", offset=(5, 0))
        assert len(app.of(Chart.AxisDoubleClicked)) == len(app.of(Chart.TitleDoubleClicked)) == 1
        assert app.clicked == []


async def test_moving_the_crosshair_draws_nothing_again(app: ChartApp) -> None:
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.pause()
        before = chart(app).drawn
        for steps in (20_000, 60_000):
            chart(app).view = ChartView(hovered=steps)
            await pilot.pause()
            assert seen.text(app).count("┊") >= 6 and f"at {steps // 1000} k" in seen.text(app)
        chart(app).view = ChartView()
        await pilot.pause()
        assert "┊" not in seen.text(app) and chart(app).drawn == before


async def test_numbers_take_the_place_of_the_drawing(app: ChartApp) -> None:
    async with app.run_test(size=(80, 12)) as pilot:
        chart(app).view = ChartView(weight=0, numbers=True)
        await pilot.pause()
        assert seen.braille(app) == 0 and "10 000" in seen.text(app)


async def test_the_smallest_terminals_do_no_harm(app: ChartApp) -> None:
    async with app.run_test(size=(80, 12)) as pilot:
        for size in ((1, 1), (2, 2), (10, 3), (30, 6)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
        assert "return" in seen.text(app)
