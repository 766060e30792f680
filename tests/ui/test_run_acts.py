"""What the keys of the list of runs do to runs: in which state, to how many, after which question, told how."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench import durable
from workbench.errors import WorkFailedError
from workbench.project import Project
from workbench.runs import EventWriter, RunDirectory, RunState, StateFile, answer, pending
from workbench.runs.annotations import Annotations
from workbench.specs import RunSpec
from workbench.ui.app import WorkbenchApp
from workbench.ui.asking import PATIENCE_S
from workbench.ui.run_headline import EMPTY
from workbench.ui.run_rules import POSSIBLE
from workbench.ui.screens.ask import AskCard
from workbench.ui.screens.error import ErrorCard
from workbench.ui.screens.new_run import NewRunForm
from workbench.ui.screens.runs import RunsScreen

TABLE = {
    "queued": "S",
    "running": "PSKCWE",
    "paused": "PSKE",
    "stopping": "K",
    "finished": "RAED",
    "stopped": "RAED",
    "failed": "RAED",
}
"""What can be done in which state, by key; a fork is a run of its own and needs a checkpoint alone."""
KEYS = {
    "P": "run.pause", "S": "run.stop", "K": "run.kill", "C": "run.change", "W": "run.write", "E": "run.evaluate",
    "R": "run.resume", "A": "run.again", "D": "run.delete",
}  # fmt: skip


async def opened(pilot: Pilot[None], settle: Settle) -> RunsScreen:
    await settle(pilot)
    if not isinstance(pilot.app.screen, RunsScreen):
        await pilot.press("2")
    await settle(pilot)
    assert isinstance(pilot.app.screen, RunsScreen)
    return pilot.app.screen


def checkpoint(run: RunDirectory, steps: int) -> Path:
    folder = run.path / f"checkpoint_{steps:012d}"
    folder.mkdir()
    (folder / "policy.json").write_text("{}")
    return folder


def spec(**fields: Any) -> dict[str, Any]:
    whole = RunSpec.model_validate(
        {"env_id": "workbench/Ant-v0", "algorithm": "ppo", "total_steps": 1_000_000, "seed": 1}
    )
    return {**whole.model_dump(mode="json"), **fields}


@pytest.mark.parametrize("state", TABLE)
async def test_only_what_the_state_allows_is_offered(
    project: Project, app: WorkbenchApp, settle: Settle, state: str
) -> None:
    fakes.fake_run(project, "ant", "aaaa", state=state)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        offered = {key for key, command in KEYS.items() if screen.can(command)}
        assert offered == set(TABLE[state])
        assert screen.can("run.pin") and screen.can("run.annotate")


def test_the_table_names_states_for_every_act() -> None:
    assert set(KEYS.values()) <= set(POSSIBLE)


async def test_a_pause_shows_at_once_and_turns_when_the_run_answers(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = fakes.fake_run(project, "ant", "aaaa")
    async with app.run_test(size=(160, 40)) as pilot:
        await opened(pilot, settle)
        await pilot.press("P")
        await settle(pilot)
        [request] = pending(run)
        assert request.verb == "pause"
        assert "◒ pausing" in seen.line_with(app, "ant aaaa")
        assert "P lets it go on" in seen.notices(app)
        with EventWriter(run.events_path) as stream:
            StateFile(run.state_path).write(RunState.PAUSED)
            answer(request, stream, ok=True)
        await settle(pilot)
        assert "‖ paused" in seen.line_with(app, "ant aaaa")
        await pilot.press("P")
        await settle(pilot)
        assert [item.verb for item in pending(run)] == ["resume"]
        assert "going on" in seen.line_with(app, "ant aaaa")


async def test_a_request_without_an_answer_says_so_and_offers_the_kill(project: Project, settle: Settle) -> None:
    now = [fakes.NOW]
    app = fakes.make_app(project, clock=lambda: now[0])
    fakes.fake_run(project, "ant", "aaaa")
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("W")
        await settle(pilot)
        assert "has not answered" not in seen.notices(app)
        now[0] += PATIENCE_S
        await settle(pilot)
        await settle(pilot)
        assert seen.notices(app).count("has not answered (checkpoint) for 10s. K ends it at once.") == 1


async def test_a_refusal_is_told(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = fakes.fake_run(project, "ant", "aaaa")
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("W")
        await settle(pilot)
        with EventWriter(run.events_path) as stream:
            answer(pending(run)[0], stream, ok=False, reason="the disk is full")
        await settle(pilot)
        assert "did not do it (checkpoint): the disk is full." in seen.notices(app)


async def test_a_score_is_told_when_it_is_there(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = fakes.fake_run(project, "ant", "aaaa")
    checkpoint(run, 500_000)
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("E")
        await pilot.pause()
        # A run that trains keeps the scores unless something else is asked for.
        assert "workbench rescore aaaa" in seen.words(app)
        await pilot.press("ctrl+g")
        await settle(pilot)
        [request] = pending(run)
        assert request.verb == "evaluate"
        with EventWriter(run.events_path) as stream:
            answer(request, stream, ok=True)
        await settle(pilot)
        assert "scoring" in seen.line_with(app, "ant aaaa")
        with EventWriter(run.events_path) as stream:
            stream.append("scores", id=request.id, steps=500_000, mean_return=12.0, std_return=3.0)
        await settle(pilot)
        assert "ant aaaa scores 12 ± 3 at ◇ 500 k" in seen.notices(app)
        assert "scoring" not in seen.line_with(app, "ant aaaa")


async def test_a_folded_group_is_acted_on_as_a_whole_after_a_question(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    runs = [fakes.fake_run(project, "ant", f"{seed:04x}", seed=seed, group="g") for seed in (1, 2, 3)]
    fakes.fake_run(project, "ant", "0004", seed=4, group="g", state="finished")
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        assert "ant ×4" in seen.text(app) and len(screen.listing.lines) == 1
        await pilot.press("P")
        assert isinstance(app.screen, AskCard) and "Pause ant ×3?" in seen.text(app)
        assert "1 other is in no state for it" in seen.words(app)
        await pilot.press("enter")
        assert not any(pending(run) for run in runs)
        await pilot.press("P", "P")
        await settle(pilot)
        assert [[item.verb for item in pending(run)] for run in runs] == [["pause"]] * 3


async def test_h_and_l_fold_and_on_a_member_only_it_is_meant(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    for seed in (1, 2, 3):
        fakes.fake_run(project, "ant", f"{seed:04x}", seed=seed, group="g")
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        await pilot.press("l", "j", "j")
        assert screen.current is not None and screen.current.short_id == "0002" and len(screen.chosen) == 1
        assert "├ 0002 s2" in seen.text(app) and "└ 0003 s3" in seen.text(app)
        await pilot.press("h")
        await pilot.pause()
        assert screen.line is not None and screen.line.is_head and len(screen.chosen) == 3
        await pilot.press("t")
        assert sorted(line.row.short_id for line in screen.listing.lines) == ["0001", "0002", "0003"]
        assert "flat" in seen.text(app)
        await pilot.press("t")
        assert "lineage" in seen.text(app)


async def test_the_margin_marks_and_folds_by_click(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    for seed in (1, 2):
        fakes.fake_run(project, "ant", f"{seed:04x}", seed=seed, group="g")
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        await pilot.click("#runs", offset=(2, 1))
        await pilot.pause()
        assert len(screen.listing.lines) == 3
        await pilot.click("#runs", offset=(0, 2))
        await pilot.pause()
        assert len(screen.listing.marked) == 1
        await pilot.click("#runs", offset=(0, 2))
        await pilot.pause()
        assert not screen.listing.marked


@pytest.mark.parametrize(
    ("state", "key", "told"),
    [
        ("paused", "R", "Resume: not with ant aaaa, it is paused; P lets it go on."),
        ("finished", "P", "not with ant aaaa, it is finished."),
        ("running", "R", "Resume: not with ant aaaa, it is running."),
    ],
)
async def test_a_key_that_can_do_nothing_now_says_why(
    project: Project, app: WorkbenchApp, settle: Settle, state: str, key: str, told: str
) -> None:
    fakes.fake_run(project, "ant", "aaaa", state=state)
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press(key)
        await settle(pilot)
        assert told in seen.notices(app)


async def test_resume_of_a_finished_run_asks_for_a_budget(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.runs.resuming.ensure_supervisor", lambda root: None)
    run = fakes.fake_run(project, "ant", "aaaa", state="finished", returns=[1.0] * 10, total_steps=1_000_000)
    (checkpoint(run, 1_000_000) / "resume.pt").write_bytes(b"x")
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("R")
        field = app.screen.query_one("#steps", Input)
        assert "workbench resume aaaa --max-steps 2000000" in seen.text(app)
        field.value = "900k"
        await pilot.pause()
        assert "must be a whole number above the 1 000 000 done" in seen.words(app)
        await pilot.press("ctrl+g")
        assert app.screen.query("#steps")
        field.value = "3M"
        await pilot.press("ctrl+g")
        await settle(pilot)
        assert "○" in seen.line_with(app, "ant aaaa") and "goes on from" in seen.notices(app)
        assert durable.read_json(run.path / "resume.json")["values"]["total_steps"] == 3_000_000


async def test_delete_is_confirmed_by_its_key_and_can_be_taken_back(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = fakes.fake_run(project, "ant", "aaaa", state="finished")
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("D")
        await settle(pilot)
        await pilot.press("enter")
        assert run.path.exists()
        await pilot.press("D")
        await settle(pilot)
        await pilot.press("D")
        await settle(pilot)
        assert not run.path.exists() and "in the trash" in seen.notices(app)
        await app.screen.run_action("run_undelete")
        await settle(pilot)
        assert run.path.exists() and "ant aaaa" in seen.text(app)


async def test_pruning_says_what_goes_and_what_it_frees(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = fakes.fake_run(project, "ant", "aaaa", state="finished")
    for steps in (0, 1000, 2000, 3000):
        (checkpoint(run, steps) / "policy.pt").write_bytes(b"x" * 1000)
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await app.screen.run_action("run_prune")
        await settle(pilot)
        assert "2 checkpoints go" in seen.words(app) and "2 stay" in seen.words(app)
        await pilot.press("P")
        await settle(pilot)
        assert [item.steps for item in run.checkpoints()] == [0, 3000] and "2 checkpoints removed" in seen.notices(app)


async def test_a_run_is_pinned_and_a_checkpoint_where_the_crosshair_means_one(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    written = [{"kind": "checkpoint", "steps": steps, "path": ""} for steps in (0, 6_000_000)]
    run = fakes.fake_run(project, "ant", "aaaa", returns=[float(i) for i in range(10)], events=written)
    for steps in (0, 6_000_000):
        checkpoint(run, steps)
    async with app.run_test(size=(80, 40)) as pilot:
        await opened(pilot, settle)
        await pilot.press("asterisk")
        await settle(pilot)
        assert run.annotations().is_on_top and "* ant aaaa" in seen.text(app)
        await pilot.press("left_square_bracket", "asterisk")
        await settle(pilot)
        assert run.annotations().pinned == (6_000_000,)
        await pilot.press("asterisk", "escape")
        await settle(pilot)
        assert run.annotations().pinned == ()
        await pilot.press("asterisk")
        await settle(pilot)
        assert not run.annotations().is_on_top


async def test_tags_and_note_of_several_keep_what_each_has(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    runs = [fakes.fake_run(project, "ant", short_id) for short_id in ("aaaa", "bbbb")]
    for run, own in zip(runs, ("one", "two"), strict=True):
        Annotations(("both", own), f"note {own}").write(run.annotations_path)
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("a", "T")
        field = app.screen.query_one("#tags", Input)
        assert field.value == "both"
        field.value = 'new, "two words"'
        await pilot.pause()
        assert "--tag new --tag 'two words' --untag both" in seen.words(app)
        await pilot.press("ctrl+g")
        await settle(pilot)
        assert [run.annotations().tags for run in runs] == [("one", "new", "two words"), ("two", "new", "two words")]
        assert [run.annotations().note for run in runs] == ["note one", "note two"]


async def test_values_are_changed_from_the_fields_that_can_change(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = fakes.fake_run(project, "ant", "aaaa", spec=spec(), returns=[1.0], total_steps=1_000_000)
    async with app.run_test(size=(100, 40)) as pilot:
        await opened(pilot, settle)
        await pilot.press("C")
        await settle(pilot)
        assert "ppo.learning_rate" in seen.text(app) and "0.0003" in seen.text(app)
        field = app.screen.query_one("#of-ppo-learning-rate", Input)
        field.value = "-1"
        await settle(pilot)
        assert "✗ ppo.learning_rate" in seen.text(app)
        await pilot.press("ctrl+g")
        assert not pending(run)
        field.value = "1e-4"
        await settle(pilot)
        assert "0.0003 → 1e-4" in seen.text(app) and "Takes effect at iteration 2" in seen.words(app)
        assert "workbench set aaaa ppo.learning_rate=1e-4" in seen.text(app)
        await pilot.press("ctrl+g")
        await settle(pilot)
        [request] = pending(run)
        assert request.verb == "set" and request.args["values"] == {"ppo.learning_rate": 0.0001}


async def test_the_queue_says_who_is_first_and_can_be_changed(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.runs.queueing.ensure_supervisor", lambda root: None)
    for place, short_id in enumerate(("aaaa", "bbbb")):
        run = fakes.fake_run(project, "ant", short_id, state="queued")
        StateFile(run.state_path).write_queued(queued_ns=1000 + place)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        assert "queued, first" in seen.line_with(app, "ant aaaa")
        assert "queued, no. 2" in seen.line_with(app, "ant bbbb")
        screen.table.move_to(str(screen.listing.key_of(next(iter(project.runs.glob("PPO/*bbbb"))))))
        await pilot.pause()
        assert screen.can("queue.first")
        await screen.run_action("queue_first")
        await settle(pilot)
        assert "queued, first" in seen.line_with(app, "ant bbbb") and "number 1 of 2" in seen.notices(app)


async def test_n_opens_the_form_like_the_run_and_f_one_that_goes_on(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = fakes.fake_run(project, "ant", "aaaa", spec=spec(), state="finished")
    async with app.run_test(size=(100, 40)) as pilot:
        await opened(pilot, settle)
        await pilot.press("n")
        await settle(pilot)
        assert isinstance(app.screen, NewRunForm)
        await pilot.press("escape", "F")
        await settle(pilot)
        assert isinstance(app.screen, ErrorCard) and "has no checkpoint yet" in seen.words(app)
        assert run.path.exists()


async def test_what_fails_for_one_run_is_a_card_and_harms_no_other(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(run: RunDirectory) -> str:
        if run.short_id == "aaaa":
            raise WorkFailedError(f"{run.name} cannot be asked anything: No space left on device.")
        return "id"

    monkeypatch.setattr("workbench.runs.steering.request_checkpoint", full)
    for short_id in ("aaaa", "bbbb"):
        fakes.fake_run(project, "ant", short_id)
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("a", "W", "W")
        await settle(pilot)
        assert isinstance(app.screen, ErrorCard) and "No space left on device" in seen.words(app)
        await pilot.press("escape")
        assert "ant bbbb writes a checkpoint" in seen.notices(app)


async def test_a_run_taken_from_disk_before_the_key_is_said_to_be_gone(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = fakes.fake_run(project, "ant", "aaaa")
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        run.path.rename(project.root / "elsewhere")
        await pilot.press("P")
        await settle(pilot)
        assert isinstance(app.screen, RunsScreen) and EMPTY in seen.words(app)
        assert "The folder of ant aaaa is gone" in seen.notices(app) and not run.path.exists()


async def test_what_happens_to_runs_is_told_with_the_key_that_follows(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    good = fakes.fake_run(project, "ant", "aaaa", returns=[1.0])
    bad = fakes.fake_run(project, "ant", "bbbb", returns=[1.0])
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("1")
        with EventWriter(bad.events_path) as stream:
            stream.append("anomaly", what="not_finite", message="train/value_loss is nan after 500 steps")
        StateFile(good.state_path).write(RunState.FINISHED, reason="the evaluation return 1 042 reached 1 000")
        StateFile(bad.state_path).write(RunState.FAILED, reason="loss not finite")
        await settle(pilot)
        told = seen.notices(app)
        assert "ant aaaa reached 1 000 at 1.5 M. v watches it." in told
        assert "ant bbbb failed: loss not finite. enter opens the card." in told
        assert "train/value_loss is nan after 500 steps in ant bbbb. e shows it." in told


async def test_that_no_checkpoint_is_filmed_is_told(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    run = fakes.fake_run(project, "ant", "aaaa", returns=[1.0])
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("1")
        for _ in range(2):
            with EventWriter(run.events_path) as stream:
                stream.append("film", failure="there is no display.")
            await settle(pilot)
        assert seen.notices(app) == "ant aaaa: no checkpoint is filmed: there is no display. e shows it."


async def test_a_form_of_changes_says_that_its_run_has_ended(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = fakes.fake_run(project, "ant", "aaaa", returns=[1.0])
    async with app.run_test(size=(100, 40)) as pilot:
        await opened(pilot, settle)
        await pilot.press("C")
        await settle(pilot)
        assert "has ended" not in seen.text(app)
        StateFile(run.state_path).write(RunState.FINISHED, reason="steps")
        await settle(pilot)
        assert "ant aaaa has ended meanwhile" in seen.words(app)
        assert app.screen.check_action("task_go", ()) is None


async def test_marks_outlive_escape(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "aaaa")
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        await pilot.press("space", "escape", "escape")
        assert len(screen.listing.marked) == 1
        await pilot.press("u")
        assert not screen.listing.marked


async def test_what_plays_goes_along_with_the_checkpoint_under_the_crosshair(project: Project, settle: Settle) -> None:
    run = fakes.fake_run(
        project, "ant", "aaaa", returns=[float(place) for place in range(10)],
        events=[{"kind": "checkpoint", "steps": steps, "path": f"checkpoint_{steps:012d}"} for steps in (1000, 2000)],
    )  # fmt: skip
    for steps in (1000, 2000):
        checkpoint(run, steps)
    players = fakes.FakePlayers()
    app = fakes.make_app(project, players=players)
    async with app.run_test(size=(100, 40)) as pilot:
        await opened(pilot, settle)
        await pilot.press("enter")
        await settle(pilot)
        app.start_play(["play", "aaaa:2000"], "ant aaaa", {})
        players.last.ready(run=run, checkpoint=2000)
        await settle(pilot)
        await pilot.press("right_square_bracket", "left_square_bracket")
        await settle(pilot)
        assert players.last.orders[-1]["which"] == 1000
