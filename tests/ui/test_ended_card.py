"""The card of a bad ending: what it says, and where its keys lead."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench import durable
from workbench.project import Project
from workbench.runs import EventWriter, RunDirectory
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.ended import EndedCard
from workbench.ui.screens.run import RunScreen

SPEC: dict[str, Any] = {
    "env_id": "workbench/CartPole-v0", "algorithm": "ppo", "seed": 1, "total_steps": 1_000_000, "n_envs": 32,
    "ppo": {"learning_rate": 0.03, "n_steps": 64, "batch_size": 256},
}  # fmt: skip


def failed_run(project: Project, **changes: Any) -> RunDirectory:
    """A run whose loss grew out of bounds after 600 000 steps, with checkpoints before and after."""
    fields: dict[str, Any] = {
        "state": "failed",
        "reason": "train/value_loss is nan after 900000 steps; the last checkpoint is checkpoint_000000800000",
        "total_steps": 1_000_000,
        "spec": SPEC,
        "log": "iteration 9\ntrain/value_loss is nan after 900000 steps\n",
    }
    run = fakes.fake_run(project, "cart_pole", "2b60", **{**fields, **changes})
    with EventWriter(run.events_path) as stream:
        for place in range(1, 10):
            values = {
                "rollout/ep_rew_mean": 100.0 * place if place < 7 else 20.0,
                "train/value_loss": 2.0 if place < 7 else 10.0 ** (place - 2) if place < 9 else float("nan"),
            }
            at = place * 100_000
            stream.append("metrics", steps=at, wall_s=at / 1e3, episodes=place, iteration=place, values=values)
        stream.append("evaluation", steps=400_000, mean_return=420.0, std_return=30.0, returns=[1.0] * 10)
    for steps in (0, 400_000, 800_000):
        durable.write_json(run.path / f"checkpoint_{steps:012d}" / "policy.json", {"steps": steps})
    run.set_latest("checkpoint_000000800000")
    return run


async def card(pilot: Pilot[None], settle: Settle) -> EndedCard:
    await settle(pilot)
    await pilot.press("2", "enter")
    await settle(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, EndedCard)
    return screen


async def test_the_card_names_what_went_wrong_and_what_is_left(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    failed_run(project)
    async with app.run_test() as pilot:
        await card(pilot, settle)
        assert "failed at 900 k of 1 M steps, 90 %, after 15m 00s: train/value_loss is nan" in seen.text(app)
        assert "train/value_loss 100 000 at 700 k, before 2, 2 iterations before" in seen.words(app)
        assert "learning_rate 0.03 is 30 × the recipe's 0.001" in seen.line_with(app, "likely")
        assert "◇ 400 000   evaluation 420 ± 30" in seen.line_with(app, "last good")
        assert "F Fork from ◇ 400 k, learning_rate 0.001   R Resume as it was   v Watch" in seen.text(app)
        assert seen.text(app).count("train/value_loss is nan") == 2


async def test_forking_fills_in_what_would_mend_it(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: Any
) -> None:
    run = failed_run(project)
    asked: list[Any] = []
    monkeypatch.setattr(app, "fork_form", lambda path, changes: asked.append((path.name, changes)))
    async with app.run_test() as pilot:
        await card(pilot, settle)
        await pilot.press("F")
        assert asked == [("checkpoint_000000400000", {"ppo.learning_rate": "0.001"})]
        assert not isinstance(app.screen, EndedCard)
        assert run.path.is_dir()


async def test_watching_plays_the_last_good_checkpoint(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: Any
) -> None:
    failed_run(project)
    played: list[Any] = []
    monkeypatch.setattr(app, "start_play", lambda words, *rest, **more: played.append(list(words)))
    async with app.run_test() as pilot:
        await card(pilot, settle)
        await pilot.press("v")
        assert played == [["play", "2b60:400000"]]


async def test_resuming_puts_it_back_as_it_was(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: Any
) -> None:
    run = failed_run(project)
    asked: list[Any] = []
    monkeypatch.setattr(app, "resume_as_it_was", lambda row: asked.append(row.path))
    async with app.run_test() as pilot:
        await card(pilot, settle)
        await pilot.press("R")
        assert asked == [run.path]


async def test_keys_lead_to_log_settings_and_the_run(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    failed_run(project)
    async with app.run_test() as pilot:
        for key, section in (("o", "Log"), ("i", "Config"), ("enter", "Return")):
            await card(pilot, settle)
            await pilot.press(key)
            await settle(pilot)
            assert isinstance(app.screen, RunScreen) and app.screen._section == section
            await pilot.press("q")
        await card(pilot, settle)
        await pilot.press("Y", "escape")
        assert "first bad" in app.clipboard and "learning_rate 0.03" in app.clipboard


async def test_a_run_without_a_checkpoint_offers_no_fork(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    fakes.fake_run(project, "cart_pole", "40ac", alive=False, log="MemoryError\n")
    async with app.run_test() as pilot:
        screen = await card(pilot, settle)
        assert "the machine ran out of memory" in seen.line_with(app, "likely")
        assert "no checkpoint was written" in seen.line_with(app, "last good")
        assert screen.can("run.fork") is None and "F Fork" not in seen.text(app)
        await pilot.press("F", "v")
        assert app.screen is screen


async def test_a_read_only_app_forks_and_resumes_nothing(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    failed_run(project)
    app = fakes.make_app(project, read_only=True)
    async with app.run_test() as pilot:
        screen = await card(pilot, settle)
        await pilot.press("F", "R")
        assert app.screen is screen


async def test_a_folder_that_goes_away_while_the_card_is_open_ends_nothing(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = failed_run(project)
    async with app.run_test() as pilot:
        screen = await card(pilot, settle)
        run.path.rename(project.root / "elsewhere")
        await settle(pilot)
        assert app.screen is screen
        await pilot.press("escape")
        assert app.is_running


async def test_the_states_that_led_to_it_are_played(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: Any
) -> None:
    run = failed_run(project)
    window = "anomalies/000000850000_observation_explosion.npz"
    with EventWriter(run.events_path) as stream:
        stream.append(
            "anomaly",
            steps=850_000,
            what="observation_explosion",
            message="an angle is 1e9",
            window=window,
            window_holds="states",
        )
    played: list[str] = []
    monkeypatch.setattr(app, "start_play", lambda words, *_, **__: played.append(" ".join(words)))
    async with app.run_test() as pilot:
        await card(pilot, settle)
        assert "workbench play 2b60:anomaly:850000 p plays it" in seen.words(app)
        await pilot.press("p")
        await pilot.pause()
        assert played == ["play 2b60:anomaly:850000"]


async def test_without_a_window_there_is_nothing_to_play(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    failed_run(project)
    async with app.run_test() as pilot:
        screen = await card(pilot, settle)
        assert "p plays it" not in seen.text(app)
        await pilot.press("p")
        assert app.screen is screen
