"""Runs that start from another one: like it, again, or on from a checkpoint; and what is said of a launch."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.runs.test_forking import parent_of
from tests.ui import fakes
from tests.ui.conftest import Settle
from tests.ui.seen import notices, text, words
from tests.ui.test_new_run_form import checked, editor, fill_in, line, opened, said, shown
from workbench import durable
from workbench.project import Project
from workbench.runs import RunDirectory
from workbench.runs.rehearsal import Rehearsal
from workbench.ui.app import WorkbenchApp
from workbench.ui.dry_run import Circumstances, forecast
from workbench.ui.launching import started
from workbench.ui.screens.ended import EndedCard
from workbench.ui.screens.error import ErrorCard
from workbench.ui.screens.new_run import NewRunForm
from workbench.ui.screens.run import RunScreen
from workbench.ui.screens.runs import RunsScreen


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.ui.screens.new_run.DEBOUNCE_S", 0.0)
    monkeypatch.setattr("workbench.ui.trial.QUIET_S", 0.0)
    monkeypatch.setenv("WORKBENCH_SLOTS", "2")


async def form_of(pilot: Pilot[None]) -> NewRunForm:
    await pilot.pause()
    await checked(pilot)
    await checked(pilot)
    form = pilot.app.screen
    assert isinstance(form, NewRunForm), form
    return form


# Like another run.


async def test_a_run_like_another_has_its_values_typed_in_over_the_recipe(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = parent_of(project.runs, n_envs=32, normalize_observations=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        app.new_run_like(run)
        form = await form_of(pilot)
        checks = form.draft.check()
        assert checks.spec is not None
        unused = {"sac", "td3"}  # Blocks of the recipe that this run does not use.
        mine, theirs = (spec.model_dump(exclude=unused) for spec in (checks.launches[0].spec, run.spec()))
        assert mine == theirs
        assert form.draft.edits["ppo.learning_rate"] == "0.0003"
        assert form.draft.edits["total_steps"] == "1000"
        assert f"New run like {run.short_id}" in text(app)
        await fill_in(pilot, form, "ppo.gamma", "0.9")
        launched = form.draft.check().launches[0].spec
        assert launched.ppo == run.spec().ppo.model_copy(update={"gamma": 0.9})


async def test_a_run_of_a_program_that_keeps_no_spec_is_refused_in_words(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = parent_of(project.runs)
    record = run.record()
    durable.write_json(run.spec_path, {"environment": record["environment"]})
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.new_run_like(run)
        await settle(pilot)
        assert isinstance(app.screen, ErrorCard)
        assert "cannot be run again: its run.json holds no spec." in words(app)


async def test_again_launches_the_same_spec_as_a_new_run(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = parent_of(project.runs, group="abcd")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.run_again(run)
        await settle(pilot)
        queue = app.enqueue
        assert isinstance(queue, fakes.FakeQueue)
        (launch,) = queue.launches
        assert launch.spec == run.spec().model_copy(update={"group": None})
        assert launch.environment == run.record()["environment"]
        assert isinstance(app.screen, RunsScreen)
        assert "1 run started. enter opens it, S stops." in notices(app)


async def test_again_says_that_the_file_of_the_environment_is_gone(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = parent_of(project.runs)
    record = run.record()
    record["environment"] = {**record["environment"], "module": str(project.envs / "gone_env.py")}
    durable.write_json(run.spec_path, record)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.run_again(run)
        await settle(pilot)
        assert isinstance(app.screen, ErrorCard)
        assert "gone_env.py is gone" in words(app)


async def test_an_environment_that_is_not_here_sends_to_choose_one(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = parent_of(project.runs)
    record = run.record()
    durable.write_json(run.spec_path, {**record, "environment": {"env_id": "other/Thing-v0", "name": "thing"}})
    away = RunDirectory(run.path.rename(run.path.with_name("thing_20261128-102600_7f3a")))
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.new_run_like(away)
        await settle(pilot)
        assert app.current_mode == "environments"
        assert "Choose an environment, then n." in notices(app)


# On from a checkpoint.


async def test_a_fork_takes_over_the_run_and_names_its_checkpoint(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = parent_of(project.runs, n_envs=4)
    async with app.run_test(size=(120, 44)) as pilot:
        await settle(pilot)
        app.fork_form(run.checkpoints()[-1].path)
        form = await form_of(pilot)
        assert "Fork · cart_pole" in text(app)
        assert f"as in {run.name}" in text(app)
        assert editor(form, "parent").value == f"{run.short_id}:300"
        assert said(form, "parent") == "cart_pole after 300 steps, PPO"
        assert line(form, "n_envs").editor.value == "4"  # type: ignore[attr-defined]
        command = form._checked.command
        assert command == ("workbench", "train", "cart_pole", "--algorithm", "ppo", "--from", f"{run.name}:300")
        await fill_in(pilot, form, "n_envs", "8")
        assert said(form, "n_envs") == f"✎ {run.short_id} 4"
        assert form.draft.check().launches[0].spec.parent == f"{run.name}:300"


async def test_a_fork_can_have_its_mending_typed_in(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = parent_of(project.runs)
    async with app.run_test(size=(120, 44)) as pilot:
        await settle(pilot)
        app.fork_form(run.checkpoints()[-1].path, changes={"ppo.learning_rate": "1e-4"})
        form = await form_of(pilot)
        assert said(form, "ppo.learning_rate") == f"✎ {run.short_id} 0.0003"


async def test_what_does_not_fit_the_checkpoint_stands_at_its_field(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = parent_of(project.runs)
    async with app.run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        app.fork_form(run.checkpoints()[-1].path)
        form = await form_of(pilot)
        await fill_in(pilot, form, "total_steps", "200")
        assert "the checkpoint has 300 steps already, which count; it needs more than that" in said(form, "total_steps")
        await fill_in(pilot, form, "total_steps", "")
        (await shown(pilot, form, "ppo.activation")).editor.focus()
        await pilot.press("right")
        await checked(pilot)
        assert said(form, "ppo.activation") == "✗ is relu, and the checkpoint's is tanh: try tanh"


async def test_naming_a_checkpoint_fills_the_form_in_from_its_run(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = parent_of(project.runs, "sac", n_envs=2)
    async with app.run_test(size=(120, 44)) as pilot:
        form = await opened(pilot, settle)
        editor(form, "parent").value = "nowhere"
        await pilot.pause()
        await checked(pilot)
        assert said(form, "parent").startswith("✗ names no checkpoint: there is no run `nowhere`")
        editor(form, "parent").value = f"{run.short_id}:300"
        await pilot.pause()
        await checked(pilot)
        await checked(pilot)
        assert form.draft.algorithm == "sac"
        assert "SAC trained that checkpoint, so it trains on." in notices(app)
        assert editor(form, "n_envs").value == "2"
        editor(form, "parent").value = ""
        await pilot.pause()
        await checked(pilot)
        await checked(pilot)
        assert form.draft.fork is None
        assert editor(form, "n_envs").value == "32"


# The dry run.


async def test_a_valid_form_is_measured_once_and_again_when_it_changes(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    rehearsal = fakes.FakeRehearsal()
    app = fakes.make_app(project, rehearse=rehearsal)
    async with app.run_test(size=(80, 30)) as pilot:
        form = await opened(pilot, settle)
        assert "9.8 k steps/s: 70 % rollouts, 30 % updates" in words(app)
        assert len(rehearsal.asked) == 1
        editor(form, "seeds").value = "1-3"
        await pilot.pause()
        await checked(pilot)
        assert len(rehearsal.asked) == 1  # A seed changes nothing of what a run takes.
        assert "25m 30s each, 2 side by side, done by 11:33" in words(app)
        assert "1.4 GB memory (2 × 700 MB)" in words(app)
        await fill_in(pilot, form, "ppo.gamma", "2")
        assert "before the last change" in words(app)
        assert len(rehearsal.asked) == 1
        await fill_in(pilot, form, "ppo.gamma", "0.9")
        assert len(rehearsal.asked) == 2
        assert "before the last change" not in words(app)


async def test_it_waits_for_a_core_and_can_be_asked_for(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    for name in ("aaaa", "bbbb"):
        fakes.fake_run(project, "cart_pole", name)
    rehearsal = fakes.FakeRehearsal()
    app = fakes.make_app(project, rehearse=rehearsal)
    async with app.run_test(size=(80, 30)) as pilot:
        await opened(pilot, settle)
        assert "every core trains; ctrl+t measures all the same" in words(app)
        assert rehearsal.asked == []
        await pilot.press("ctrl+t")
        await checked(pilot)
        assert len(rehearsal.asked) == 1
        assert "25m 30s at most, when its turn comes" in words(app)


async def test_a_dry_run_that_fails_says_why_and_blocks_nothing(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    app = fakes.make_app(project, rehearse=fakes.FakeRehearsal("the model cannot be read"))
    async with app.run_test(size=(80, 30)) as pilot:
        await opened(pilot, settle)
        assert "not measured: the model cannot be read" in words(app)
        await pilot.press("ctrl+g")
        await settle(pilot)
        assert isinstance(app.screen, RunsScreen)


async def test_a_form_can_be_launched_while_it_is_measured(project: Project, settle: Settle) -> None:
    ended = asyncio.Event()

    class Endless(fakes.FakeRehearsal):
        async def __call__(self, *args: object) -> Rehearsal | str:
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            return ""

    fakes.write_environments(project)
    app = fakes.make_app(project, rehearse=Endless())
    async with app.run_test(size=(80, 30)) as pilot:
        await settle(pilot)
        app.new_run_of("cart_pole")
        while "measuring…" not in text(app):
            await pilot.pause(0.01)
        await pilot.press("ctrl+g")
        while not isinstance(app.screen, RunsScreen):
            await pilot.pause(0.01)
        await asyncio.wait_for(ended.wait(), 5)


async def test_another_seed_does_not_begin_a_measurement_anew(project: Project, settle: Settle) -> None:
    done = asyncio.Event()

    class Slow(fakes.FakeRehearsal):
        async def __call__(self, *args: object) -> Rehearsal | str:
            self.asked.append(args[0])  # type: ignore[arg-type]
            await done.wait()
            return self.answer

    fakes.write_environments(project)
    rehearsal = Slow()
    app = fakes.make_app(project, rehearse=rehearsal)
    async with app.run_test(size=(80, 30)) as pilot:
        await settle(pilot)
        app.new_run_of("cart_pole")
        while not rehearsal.asked:
            await pilot.pause(0.01)
        form = app.screen
        assert isinstance(form, NewRunForm)
        editor(form, "seeds").value = "1-3"
        while "3 runs" not in text(app):
            await pilot.pause(0.01)
        done.set()
        await checked(pilot)
        assert len(rehearsal.asked) == 1
        assert "25m 30s each" in words(app)


def test_a_forecast_counts_turns_checkpoints_and_the_reference() -> None:
    found = Rehearsal(1000.0, 0.6, 600.0, 293, 500_000_000, 200_000_000, 1_000_000, 11, 211_000_000)
    around = Circumstances(runs=5, places=2, free=2, now=0.0, reference={"return": 1000.0, "steps": 60_000})
    said = [phrase.replace("\u00a0", " ") for phrase in forecast(found, around)]
    assert said == [
        "1 k steps/s: 60 % rollouts, 40 % updates",
        "10m 00s each, 2 side by side, done by 00:30",
        "the reference reached 1 000 at 60 k: perhaps 1m",
        "293 iterations",
        "1.0 GB memory (2 × 500 MB)",
        "1.1 GB disk (11 × 1.0 MB, replay 200 MB × 5 runs)",
    ]


async def test_a_real_dry_run_that_cannot_begin_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from workbench.specs import RunSpec
    from workbench.ui import dry_run

    told = 'import sys; sys.stdin.read(); print(\'{"reason": "there is no model"}\')'
    monkeypatch.setattr(dry_run, "REHEARSAL", (sys.executable, "-c", told))
    spec = RunSpec(env_id="workbench/CartPole-v0", total_steps=1000)
    assert await dry_run.rehearse(spec, {}, (0, 0)) == "there is no model"
    monkeypatch.setattr(dry_run, "REHEARSAL", (sys.executable, "-c", "raise SystemExit('no such module')"))
    assert await dry_run.rehearse(spec, {}, (0, 0)) == "no such module"
    monkeypatch.setattr(dry_run, "REHEARSAL", (sys.executable, "-c", "import time; time.sleep(60)"))
    monkeypatch.setattr(dry_run, "LIMIT_S", 0.2)
    assert "nothing came within" in str(await dry_run.rehearse(spec, {}, (0, 0)))


# What becomes of a launch.


@pytest.mark.parametrize(
    ("count", "free", "said_of_it"),
    [
        (1, 2, "1 run started"), (3, 3, "3 runs started"), (3, 2, "2 started, 1 queued"),
        (3, 0, "3 runs queued"), (1, 0, "1 run queued"),
    ],
)  # fmt: skip
def test_a_launch_says_what_started_and_what_waits(count: int, free: int, said_of_it: str) -> None:
    assert started(count, free) == said_of_it


async def test_a_run_that_dies_before_it_trains_opens_its_card(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    app = fakes.make_app(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, settle)
        await pilot.press("ctrl+g")
        await settle(pilot)
        (path,) = app.newborn
        state = json.loads((path / "state.json").read_text())
        durable.write_json(path / "state.json", {**state, "state": "failed", "reason": "no model"})
        app.runs.poke()
        await settle(pilot)
        assert isinstance(app.screen, EndedCard)
        assert "no model" in text(app)
        assert app.newborn == set()
        await pilot.press("o")
        await settle(pilot)
        assert isinstance(app.screen, RunScreen)
        assert app.current_mode == "runs"


async def test_a_run_of_another_launch_opens_no_card(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        fakes.fake_run(project, "cart_pole", "2b60", state="failed", reason="no model")
        app.runs.poke()
        await settle(pilot)
        assert not isinstance(app.screen, EndedCard)


def test_the_folder_of_a_gone_checkpoint_is_named(project: Project) -> None:
    from workbench.ui.origins import find_start

    fork, fault = find_start(str(project.runs / "checkpoint_000000000001"), Path(project.runs))
    assert fork is None and fault is not None
    assert "checkpoint_000000000001" in fault.message
