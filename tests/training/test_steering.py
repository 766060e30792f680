"""Runs that are steered while they train: other values, pauses, scores on request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.training.conftest import events, make_run, metrics, wait_for
from workbench import durable
from workbench.errors import NotFoundError, ProblemsError, RequestError
from workbench.runs import EventWriter, History, RunDirectory, RunState, StateFile, observe
from workbench.runs.places import WAITING
from workbench.runs.steering import (
    change_run,
    find_answer,
    find_scores,
    live_fields,
    pause_run,
    request_checkpoint,
    request_evaluation,
    unpause_run,
)
from workbench.runs.supervisor import SLOTS_VARIABLE
from workbench.simulation import EnvSource
from workbench.training import RunResult
from workbench.training.learner import Learner
from workbench.training.log import RunLog
from workbench.training.session import Session
from workbench.training.steering import read_sets


def train(run: RunDirectory) -> RunResult:
    with RunLog(run.log_path) as log:
        return Session(run, log, off_policy_steps=100).run()


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Callable[[], str]], list[str]]:
    """Ask a run for something in the middle of an iteration; the ids come as they are given."""

    def during(iteration: int, wish: Callable[[], str]) -> list[str]:
        ids: list[str] = []
        iterate = Learner.iterate

        def watched(learner: Learner) -> None:
            iterate(learner)
            if learner.iteration == iteration:
                ids.append(wish())

        monkeypatch.setattr(Learner, "iterate", watched)
        return ids

    return during


@contextmanager
def training(run: RunDirectory) -> Iterator[list[RunResult]]:
    """Train in a thread of this process; the result is there when the block is left."""
    results: list[RunResult] = []
    thread = threading.Thread(target=lambda: results.append(train(run)))
    thread.start()
    try:
        yield results
    finally:
        thread.join(60)


def state(run: RunDirectory) -> RunState:
    return observe(run).state


def values_of(run: RunDirectory, name: str) -> list[float]:
    return [row[name] for row in metrics(run) if name in row]


def test_values_change_at_the_end_of_an_iteration_and_are_told(tmp_path: Path, ask: Any) -> None:
    run = make_run(tmp_path, "ppo")
    values = {"ppo.learning_rate": "1e-4", "ppo.clip_range": 0.1, "total_steps": 600, "checkpoint_every_steps": 150}
    ids = ask(2, lambda: change_run(run, values))
    assert train(run).reason == "600 of 600 steps are done"
    [told] = events(run, "set")
    assert told["steps"] == 200 and told["id"] == ids[0]
    assert told["values"] == {
        "ppo.learning_rate": 1e-4,
        "ppo.clip_range": 0.1,
        "total_steps": 600,
        "checkpoint_every_steps": 150,
    }
    assert told["old"]["ppo.learning_rate"] == 3e-4 and told["old"]["total_steps"] == 500
    answer = find_answer(run, ids[0])
    assert answer is not None and answer.ok and "ppo.learning_rate 0.0003 → 0.0001" in answer.reason
    assert values_of(run, "train/learning_rate") == [3e-4] * 2 + [1e-4] * 4
    assert values_of(run, "train/clip_range") == [0.2] * 2 + [0.1] * 4
    assert [item.steps for item in run.checkpoints()] == [0, 300, 500, 600]
    shown = {item.key: item.text for item in live_fields(run)}
    assert shown["ppo.learning_rate"] == "0.0001" and shown["total_steps"] == "600"
    assert shown["reward.upright"] == "1.0"


def test_weights_of_terms_change_the_reward_and_no_evaluation(tmp_path: Path, ask: Any) -> None:
    run, plain = make_run(tmp_path / "weighed", "ppo"), make_run(tmp_path / "plain", "ppo")
    train(plain)
    ask(1, lambda: change_run(run, {"reward.upright": 0}))
    train(run)
    [told] = events(run, "set")
    assert told["values"] == {"reward.upright": 0.0} and told["old"] == {"reward.upright": 1.0}
    assert "evaluations keep the environment's own weights" in told["note"]
    assert values_of(run, "rollout/reward_mean")[-1] < 0.2 < 0.8 < values_of(plain, "rollout/reward_mean")[-1]
    # The terms are told as they are.
    assert values_of(run, "reward/upright_mean")[-1] > 0.8
    assert events(run, "evaluation")[-1]["mean_return"] > 1


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"reward.spin": 0.5}, "reward.spin is no reward term of this environment; there are upright"),
        ({"ppo.n_steps": 10}, "ppo.n_steps is fixed once a run has begun"),
        ({"total_steps": 100}, "total_steps must be more than the 200 done"),
    ],
)
def test_what_would_break_the_run_is_refused_by_the_run_too(
    tmp_path: Path, ask: Any, values: dict[str, Any], said: str
) -> None:
    from workbench.runs import send

    run = make_run(tmp_path, "ppo")
    ids = ask(2, lambda: send(run, "set", values=values))
    assert train(run).state is RunState.FINISHED
    answer = find_answer(run, ids[0])
    assert answer is not None and not answer.ok and said in answer.reason
    assert events(run, "set") == []


def test_what_is_wrong_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    run = make_run(tmp_path, "ppo")
    with pytest.raises(RequestError, match="has ended"):
        change_run(run, {"ppo.learning_rate": 1e-4})
    StateFile(run.state_path).write(RunState.RUNNING)
    with pytest.raises(ProblemsError, match=r"nearest is ppo\.learning_rate"):
        change_run(run, {"ppo.learnin_rate": 1e-4})
    with pytest.raises(RequestError, match="cannot go on: it is running"):
        unpause_run(run)
    StateFile(run.state_path).write_queued(queued_ns=1)
    for refused in (pause_run, request_checkpoint, request_evaluation):
        with pytest.raises(RequestError):
            refused(run)
    assert not list(run.control.iterdir())


def test_a_pause_saves_and_waits_and_no_time_of_it_counts(
    tmp_path: Path, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.training.trainer.PAUSE_POLL_S", 0.02)
    run = make_run(tmp_path, "ppo", eval_every=0)
    asked = ask(2, lambda: pause_run(run))
    with training(run) as results:
        wait_for(lambda: asked and find_answer(run, asked[0]))
        assert state(run) is RunState.PAUSED and run.latest().steps == 200  # type: ignore[union-attr]
        told = change_run(run, {"ppo.learning_rate": 1e-4})
        again = pause_run(run)
        assert wait_for(lambda: find_answer(run, told)).ok and wait_for(lambda: find_answer(run, again)).ok
        began = StateFile(run.state_path).read()
        threading.Event().wait(0.6)
        on = unpause_run(run)
        assert wait_for(lambda: find_answer(run, on)).ok
    assert results[0].state is RunState.FINISHED and began is not None
    history = History(run)
    history.refresh()
    [(start, end)] = history.pauses
    assert end is not None and end - start > 0.6
    rows = events(run, "metrics")
    passed, active = rows[-1]["time"] - rows[0]["time"], rows[-1]["wall_s"] - rows[0]["wall_s"]
    assert passed - active == pytest.approx(end - start, abs=0.3)
    assert values_of(run, "time/time_elapsed")[-1] <= active + 1
    assert max(values_of(run, "time/idle_s")) < 0.5
    assert values_of(run, "train/learning_rate") == [3e-4] * 2 + [1e-4] * 3
    assert [event["state"] for event in events(run, "state")] == [
        "starting",
        "running",
        "paused",
        "running",
        "finished",
    ]


def test_a_paused_run_can_be_stopped(tmp_path: Path, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.runs import stop_run

    monkeypatch.setattr("workbench.training.trainer.PAUSE_POLL_S", 0.02)
    run = make_run(tmp_path, "ppo")
    asked = ask(2, lambda: pause_run(run))
    with training(run) as results:
        wait_for(lambda: asked and find_answer(run, asked[0]))
        stop_run(run)
    assert (results[0].state, results[0].steps) == (RunState.STOPPED, 200)


def test_it_goes_on_when_there_is_a_place(tmp_path: Path, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.training.trainer.PAUSE_POLL_S", 0.02)
    monkeypatch.setenv(SLOTS_VARIABLE, "1")
    run, other = make_run(tmp_path, "ppo"), make_run(tmp_path, "ppo")
    asked = ask(2, lambda: pause_run(run))
    with training(run) as results:
        wait_for(lambda: asked and find_answer(run, asked[0]))
        StateFile(other.state_path).write(RunState.RUNNING)
        on = unpause_run(run)
        answer = wait_for(lambda: find_answer(run, on))
        assert answer.ok and answer.reason == "the one place is taken; it goes on when one is free"
        assert (observe(run).state, observe(run).reason) == (RunState.PAUSED, WAITING)
        StateFile(other.state_path).write(RunState.FINISHED)
    assert results[0].state is RunState.FINISHED


def test_scores_on_request_count_for_nothing_else(tmp_path: Path, ask: Any) -> None:
    run, plain = (make_run(tmp_path / name, "ppo", eval_every=0, checkpoint_freq=1) for name in ("asked", "plain"))
    both: list[str] = []

    def wish() -> str:
        both.append(request_evaluation(run, 0))
        both.append(request_evaluation(run))
        return both[0]

    train(plain)
    ask(2, wish)
    train(run)
    first, second = (find_scores(run, request) for request in both)
    assert first is not None and first["checkpoint"] == "checkpoint_000000000000" and first["seed"] == 10_000
    assert second is not None and second["of_steps"] == 200 and len(second["returns"]) == 3
    assert run.best() is None and events(run, "evaluation") == []
    last = [{k: v for k, v in metrics(each)[-1].items() if not k.startswith("time/")} for each in (run, plain)]
    assert last[0] == last[1]


def test_an_evaluated_checkpoint_plays_episodes_that_follow(tmp_path: Path) -> None:
    run = make_run(tmp_path, "ppo", total_steps=200, rescore_best=0)
    train(run)
    before = observe(run)
    for seed in (10_003, 10_006):
        request = request_evaluation(run, 200)
        told = wait_for(lambda request=request: find_scores(run, request))
        assert told["seed"] == seed and len(told["returns"]) == 3
        answer = find_answer(run, request)
        assert answer is not None and answer.ok and "over 3 episodes" in answer.reason
    written = durable.read_document(run.latest().path / "evaluation.json")["evaluations"]  # type: ignore[union-attr]
    assert [(item["kind"], item["seed"]) for item in written] == [
        ("claimed", 10_000),
        ("rescored", 10_003),
        ("rescored", 10_006),
    ]
    assert written[2]["request"] == request
    assert observe(run) == before
    with pytest.raises(NotFoundError, match="no checkpoint of 150 steps; the nearest have 0, 200"):
        request_evaluation(run, 150)


def test_a_plain_environment_has_no_terms(tmp_path: Path, ask: Any) -> None:
    run = make_run(tmp_path, "ppo", EnvSource("CartPole-v1", "CartPole-v1"), total_steps=300, eval_every=0)
    ids = ask(1, lambda: change_run(run, {"reward.upright": 0.5}))
    assert train(run).state is RunState.FINISHED
    answer = find_answer(run, ids[0])
    assert answer is not None and "gives one reward and not its terms" in answer.reason


def test_what_was_given_is_met_again_in_the_order_it_counted(tmp_path: Path) -> None:
    run = make_run(tmp_path, "ppo")
    with EventWriter(run.events_path) as writer:
        writer.append("set", steps=100, values={"ppo.ent_coef": 0.1}, old={})
        writer.append("set", steps=400, values={"ppo.ent_coef": 0.4, "total_steps": 700}, old={})
        writer.append("resumed", steps=200, from_steps=200)
        writer.append("set", steps=200, values={"total_steps": 900, "stop_criteria": {}}, by="resume")
        writer.append("set", steps=300, values={"ppo.ent_coef": 0.3}, old={})
    sets = read_sets(run, {}, 1)
    assert sets.begun_with == {"total_steps": 900, "stop_criteria": {}, "ppo.ent_coef": 0.1}
    assert [(item.steps, dict(item.values)) for item in sets.ahead] == [
        (300, {"ppo.ent_coef": 0.3}),
        (400, {"ppo.ent_coef": 0.4}),
    ]
    assert read_sets(run, {"total_steps": 1000}, 3).begun_with == {
        "stop_criteria": {},
        "ppo.ent_coef": 0.4,
        "total_steps": 1000,
    }
