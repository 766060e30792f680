"""Evaluating and comparing policies in the app: forms, the commands they start, and the cards of what came of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from textual.widgets import Input

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench.project import Project
from workbench.runs import RunDirectory
from workbench.ui.app import WorkbenchApp
from workbench.ui.jobs import Job
from workbench.ui.judged_text import document_in
from workbench.ui.screens.evaluate import BEST, CompareTask, EvaluateTask
from workbench.ui.screens.judged import ComparisonCard, EvaluationCard
from workbench.ui.widgets.choice import Choice

RANGE = [0.2307, 0.8824]
"""The 95 % Wilson range of 3 of 5 by the published formula: centre 0.5566, half width 0.3258 (z = 1.96)."""

EVALUATION: dict[str, Any] = {
    "finished": True, "policy": "7f3a", "environment": "workbench/Ant-v0", "seed": 100_000, "num_episodes": 5,
    "deterministic": True, "mean_return": 860.0, "std_return": 410.0, "min_return": 12.0, "max_return": 1200.0,
    "mean_length": 700.0, "control_period_s": 0.05, "successes": [True, True, False, True, False],
    "success_range": RANGE, "episodes_successful_at_reset": 0,
    "endings": {"time_limit": 3, "unhealthy": 2}, "failures": [{"ended_by": "unhealthy", "episodes": 2}],
    "problems": {}, "verdict": {"required": 0.9, "observed": 0.6, "passed": False, "uncertain": False},
    "worst": [
        {"episode": 2, "seed": 100_002, "return": 12.0, "length": 31, "ended_by": "unhealthy", "success": False},
        {"episode": 4, "seed": 100_004, "return": 88.0, "length": 170, "ended_by": "unhealthy", "success": False},
    ],
}  # fmt: skip
COMPARISON: dict[str, Any] = {
    "finished": True, "environment": "workbench/Ant-v0", "seed": 100_000, "num_episodes": 50, "deterministic": True,
    "policies": [
        {"name": name, "mean": {"value": mean, "low": mean - 40, "high": mean + 40},
         "iqm": {"value": mean + 5, "low": mean - 30, "high": mean + 41}, "success_range": low_high,
         "successes": [True] * good + [False] * (50 - good)}
        for name, mean, good, low_high in (("7f3a", 1000.0, 45, [0.786, 0.957]), ("random", 30.0, 0, [0.0, 0.071]))
    ],
    "comparisons": [
        {"new": "7f3a", "old": "random", "outcome": "did_better",
         "difference": {"value": 970.0, "low": 930.0, "high": 1010.0}, "higher": 50, "lower": 0, "improved": 45,
         "regressed": 0, "p_value": 5.7e-14},
    ],
}  # fmt: skip


def with_checkpoint(project: Project, short_id: str = "7f3a", **values: Any) -> RunDirectory:
    run = fakes.fake_run(project, "ant", short_id, state="finished", **values)
    (run.path / "checkpoint_000000000900").mkdir()
    return run


async def opened(pilot: Any, settle: Settle) -> None:
    await settle(pilot)
    await pilot.press("2")
    await settle(pilot)


def ended(app: WorkbenchApp, document: dict[str, Any], *, code: int = 0) -> Job:
    """End the newest job with what it would have printed."""
    job = app.launcher.jobs[-1]
    progress = "evaluating 7f3a: 5 of 5 episodes"
    app.launcher.finish(job, exit_code=code, tail=[progress, json.dumps(document)])  # type: ignore[attr-defined]
    return job


@pytest.mark.parametrize(
    ("fields", "command"),
    [
        ({}, "evaluate 7f3a"),
        ({"episodes": "1 000", "seed": "7", "acts": "sampled"}, "evaluate 7f3a --episodes 1000 --seed 7 --stochastic"),
        ({"needed": "90 %"}, "evaluate 7f3a --require-success 90%"),
        ({"scores": "kept by the run", "episodes": "7"}, "rescore 7f3a:900"),
        ({"scores": BEST, "candidates": "3", "episodes": "50"}, "rescore 7f3a --best 3 --episodes 50"),
    ],
)
async def test_the_command_says_what_was_filled_in(
    app: WorkbenchApp, settle: Settle, fields: dict[str, str], command: str
) -> None:
    answers: list[Any] = []
    task = EvaluateTask("7f3a", "ant 7f3a", kept="7f3a:900", settled="7f3a")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await app.push_screen(task, answers.append)
        for name, value in fields.items():
            widget: Any = task.query_one(f"#{name}")
            assert isinstance(widget, Input | Choice)
            widget.value = value
        await pilot.pause()
        assert f"workbench {command}" in seen.words(app)
        await pilot.press("ctrl+g")
    assert answers == [command.split()]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"episodes": "0"}, "Episodes must be a whole number from 1 to 100000, got 0."),
        ({"seed": "-1"}, "First number must be a whole number"),
        ({"needed": "120%"}, "Needed takes a share from 0 to 1"),
        ({"scores": BEST, "candidates": ""}, "Candidates must be a whole number from 1 to 20, got nothing."),
    ],
)
async def test_what_makes_no_sense_is_refused(
    app: WorkbenchApp, settle: Settle, fields: dict[str, str], said: str
) -> None:
    task = EvaluateTask("7f3a", "ant 7f3a", settled="7f3a")
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await app.push_screen(task)
        for name, value in fields.items():
            widget: Any = task.query_one(f"#{name}")
            widget.value = value
        await pilot.pause()
        assert said in seen.words(app)
        await pilot.press("ctrl+g")
        assert app.screen is task


async def test_a_policy_is_evaluated_and_its_worst_episode_watched(
    app: WorkbenchApp, project: Project, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_checkpoint(project)
    played: list[list[str]] = []
    monkeypatch.setattr(app, "start_play", lambda words, *_, **__: played.append(list(words)))
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, settle)
        await pilot.press("E", "ctrl+g")
        await settle(pilot)
        assert app.launcher.jobs[-1].words == ("evaluate", "7f3a", "--json", "--progress")
        assert isinstance(app.screen, EvaluationCard) and "workbench evaluate 7f3a " in seen.words(app) + " "
        ended(app, EVALUATION, code=1)
        await settle(pilot)
        shown = seen.words(app)
        assert "too little success" in shown
        assert "return 860 ± 410, from 12 to 1 200" in shown
        assert "length 700 steps, 35 s" in shown
        assert "success 3 of 5, 95 % 23.1 – 88.2 %" in shown
        assert "failures 2 unhealthy" in shown and "endings 3 time_limit, 2 unhealthy" in shown
        assert "not reached: 0.6 of the episodes succeeded, 0.9 is needed" in shown
        await pilot.press("down", "V")
        assert app.launcher.jobs[-1].words == ("record", "7f3a", "--seed", "100004")
        await pilot.press("v")
        await pilot.pause()
        assert played == [["play", "7f3a", "--seed", "100004"]]
        assert not isinstance(app.screen, EvaluationCard)


async def test_a_sampled_evaluation_says_that_its_episodes_begin_alike_only(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.start_judging(["evaluate", "7f3a", "--agent", "random", "--stochastic"], "ant 7f3a")
        await pilot.pause()
        ended(app, {**EVALUATION, "deterministic": False, "verdict": None})
        await settle(pilot)
        assert "they begin alike, what is sampled differs" in seen.words(app)
        await pilot.press("V")
        words = ("record", "7f3a", "--seed", "100002", "--agent", "random", "--stochastic")
        assert app.launcher.jobs[-1].words == words


async def test_one_that_is_stopped_says_how_far_it_came(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.start_judging(["evaluate", "7f3a"], "ant 7f3a")
        await pilot.pause()
        job = app.launcher.jobs[-1]
        job.tail = ("evaluating 7f3a: 3 of 100 episodes",)
        await pilot.press("S")
        job.tail = (json.dumps({"finished": False, "policy": "7f3a", "num_episodes": 100, "episodes_done": 3}),)
        app.job_changed(job)
        await settle(pilot)
        assert "Stopped after 3 of 100 episodes" in seen.words(app) and "· stopped" in seen.words(app)


async def test_what_was_found_last_is_shown_again(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await app.run_action("screen.app_output")
        await pilot.pause()
        assert "Nothing was evaluated" in seen.notices(app)
        app.start_judging(["evaluate", "7f3a"], "ant 7f3a")
        await pilot.press("escape", "question_mark")
        ended(app, EVALUATION)
        await pilot.pause()
        assert "The evaluation of ant 7f3a is done. App: Last output (:) shows it." in seen.notices(app)
        await pilot.press("escape")
        await app.run_action("screen.app_output")
        await settle(pilot)
        assert "success 3 of 5" in seen.words(app)


async def test_a_command_that_fails_shows_what_it_said(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.start_judging(["evaluate", "nix"], "nix")
        await pilot.pause()
        tail = ["workbench: nothing is called nix.", "`workbench runs` lists them."]
        app.launcher.finish(app.launcher.jobs[-1], exit_code=2, tail=tail)  # type: ignore[attr-defined]
        await settle(pilot)
        assert "nothing is called nix." in seen.words(app) and "exit code 2" in seen.words(app)
        await pilot.press("v", "V")
        assert isinstance(app.screen, EvaluationCard) and len(app.launcher.jobs) == 1


async def test_marked_runs_are_compared_on_the_same_episodes(
    app: WorkbenchApp, project: Project, settle: Settle
) -> None:
    with_checkpoint(project, "7f3a")
    with_checkpoint(project, "2b60", started=fakes.NOW - 5000)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, settle)
        await pilot.press("a", "X")
        await pilot.pause()
        assert isinstance(app.screen, CompareTask)
        field = app.screen.query_one("#policies", Input)
        assert sorted(field.value.split()) == ["2b60", "7f3a"]
        field.value = "7f3a 7f3a"
        await pilot.pause()
        assert "7f3a is named twice." in seen.words(app)
        field.value = "7f3a"
        await pilot.pause()
        assert "A comparison is of 2 to 20 policies, got 1." in seen.words(app)
        field.value = "7f3a random"
        await pilot.press("ctrl+g")
        await settle(pilot)
        assert app.launcher.jobs[-1].words == ("compare", "7f3a", "random", "--json", "--progress")
        ended(app, COMPARISON)
        await settle(pilot)
        assert isinstance(app.screen, ComparisonCard)
        shown = seen.words(app)
        assert "7f3a 1 000 (960 to 1 040) 45 of 50 (78.6 – 95.7 %)" in shown
        assert "7f3a against random: did better" in shown
        assert "return +970 (930 to 1 010) on the same episode, higher in 50, lower in 0" in shown
        assert "solved 45 that the other did not, missed 0 that it did, p 5.7e-14" in shown


async def test_what_a_comparison_is_worth_is_told(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.start_judging(["compare", "7f3a", "random", "--episodes", "5"], "policies")
        await pilot.pause()
        warning = "with fewer than 6 episodes no difference is clear, however large."
        tail = [f"warning: {warning}", json.dumps(COMPARISON)]
        app.launcher.finish(app.launcher.jobs[-1], tail=tail)  # type: ignore[attr-defined]
        await settle(pilot)
        assert f"! {warning}" in seen.words(app)


async def test_policies_of_two_environments_are_not_compared(app: WorkbenchApp, settle: Settle) -> None:
    task = CompareTask(["7f3a", "9d77"], {"7f3a": "ant", "9d77": "cart_pole"})
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await app.push_screen(task)
        await pilot.pause()
        assert "They are of ant and cart_pole, and do not meet the same episodes." in seen.words(app)


async def test_the_checkpoint_that_is_meant_is_compared_with_the_best(
    app: WorkbenchApp, project: Project, settle: Settle
) -> None:
    with_checkpoint(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, settle)
        await pilot.press("X")
        await pilot.pause()
        assert "workbench compare 7f3a:latest 7f3a:best" in seen.words(app)


async def test_what_plays_is_evaluated(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    players = fakes.FakePlayers()
    app = fakes.make_app(project, players=players)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.start_play(["play", "ant"], "ant", {"target": "ant", "environment": "ant"}, preview=True)
        players.last.ready()
        await settle(pilot)
        await pilot.press("E")
        await pilot.pause()
        assert isinstance(app.screen, EvaluateTask)
        # There is no run that could keep the scores.
        assert "workbench evaluate ant --agent random" in seen.words(app) and "Scores" not in seen.words(app)
        await pilot.press("escape")
        # In a recording of states there is nobody to evaluate.
        players.last.state(agent="recording")
        await pilot.press("E")
        await pilot.pause()
        assert not isinstance(app.screen, EvaluateTask)


async def test_an_app_that_only_looks_evaluates_nothing(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    with_checkpoint(project)
    app = fakes.make_app(project, read_only=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, settle)
        await pilot.press("E", "X")
        await pilot.pause()
        assert not app.launcher.jobs and not isinstance(app.screen, EvaluateTask | CompareTask)


async def test_a_plain_terminal_gets_ascii_alone(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    app = fakes.make_app(project, plain=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.start_judging(["evaluate", "7f3a"], "ant 7f3a")
        await pilot.pause()
        ended(app, EVALUATION)
        await settle(pilot)
        assert "x not reached" in seen.words(app)


def test_a_document_is_found_behind_progress() -> None:
    assert document_in(["warning: {x}", 'evaluating 3 of 5{"finished": true}']) == {"finished": True}
    assert document_in(["nothing", "{broken"]) is None
