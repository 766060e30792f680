"""Runs beside each other: their numbers, settings, and what the keys do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench import durable
from workbench.project import Project
from workbench.runs import EventWriter, RunDirectory
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.compare import CompareScreen
from workbench.ui.screens.run import RunScreen
from workbench.ui.widgets.chart import Chart

GIT = {"revision": "4be1c07aaaa", "dirty": False}


def run_of(
    project: Project, short_id: str, algorithm: str, top: float, *, seed: int = 1, group: str | None = None, **more: Any
) -> RunDirectory:
    """A run whose return rises to `top` over 1 M steps, scored at 500 k and 1 M on ten episodes from seed 10000."""
    spec = {
        "env_id": "workbench/CartPole-v0", "algorithm": algorithm, "seed": seed, "total_steps": 1_000_000,
        "group": group, "n_envs": 32, algorithm: {"learning_rate": top / 1e6, "gamma": 0.99}, **more,
    }  # fmt: skip
    run = fakes.fake_run(
        project, "cart_pole", short_id, algorithm=algorithm, spec=spec, seed=seed, group=group, state="finished",
        reason="all steps done", started=fakes.NOW - 4000 - int(short_id, 16),
    )  # fmt: skip
    durable.write_json(run.spec_path, {**run.record(), "git": GIT})
    with EventWriter(run.events_path) as stream:
        for place in range(1, 21):
            values = {"rollout/ep_rew_mean": top * place / 20, "train/loss": 1.0 / place}
            stream.append("metrics", steps=place * 50_000, wall_s=place, episodes=place, iteration=place, values=values)
        for steps in (500_000, 1_000_000):
            returns = [top * steps / 1e6 + number for number in range(10)]
            stream.append(
                "evaluation", steps=steps, mean_return=sum(returns) / 10, std_return=2.9, returns=returns, seed=10_000
            )
    for steps in (500_000, 1_000_000):
        durable.write_json(run.path / f"checkpoint_{steps:012d}" / "policy.json", {"steps": steps})
    run.set_best("checkpoint_000001000000")
    run.set_latest("checkpoint_000001000000")
    return run


async def opened(pilot: Pilot[None], settle: Settle, *runs: RunDirectory) -> CompareScreen:
    await settle(pilot)
    app = pilot.app
    assert isinstance(app, WorkbenchApp)
    app.compare([run.path for run in runs])
    for _ in range(3):
        await settle(pilot)
    assert isinstance(app.screen, CompareScreen)
    return app.screen


async def test_two_runs_are_told_apart_by_numbers_and_settings(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    runs = run_of(project, "b19e", "ppo", 600), run_of(project, "d411", "sac", 900)
    async with app.run_test() as pilot:
        await opened(pilot, settle, *runs)
        assert "a cart_pole b19e PPO ✓" in seen.lines(app)[1] and "same seed 1" in seen.lines(app)[1]
        assert seen.line_with(app, "best evaluation").split()[3:] == ["604", "±", "2.9", "904", "±", "2.9", "+300", "│"]
        # The last of twenty equal steps, smoothed by 0.9: both curves are the same but for their height.
        common = seen.line_with(app, "(common)").split()
        assert common[1:4] == ["at", "1", "M"] and float(common[6]) / float(common[5]) == pytest.approx(1.5, abs=0.01)
        same = seen.line_with(app, "same 10 episodes")
        assert "+300" in same and "95 %: +300…+300" in same
        assert "config, 1 of 8 differ  learning_rate 0.0006│0.0009" in seen.text(app)


async def test_metrics_runs_and_settings_are_gone_through_by_keys(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    runs = run_of(project, "b19e", "ppo", 600), run_of(project, "d411", "ppo", 900)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, *runs)
        await pilot.press("full_stop")
        assert "╭─ train/loss" in seen.text(app)
        await pilot.press("comma")
        assert "╭─ return" in seen.text(app)
        assert screen.current is not None and screen.current.path == runs[0].path
        await pilot.press("j")
        assert screen.current.path == runs[1].path and "▌b" in seen.lines(app)[1]
        await pilot.press("k")
        assert screen.current.path == runs[0].path
        assert "learning_rate 0.0006│0.0009" in seen.text(app) and "ppo.gamma" not in seen.text(app)
        await pilot.press("d")
        await pilot.resize_terminal(120, 60)
        await settle(pilot)
        assert "ppo.gamma" in seen.text(app)
        await pilot.press("enter")
        assert isinstance(app.screen, RunScreen) and app.screen.path == runs[0].path


async def test_seeds_are_one_column_with_an_interval(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    ours = [run_of(project, f"a00{seed}", "ppo", 500 + 10 * seed, seed=seed, group="g1") for seed in (1, 2, 3)]
    theirs = [run_of(project, f"b00{seed}", "sac", 900 + 10 * seed, seed=seed, group="g2") for seed in (1, 2, 3)]
    async with app.run_test(size=(160, 48)) as pilot:
        screen = await opened(pilot, settle, *ours, *theirs)
        assert [len(side.rows) for side in screen.columns] == [3, 3]
        row = seen.line_with(app, "best evaluation")
        # Means of three: 524.5 and 924.5, for nothing is trimmed from three.
        assert "524" in row and "924" in row and "+400" in row and "95 %: +38" in row
        assert "same environment, seeds 1, 2, 3, same code 4be1c07" in seen.lines(app)[1]
        assert "band 95 % of 3 seeds" in seen.text(app)


async def test_seeds_of_one_group_are_compared_with_each_other(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    runs = [run_of(project, f"a00{seed}", "ppo", 500, seed=seed, group="g1") for seed in (1, 2)]
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, *runs)
        assert len(screen.columns) == 2 and "seeds 1, 2" in seen.lines(app)[1]


async def test_evaluating_asks_for_the_best_checkpoint_of_each(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, int | None]] = []

    def ask(run: RunDirectory, steps: int | None = None) -> str:
        asked.append((run.short_id, steps))
        return "1"

    monkeypatch.setattr("workbench.runs.steering.request_evaluation", ask)
    runs = run_of(project, "b19e", "ppo", 600), run_of(project, "d411", "sac", 900)
    async with app.run_test() as pilot:
        await opened(pilot, settle, *runs)
        await pilot.press("E")
        await settle(pilot)
        assert not asked
        await pilot.press("E")
        await settle(pilot)
        assert asked == [("b19e", 1_000_000), ("d411", 1_000_000)]


async def test_scores_on_new_episodes_take_the_place_of_claims(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    runs = run_of(project, "b19e", "ppo", 600), run_of(project, "d411", "sac", 900)
    for run, value in zip(runs, (500.0, 700.0), strict=True):
        with EventWriter(run.events_path) as stream:
            returns = [value] * 20
            stream.append("scores", of_steps=1_000_000, mean_return=value, std_return=0.0, returns=returns, seed=10_010)
    async with app.run_test() as pilot:
        await opened(pilot, settle, *runs)
        assert seen.line_with(app, "same 20 episodes").split()[4:7] == ["500", "700", "+200"]


@pytest.mark.parametrize("key", ["v", "p"])
async def test_the_best_of_all_play_side_by_side(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    runs = run_of(project, "b19e", "ppo", 600), run_of(project, "d411", "sac", 900)
    played: list[tuple[list[str], str, bool]] = []
    monkeypatch.setattr(
        app, "start_play", lambda words, what, _, *, preview: played.append((list(words), what, preview))
    )
    async with app.run_test() as pilot:
        await opened(pilot, settle, *runs)
        await pilot.press(key)
        assert played == [(["play", "b19e", "d411"], "2 runs of cart_pole", key == "p")]


async def test_of_two_environments_the_current_run_plays_alone(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, other = run_of(project, "b19e", "ppo", 600), run_of(project, "d411", "sac", 900, env_id="workbench/Ant-v0")
    played: list[list[str]] = []
    monkeypatch.setattr(app, "start_play", lambda words, *_, preview: played.append(list(words)))
    async with app.run_test() as pilot:
        await opened(pilot, settle, ours, other)
        await pilot.press("j", "v")
        await settle(pilot)
        assert played == [["play", "d411"]]
        assert "Runs of one environment play side by side" in seen.notices(app)


async def test_what_ends_or_steers_a_run_is_not_offered(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    runs = run_of(project, "b19e", "ppo", 600), run_of(project, "d411", "sac", 900)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle, *runs)
        for name in ("run.stop", "run.kill", "run.pause", "run.delete", "run.fork", "run.pin", "run.resume"):
            assert screen.can(name) is False
        for key in ("S", "K", "P", "D"):
            await pilot.press(key)
        assert app.screen is screen
        await pilot.press("escape")
        assert app.screen is not screen


async def test_two_environments_are_said_not_to_be_comparable(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    ours = run_of(project, "b19e", "ppo", 600)
    other = fakes.fake_run(project, "ant", "0001", returns=[1.0, 2.0])
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, settle, ours, other)
        assert "different environments: returns are not comparable" in seen.lines(app)[1]


async def test_one_run_alone_is_not_compared(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = run_of(project, "b19e", "ppo", 600)
    async with app.run_test() as pilot:
        await settle(pilot)
        app.compare([run.path, run.path])
        await settle(pilot)
        assert not isinstance(app.screen, CompareScreen)
        assert "Two runs or more" in seen.notices(app)


async def test_nine_runs_are_the_first_eight(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    runs = [run_of(project, f"000{number}", "ppo", 100.0 * number) for number in range(1, 10)]
    async with app.run_test(size=(160, 48)) as pilot:
        screen = await opened(pilot, settle, *runs)
        assert len(screen.columns) == 8


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (120, 30), (200, 50)])
async def test_a_run_deleted_under_it_and_a_terminal_that_shrinks_end_nothing(
    project: Project, app: WorkbenchApp, settle: Settle, size: tuple[int, int]
) -> None:
    runs = run_of(project, "b19e", "ppo", 600), run_of(project, "d411", "sac", 900)
    async with app.run_test(size=size) as pilot:
        screen = await opened(pilot, settle, *runs)
        runs[1].events_path.write_bytes(b'{"kind": "metr')
        await settle(pilot)
        runs[1].path.rename(Path(project.root / "elsewhere"))
        await settle(pilot)
        assert [side.first.short_id for side in screen.columns] == ["b19e"]
        await pilot.resize_terminal(20, 5)
        await settle(pilot)
        runs[0].path.rename(Path(project.root / "elsewhere too"))
        await pilot.resize_terminal(*size)
        await settle(pilot)
        assert "gone. esc goes back" in seen.words(app)
        await pilot.press("j", "full_stop", "d", "v", "E", "m", "escape")
        assert app.is_running


async def test_what_a_fork_was_forked_from_stands_before_it(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    parent = run_of(project, "aaaa", "ppo", 400)
    fork = run_of(project, "bbbb", "ppo", 900, parent=f"{parent.name}:500000")
    durable.write_json(
        fork.spec_path,
        {**fork.record(), "parent": {"run": parent.name, "checkpoint": "checkpoint_000000500000", "steps": 500_000}},
    )
    other = run_of(project, "cccc", "sac", 700)
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await opened(pilot, settle, fork, other)
        curves = {curve.letter: curve for curve in screen.query_one("#curves", Chart).data.curves}
        before = curves["a"].parent
        assert before is not None and before.label == parent.name and before.values[-1] == 400
        assert curves["b"].parent is None
        assert [side.letter for side in screen.columns] == ["a", "b"]
