"""The screen of a group of seeds: what its runs say together, each of them, and what they were asked to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from textual.pilot import Pilot

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench.project import Project
from workbench.runs import EventWriter, RunDirectory, RunState, StateFile
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.compare import CompareScreen
from workbench.ui.screens.ended import EndedCard
from workbench.ui.screens.run import RunScreen
from workbench.ui.screens.seeds import SeedsScreen
from workbench.ui.widgets.chart import Chart

TOPS = {1: 500.0, 2: 700.0, 3: 1200.0}
"""What each seed reaches."""


def seeds(project: Project, **changes: Any) -> list[RunDirectory]:
    """Three runs of one launch, 40 points each, which climb to what they reach."""
    made = []
    for seed, top in TOPS.items():
        spec = {
            "env_id": "workbench/CartPole-v0", "algorithm": "ppo", "seed": seed, "total_steps": 1_000_000,
            "ppo": {"learning_rate": 0.001, "gamma": 0.98}, **changes,
        }  # fmt: skip
        run = fakes.fake_run(project, "cart_pole", f"7f3{seed}", spec=spec, seed=seed, group="g1")
        with EventWriter(run.events_path) as stream:
            for place in range(1, 41):
                values = {
                    "rollout/ep_rew_mean": top * place / 40,
                    "rollout/ep_len_mean": 10.0 * place,
                    "reward/upright_sum": 5.0 * place,
                    "terminated/pole_angle": 3.0,
                    "truncated/time_limit": 1.0,
                    "train/value_loss": 100.0 / place,
                }
                at = {"wall_s": place * 1.0, "episodes": place * 4, "iteration": place}
                stream.append("metrics", steps=place * 20_000, values=values, **at)
        made.append(run)
    return made


async def opened(pilot: Pilot[None], settle: Settle) -> SeedsScreen:
    await settle(pilot)
    await pilot.press("2", "enter")
    await settle(pilot)
    await settle(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, SeedsScreen)
    return screen


async def test_enter_opens_a_group_and_the_arrows_fold_it(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    seeds(project)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await pilot.press("2", "l")
        await settle(pilot)
        assert "7f33" in seen.text(app)
        await pilot.press("h")
        await settle(pilot)
        assert "7f33" not in seen.text(app)
        screen = await opened(pilot, settle)
        assert "cart_pole ×3" in seen.lines(app)[1] and "seeds 1 2 3" in seen.lines(app)[1]
        # Of three runs none is left out: the mean of 500, 700 and 1 200.
        assert "return IQM 800 (500…1 200)" in seen.lines(app)[3]
        await pilot.press("escape")
        assert app.screen is not screen


async def test_charts_have_the_band_and_each_seed_faintly(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    seeds(project)
    async with app.run_test(size=(160, 48)) as pilot:
        screen = await opened(pilot, settle)
        chart = screen.query_one("#chart-0", Chart)
        group = chart.data.groups[0]
        assert group.band is not None and len(group.members) == 3 and len(chart.plan.thin) == 3
        raw = chart.plan.curves[-1]
        assert raw.low is not None and raw.high is not None
        # Unsmoothed, the middle of the last step is the mean of the three.
        await pilot.press("s", "s")
        await settle(pilot)
        assert screen.chart_view.weight == 0
        band = chart.data.groups[0].band
        assert band is not None and np.isclose(band.iqm[-1], np.mean(list(TOPS.values())))
        titles = [chart.data.title for chart in screen.charts()]
        assert titles[:3] == ["return", "length", "upright, an episode"]
        shares = next(chart.data for chart in screen.charts() if chart.data.metric == "terminated/pole_angle")
        assert shares.groups[0].members[0].values[-1] == 75.0


async def test_the_run_under_the_cursor_stands_out_and_opens(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    runs = seeds(project)
    async with app.run_test(size=(160, 48)) as pilot:
        screen = await opened(pilot, settle)
        screen.table.focus()
        await pilot.press("j")
        await settle(pilot)
        assert screen.current is not None and screen.current.path == runs[1].path
        assert [row.path for row in screen.chosen] == [runs[1].path]
        alone = screen.query_one("#chart-0", Chart).data.curves
        assert [(curve.label, curve.letter) for curve in alone] == [("7f32", "2")]
        assert seen.line_with(app, "7f32").count("2") and "▌" in seen.line_with(app, "├ 7f32")
        screen.query_one("#chart-0").focus()
        await pilot.pause()
        assert len(screen.chosen) == 3
        screen.table.focus()
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, RunScreen) and app.screen.path == runs[1].path


async def test_settings_say_what_is_common_and_what_differs(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    seeds(project)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await opened(pilot, settle)
        await pilot.press("i")
        await settle(pilot)
        assert "≠ seed  1  2  3" in seen.text(app)
        assert "settings in common" in seen.text(app)
        # The recipe of the shipped cart pole has another discount.
        assert "ppo.gamma" in seen.text(app)
        await pilot.press("c")
        await settle(pilot)
        assert isinstance(app.screen, CompareScreen) and len(app.screen.columns) == 3
        assert screen.is_attached


@pytest.mark.parametrize("size", [(80, 24), (130, 40), (200, 50)])
async def test_pages_turn_through_charts_and_texts(
    project: Project, app: WorkbenchApp, settle: Settle, size: tuple[int, int]
) -> None:
    seeds(project)
    async with app.run_test(size=size) as pilot:
        screen = await opened(pilot, settle)
        first = [chart.data.metric for chart in screen.charts()]
        sections = []
        for _ in range(12):
            await pilot.press("full_stop")
            await settle(pilot)
            sections.append(screen._section)
        if size[0] == 80:
            assert {"Terms", "Endings", "Losses", "Seeds", "Config"} <= set(sections)
        assert first[0] == "rollout/ep_rew_mean"


async def test_a_group_whose_folders_are_gone_says_so(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    runs = seeds(project)
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, settle)
        for run in runs:
            run.path.rename(project.root / run.name)
        await settle(pilot)
        assert "The folders of these runs are gone" in seen.text(app)


async def test_a_seed_that_ended_badly_shows_why_first(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    runs = seeds(project)
    StateFile(runs[0].state_path).write(RunState.FAILED, reason="loss not finite")
    async with app.run_test(size=(160, 48)) as pilot:
        screen = await opened(pilot, settle)
        screen.table.focus()
        await pilot.press("g", "enter")
        await settle(pilot)
        assert isinstance(app.screen, EndedCard)
        await pilot.press("escape")
        assert app.screen is screen
