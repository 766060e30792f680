"""The keys and the mouse on charts: what is done to one holds for all of a screen."""

from __future__ import annotations

import numpy as np
import pytest
from textual.app import ComposeResult
from textual.pilot import Pilot

from tests.ui import fakes, seen
from workbench.project import Project
from workbench.ui.app import WorkbenchApp
from workbench.ui.charting import ChartedScreen
from workbench.ui.charts.model import ChartData, Curve, Ladder, SeedView
from workbench.ui.commands import bindings_for
from workbench.ui.widgets.chart import Chart

STEPS = np.arange(1, 101) * 1000.0
LADDER = (Ladder(20_000), Ladder(50_000))


def data(metric: str, values: np.ndarray) -> ChartData:
    curve = Curve(metric, metric, STEPS, STEPS / 100, STEPS / 50, values, "", 0, True)
    return ChartData(metric, metric, (curve,), checkpoints=LADDER)


class TwoCharts(ChartedScreen):
    NAME = "run"
    PLACE = "runs"
    BINDINGS = bindings_for("run")

    def compose_body(self) -> ComposeResult:
        yield Chart(data("return", STEPS / 10), id="one")
        yield Chart(data("loss", -STEPS), id="two")

    def undo_layer(self) -> bool:
        return self.drop_crosshair()


@pytest.fixture
def screen() -> TwoCharts:
    return TwoCharts()


async def opened(pilot: Pilot[None], screen: TwoCharts) -> None:
    await pilot.app.push_screen(screen)
    await pilot.pause()


@pytest.fixture
def charted(project: Project) -> WorkbenchApp:
    return fakes.make_app(project)


async def test_hovering_shows_the_crosshair_everywhere_and_a_click_keeps_it(
    charted: WorkbenchApp, screen: TwoCharts
) -> None:
    async with charted.run_test(size=(80, 30)) as pilot:
        await opened(pilot, screen)
        await pilot.hover("#one", offset=(40, 4))
        await pilot.pause()
        assert seen.text(charted).count("at 4") == 2 and screen.chart_view.cursor is None
        assert screen.crosshair_checkpoint() == 20_000
        await pilot.click("#two", offset=(60, 4))
        await pilot.hover("#one", offset=(20, 4))
        await pilot.pause()
        assert screen.chart_view.at == screen.chart_view.cursor == pytest.approx(70_000, rel=0.1)
        assert screen.crosshair_checkpoint() == 50_000
        await pilot.press("escape")
        assert screen.chart_view.cursor is None and screen.is_current
        await pilot.hover("#one", offset=(0, 0))
        await pilot.pause()
        assert screen.chart_view.at is None and "┊" not in seen.text(charted)


async def test_the_pointer_is_forgotten_on_another_screen(charted: WorkbenchApp, screen: TwoCharts) -> None:
    async with charted.run_test(size=(80, 30)) as pilot:
        await opened(pilot, screen)
        await pilot.hover("#one", offset=(40, 4))
        await pilot.pause()
        assert screen.chart_view.hovered is not None
        await opened(pilot, TwoCharts())
        assert screen.chart_view.hovered is None


async def test_zoom_and_pan_hold_for_all_charts_until_everything_is_asked_for(
    charted: WorkbenchApp, screen: TwoCharts
) -> None:
    async with charted.run_test(size=(80, 30)) as pilot:
        await opened(pilot, screen)
        await pilot.press("plus", "plus", "left_curly_bracket")
        ranges = {chart.plan.x_range for chart in screen.charts()}
        assert ranges == {(62_500, 87_500)} and seen.text(charted).count("f held") == 2
        await pilot.press("f")
        await pilot.pause()
        assert {chart.plan.x_range for chart in screen.charts()} == {(75_000, 100_000)}
        assert seen.text(charted).count("f following") == 2
        one = screen.query_one("#one", Chart)
        screen.post_message(Chart.AxisDoubleClicked(one))
        await pilot.pause()
        assert screen.chart_view.window is None


async def test_a_logarithm_of_nothing_positive_is_refused_with_the_reason(
    charted: WorkbenchApp, screen: TwoCharts
) -> None:
    async with charted.run_test(size=(80, 30)) as pilot:
        await opened(pilot, screen)
        screen.query_one("#two").focus()
        await pilot.press("y")
        assert screen.chart_view.log == frozenset()
        assert "loss: log y needs a value above 0" in seen.notices(charted)
        screen.query_one("#one").focus()
        await pilot.press("y")
        assert screen.chart_view.log == {"return"}


async def test_how_charts_are_looked_at_is_remembered(charted: WorkbenchApp, screen: TwoCharts) -> None:
    async with charted.run_test(size=(80, 30)) as pilot:
        await opened(pilot, screen)
        top = seen.lines(charted)[screen.query_one("#one").region.y]
        await pilot.click("#one", offset=(top.index("smooth"), 0))
        await pilot.press("b", "b", "x")
        await pilot.pause()
        again = TwoCharts()
        await opened(pilot, again)
        assert again.chart_view.seeds is SeedView.LINES and again.chart_view.weight == 0.97
        assert again.chart_view.x_axis == "wall time"
        again.toggle_numbers()
        await pilot.pause()
        assert seen.braille(charted) == 0 and all(chart.view.numbers for chart in again.charts())
