"""A run's own screen: sections, log, checkpoints, settings, and what its keys start."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench.project import Project
from workbench.runs import EventWriter, RunDirectory
from workbench.ui.app import WorkbenchApp
from workbench.ui.run_charts import Spec
from workbench.ui.run_head import head_lines
from workbench.ui.screens.run import RunScreen
from workbench.ui.widgets.chart import Chart
from workbench.ui.widgets.rows import RowTable

RISING = [float(value) for value in range(0, 1000, 50)]
EVALUATIONS: list[dict[str, Any]] = [
    {"kind": "evaluation", "steps": 500_000, "mean_return": 420.0, "std_return": 30.0, "returns": [1.0] * 10},
    {"kind": "evaluation", "steps": 1_000_000, "mean_return": 880.0, "std_return": 20.0, "returns": [1.0] * 10},
]


def checkpoints(run: RunDirectory, *steps: int, best: int | None = None) -> None:
    for place, count in enumerate(steps):
        folder = run.path / f"checkpoint_{count:012d}"
        folder.mkdir()
        (folder / "policy.json").write_bytes(b"x" * 1_400_000)
        written = fakes.NOW - 60 * (len(steps) - place)
        os.utime(folder / "policy.json", (written, written))
    run.set_latest(f"checkpoint_{steps[-1]:012d}")
    if best is not None:
        run.set_best(f"checkpoint_{best:012d}")


def full_run(project: Project, **changes: Any) -> RunDirectory:
    """A run with metrics of every section, evaluations and checkpoints."""
    fields: dict[str, Any] = {
        "returns": RISING,
        "events": EVALUATIONS,
        "total_steps": 1_000_000,
        "log": "iteration 1\nWARNING slow\niteration 2\n",
    }
    run = fakes.fake_run(project, "cart_pole", "7f3a", **{**fields, **changes})
    with EventWriter(run.events_path) as stream:
        for place in range(1, 21):
            values = {
                "rollout/ep_len_mean": 50.0 * place,
                "reward/upright_sum": 40.0 * place,
                "reward/ctrl_sum": -3.0,
                "terminated/pole_angle": 1 - place / 20,
                "truncated/time_limit": place / 20,
                "train/value_loss": 100 / place,
                "train/approx_kl": 0.01,
                "time/fps": 9800.0,
            }
            at = place * 50_000
            stream.append("metrics", steps=at, wall_s=at / 1e3, episodes=place, iteration=place, values=values)
    return run


async def opened(pilot: Pilot[None], settle: Settle, run: RunDirectory, section: str = "Return") -> RunScreen:
    await settle(pilot)
    screen = RunScreen(run.path, section)
    await pilot.app.push_screen(screen)
    await settle(pilot)
    await settle(pilot)
    return screen


@pytest.fixture
def played(app: WorkbenchApp, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the viewer was asked to play."""
    words: list[str] = []
    monkeypatch.setattr(app, "start_play", lambda asked, *rest, **more: words.append(" ".join(asked)))
    return words


def titles(screen: RunScreen) -> list[str]:
    return [chart.data.title for chart in screen.charts()]


async def test_enter_opens_the_run_under_the_cursor(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = full_run(project)
    async with app.run_test() as pilot:
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, RunScreen) and app.screen.path == run.path
        assert "cart_pole 7f3a" in seen.lines(app)[1]
        await pilot.press("escape")
        assert not isinstance(app.screen, RunScreen)


async def test_head_and_first_page_say_how_it_does(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = full_run(project)
    checkpoints(run, 0, 500_000, 1_000_000, best=1_000_000)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, run)
        head = "\n".join(seen.lines(app)[1:4])
        assert "● running" in head and "seed 1" in head and "1 M of 1 M" in head
        assert "return 950" in head and "880 ± 20 ◆ 1 M" in head
        assert titles(screen) == ["return · • evaluation", "length"]
        assert seen.text(app).count("•") >= 2 and "◆" in seen.text(app)
        assert "iteration 2" in seen.text(app)


async def test_sections_are_gone_through_by_comma_and_stop(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = full_run(project)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, run)
        visited = []
        for _ in range(10):
            await pilot.press("full_stop")
            visited.append(screen._section)
        assert [name for place, name in enumerate(visited) if name not in visited[:place]] == [
            "Terms", "Endings", "Losses", "System", "Log", "Config", "Checkpoints", "Events",
        ]  # fmt: skip
        await pilot.press("comma")
        assert screen._section != visited[-1]


async def test_terms_and_endings_are_drawn_together_with_a_legend(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = full_run(project)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, run, "Terms")
        first = screen.charts()[0].data
        assert [(curve.letter, curve.label) for curve in first.curves] == [("c", "ctrl"), ("u", "upright")]
        screen.show_section("Endings")
        first = screen.charts()[0].data
        assert [curve.label for curve in first.curves] == ["pole_angle", "time_limit"]


async def test_losses_that_have_not_begun_say_when_they_will(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    spec = {"env_id": "workbench/CartPole-v0", "algorithm": "sac", "seed": 1, "sac": {"learning_starts": 10_000}}
    run = fakes.fake_run(project, "cart_pole", "7f3a", algorithm="sac", spec=spec)
    async with app.run_test() as pilot:
        await opened(pilot, settle, run, "Losses")
        assert "Losses start after learning_starts, 10 000 steps." in seen.words(app)


async def test_the_log_follows_and_finds(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = full_run(project)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, run)
        await pilot.press("o")
        assert "WARNING slow" in seen.text(app) and "f following" in seen.text(app)
        with run.log_path.open("a") as log:
            log.writelines(f"iteration {number}\n" for number in range(3, 60))
        await settle(pilot)
        assert "iteration 59" in seen.text(app) and "iteration 3 " not in seen.text(app)
        await pilot.press("g")
        assert not screen.log_view.following
        await pilot.press("slash", *"iteration 4", "enter")
        assert "/ iteration 4  11 of 11" in seen.text(app)
        await pilot.press("comma")
        assert "/ iteration 4  10 of 11" in seen.text(app)
        await pilot.press("escape")
        assert app.screen is screen and not screen.log_view.is_finding
        await pilot.press("f")
        assert screen.log_view.following
        await pilot.press("h")
        assert screen.chart_view.cursor is None


async def test_the_log_is_not_read_twice_after_a_look_elsewhere(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = full_run(project)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, run)
        await pilot.press("1")
        await settle(pilot)
        await pilot.press("2")
        await settle(pilot)
        await settle(pilot)
        assert app.screen is screen
        assert screen.log_view.lines == ["iteration 1", "WARNING slow", "iteration 2"]


async def test_checkpoints_are_listed_watched_and_recorded(
    project: Project, app: WorkbenchApp, settle: Settle, played: list[str]
) -> None:
    run = full_run(project)
    checkpoints(run, 0, 500_000, 1_000_000, best=500_000)
    async with app.run_test() as pilot:
        await opened(pilot, settle, run)
        await pilot.press("w")
        row = seen.line_with(app, "500 000")
        assert "◆" in row and "420 ± 30 (10)" in row and "best" in row and "1.4 MB" in row and "2m" in row
        await pilot.press("j", "enter")
        await pilot.press("V", "ctrl+g")
        await settle(pilot)
        assert played == ["play 7f3a:500000"]
        assert app.launcher.commands == ["workbench record 7f3a:500000"]  # type: ignore[attr-defined]


async def test_a_point_on_a_curve_is_a_policy(
    project: Project, app: WorkbenchApp, settle: Settle, played: list[str]
) -> None:
    run = full_run(project)
    checkpoints(run, 0, 500_000, 1_000_000)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, run)
        await pilot.press("h", "h", "h")
        assert screen.chart_view.cursor == 900_000
        await pilot.press("enter")
        await pilot.press("left_square_bracket", "left_square_bracket", "enter")
        assert played == ["play 7f3a:500000", "play 7f3a:0"]


async def test_an_event_leads_to_its_step(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = full_run(project)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, run)
        await pilot.press("e")
        assert "evaluation 880 ± 20" in seen.text(app)
        await pilot.press("j", "enter")
        assert screen._section == "Return" and screen.chart_view.cursor == 500_000


async def test_settings_show_what_differs_from_the_recipe(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    spec = {
        "env_id": "workbench/CartPole-v0", "algorithm": "ppo", "seed": 1, "total_steps": 1_000_000, "n_envs": 32,
        "ppo": {"learning_rate": 0.01, "n_steps": 64, "batch_size": 256}, "sac": {"learning_rate": 5.0},
    }  # fmt: skip
    run = full_run(project, spec=spec)
    async with app.run_test() as pilot:
        await opened(pilot, settle, run)
        await pilot.press("i")
        await settle(pilot)
        shown = seen.text(app)
        assert "1 of 8 differ from cart_pole_env.train.json" in shown
        assert "0.01   recipe 0.001" in shown and "ppo.n_steps" not in shown
        await pilot.press("d")
        assert "ppo.n_steps" in seen.text(app) and "sac" not in seen.text(app)


async def test_smoothing_and_log_act_on_every_chart_and_only_those_seen_are_drawn(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = full_run(project)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, run)
        await pilot.press("s")
        assert {chart.view.weight for chart in screen.query(Chart)} == {0.97}
        assert {chart.display for chart in screen.query(Chart) if chart.drawn} == {True}
        drawn = [chart.drawn for chart in screen.charts()]
        await settle(pilot)
        assert [chart.drawn for chart in screen.charts()] == drawn


async def test_a_wide_terminal_shows_charts_beside_texts(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = full_run(project)
    checkpoints(run, 0, 500_000)
    async with app.run_test(size=(160, 48)) as pilot:
        screen = await opened(pilot, settle, run)
        assert titles(screen)[:4] == ["return · • evaluation", "length", "evaluation", "reward terms, an episode"]
        assert "Evaluation (n)" in seen.text(app) and "6 of 12 charts, page 1 of 2" in seen.text(app)
        await pilot.press("o")
        assert "WARNING slow" in seen.text(app) and len(titles(screen)) == 6
        assert screen.query_one("#charts").display


async def test_the_page_stays_one_there_is_when_the_terminal_grows(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = full_run(project)
    with EventWriter(run.events_path) as stream:
        values = {f"train/extra_{place}": 1.0 for place in range(10)}
        stream.append("metrics", steps=1_000_001, wall_s=1001.0, episodes=21, iteration=21, values=values)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, run, "Losses")
        for _ in range(5):
            await pilot.press("full_stop")
        assert screen._section == "Losses" and screen._number == 5
        first = titles(screen)[0]
        await pilot.resize_terminal(200, 50)
        await settle(pilot)
        assert first in titles(screen) and "of 22 charts" in seen.text(app)
        await pilot.resize_terminal(20, 5)
        await settle(pilot)
        assert "workbench needs" in seen.words(app)
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert titles(screen)[0] == first


async def test_the_footer_offers_what_a_section_can_do(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = full_run(project)
    checkpoints(run, 0, 500_000)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, run)
        assert "s Smooth" in seen.lines(app)[-1]
        await pilot.press("o")
        await settle(pilot)
        assert "f Follow" in seen.lines(app)[-1] and "Smooth" not in seen.lines(app)[-1]
        assert screen.can("open.selected") is None and screen.can("chart.smoothing") is None
        await pilot.press("w")
        await settle(pilot)
        assert "enter Watch" in seen.lines(app)[-1] and "Smooth" not in seen.lines(app)[-1]


async def test_the_bar_gives_way_to_how_long_it_takes(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = full_run(project, total_steps=50_000_000)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, run)
        assert screen.current is not None
        row = replace(screen.current, eta_s=24_000.0, eta_is_bound=True, steps_per_s=2050.0)
        line = str(head_lines(row, (), Spec(), 78, plain=False, short=True)).splitlines()[1]
        assert line.replace("\u00a0", " ").endswith("left at most") and len(line) <= 78


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (200, 60)])
async def test_every_section_fits_every_size(
    project: Project, app: WorkbenchApp, settle: Settle, size: tuple[int, int]
) -> None:
    run = full_run(project)
    async with app.run_test(size=size) as pilot:
        screen = await opened(pilot, settle, run)
        for name in ("Terms", "Endings", "Losses", "System", "Log", "Config", "Checkpoints", "Events"):
            screen.show_section(name)
            await pilot.pause()
            assert name in seen.text(app)


async def test_a_run_taken_from_disk_says_so(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = full_run(project)
    async with app.run_test() as pilot:
        await opened(pilot, settle, run)
        run.path.rename(project.root / "elsewhere")
        await settle(pilot)
        assert "is gone. esc goes back." in seen.words(app)


async def test_a_folder_without_anything_opens(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = fakes.fake_run(project, "ant", "0001")
    run.spec_path.unlink()
    run.state_path.unlink()
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, run)
        for name in ("Terms", "Log", "Config", "Checkpoints", "Events"):
            screen.show_section(name)
            await pilot.pause()
        assert not screen.query_one("#Checkpoints", RowTable).rows


async def test_v_on_an_anomaly_plays_the_states_that_were_saved_of_it(
    project: Project, app: WorkbenchApp, settle: Settle, played: list[str]
) -> None:
    window = "anomalies/000000700000_observation_explosion.npz"
    saved = {"what": "observation_explosion", "message": "an angle is 1e9", "window": window}
    run = full_run(
        project,
        events=[
            {"kind": "anomaly", "steps": 600_000, "what": "reward_collapse", "message": "the return fell"},
            {"kind": "anomaly", "steps": 700_000, "window_holds": "states", **saved},
        ],
    )
    checkpoints(run, 500_000)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, settle, run, "Events")
        assert "v plays the saved steps" in seen.text(app)
        await pilot.press("v", "j")
        await pilot.pause()
        assert "v plays the saved steps" not in seen.text(app)
        await pilot.press("v")
        assert played == ["play 7f3a:anomaly:700000", "play 7f3a:500000"]
