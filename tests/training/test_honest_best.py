"""The best checkpoint is settled by episodes that nothing was chosen by."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.training.conftest import events, make_run, train_here, wait_for
from workbench.policies import Evaluation, evaluate
from workbench.policies.scoring import write_claim
from workbench.runs import EventWriter, RunDirectory, RunState, StateFile, observe, send
from workbench.runs.claims import claims
from workbench.runs.pruning import plan_pruning
from workbench.runs.steering import find_answer, find_best, request_best
from workbench.training import RunResult
from workbench.training.evaluations import Outcome, ScorerInTurn
from workbench.training.honest_best import HonestBest
from workbench.training.log import RunLog
from workbench.training.session import Session

LUCKY = {"checkpoint_000000000000": 9000.0, "checkpoint_000000000100": 8000.0}
"""Claims that no policy is worth."""


@pytest.fixture
def luck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the evaluations of untrained policies come out far too well."""
    take = ScorerInTurn.take

    def lucky(scorer: ScorerInTurn, give_up: Any) -> Outcome | None:
        outcome = take(scorer, give_up)
        if outcome is None or outcome.checkpoint.name not in LUCKY:
            return outcome
        assert outcome.evaluation is not None
        scores = Evaluation(
            **{**outcome.evaluation.__dict__, "returns": (LUCKY[outcome.checkpoint.name],) * 3}  # type: ignore[arg-type]
        )
        write_claim(outcome.checkpoint, scores)
        return Outcome(outcome.checkpoint, scores)

    monkeypatch.setattr(ScorerInTurn, "take", lucky)


def rescored(checkpoint: Path) -> list[dict[str, Any]]:
    document = json.loads((checkpoint / "evaluation.json").read_text())
    return [scores for scores in document["evaluations"] if scores["kind"] == "rescored"]


def bound(checkpoint: Path) -> float:
    return evaluate(checkpoint, episodes=20, seed=10_003).lower_bound


@pytest.mark.usefixtures("luck")
def test_new_episodes_take_the_place_from_a_lucky_claim(tmp_path: Path) -> None:
    result = train_here(make_run(tmp_path, "ppo", checkpoint_freq=1, rescore_best=3, rescore_episodes=20))
    run = result.run
    candidates = [claim.checkpoint.path for claim in claims(run)[:3]]
    assert [path.name for path in candidates[:2]] == list(LUCKY)
    # What each is worth, from the same episodes played here.
    worth = {path: bound(path) for path in candidates}
    assert result.best == max(worth, key=lambda path: worth[path]) and result.best.name not in LUCKY
    for path in candidates:
        [scores] = rescored(path)
        assert (scores["seed"], scores["episodes"]) == (10_003, 20)
        assert scores["lower_bound"] == pytest.approx(worth[path])
    assert not any(rescored(item.path) for item in run.checkpoints() if item.path not in candidates)
    [moved] = events(run, "best")
    assert (moved["before"], moved["checkpoint"]) == ("checkpoint_000000000000", result.best.name)
    assert moved["mean_return"] == rescored(result.best)[0]["mean_return"] != moved["claimed"]
    told = events(run, "scores")
    assert [(each["checkpoint"], each["claimed"]) for each in told[:2]] == list(LUCKY.items())
    assert f"best is {result.best.name}, and not checkpoint_000000000000" in run.log_path.read_text()


@pytest.mark.usefixtures("luck")
def test_claims_are_trusted_where_none_is_to_be_scored_again(tmp_path: Path) -> None:
    result = train_here(make_run(tmp_path, "ppo", checkpoint_freq=1, rescore_best=0))
    assert result.best is not None and result.best.name == "checkpoint_000000000000"
    assert events(result.run, "best") == events(result.run, "scores") == []


@pytest.mark.usefixtures("luck")
def test_candidates_stay_until_the_best_is_settled_and_go_then(tmp_path: Path) -> None:
    result = train_here(make_run(tmp_path, "ppo", checkpoint_freq=1, keep_last=1, rescore_best=2, rescore_episodes=8))
    # Without that, the second would have gone with the third checkpoint.
    assert [event["checkpoint"] for event in events(result.run, "scores")] == list(LUCKY)
    kept = {0, 500} | ({100} if result.best is not None and result.best.name.endswith("100") else set())
    assert {item.steps for item in result.run.checkpoints()} == kept


def slow_scores(monkeypatch: pytest.MonkeyPatch, run: RunDirectory) -> None:
    """Let someone ask for a stop in the middle of the second scoring."""
    score_afresh = ScorerInTurn.score_afresh
    begun: list[Path] = []

    def slow(scorer: ScorerInTurn, checkpoint: Path, give_up: Any) -> Outcome | None:
        begun.append(checkpoint)
        if len(begun) == 2:
            send(run, "stop")
        return score_afresh(scorer, checkpoint, give_up)

    monkeypatch.setattr(ScorerInTurn, "score_afresh", slow)


@pytest.mark.usefixtures("luck")
def test_a_stop_leaves_the_best_by_claim_and_a_resumed_run_settles_it(tmp_path: Path) -> None:
    run = make_run(tmp_path / "stopped", "ppo", checkpoint_freq=1, rescore_episodes=20)
    with pytest.MonkeyPatch.context() as patch:
        slow_scores(patch, run)
        result = train_here(run)
    assert (result.state, result.steps) == (RunState.STOPPED, 500)
    assert result.best is not None and result.best.name == "checkpoint_000000000000"
    assert len(events(run, "scores")) == 1 and events(run, "best") == []
    again = train_here(run)
    assert again.state is RunState.FINISHED
    whole = train_here(make_run(tmp_path / "whole", "ppo", checkpoint_freq=1, rescore_episodes=20))
    assert again.best is not None and whole.best is not None
    assert again.best.name == whole.best.name != "checkpoint_000000000000"
    assert events(run, "best")[-1]["lower_bound"] == events(whole.run, "best")[-1]["lower_bound"]


def test_a_scoring_without_end_is_given_up_and_leaves_the_best_as_it_was(tmp_path: Path) -> None:
    run = train_here(make_run(tmp_path, "ppo", total_steps=200, checkpoint_freq=1, rescore_best=0)).run
    before, paths = run.best(), [item.path for item in run.checkpoints()]
    with RunLog(run.log_path) as log, closing(EventWriter(run.events_path)) as stream:
        settled = HonestBest(run, stream, ScorerInTurn(run.spec()), log, limit_s=0.0).settle(paths, lambda: False)
    assert settled, "nobody asked to stop"
    assert run.best() == before and events(run, "best") == events(run, "scores") == []
    assert "was given up" in run.log_path.read_text()


def apart(run: RunDirectory) -> RunResult:
    with RunLog(run.log_path) as log:
        return Session(run, log, evaluates_apart=True).run()


def test_it_is_the_same_in_a_process_of_its_own(tmp_path: Path) -> None:
    told = []
    for place, train in (("here", train_here), ("apart", apart)):
        result = train(make_run(tmp_path / place, "ppo", total_steps=300, checkpoint_freq=1, rescore_episodes=10))
        assert result.state is RunState.FINISHED, result.run.log_path.read_text()
        told.append([{k: v for k, v in event.items() if k != "time"} for event in events(result.run, "scores")])
        told[-1] += [{k: v for k, v in event.items() if k != "time"} for event in events(result.run, "best")]
    assert told[0] == told[1] and len(told[0]) == 4


@pytest.mark.usefixtures("luck")
def test_a_run_that_ended_long_ago_can_be_settled_later(tmp_path: Path) -> None:
    run = train_here(make_run(tmp_path, "ppo", checkpoint_freq=1, rescore_best=0)).run
    request = request_best(run, 2, 12)
    answer = wait_for(lambda: find_answer(run, request))
    assert answer.ok and answer.reason == "2 checkpoints are scored over 12 episodes"
    found = wait_for(lambda: find_best(run, request))
    best = run.best()
    assert best is not None and best.path.name == found["checkpoint"]
    assert found["before"] == "checkpoint_000000000000" and found["claimed"] in LUCKY.values()
    assert [scores["seed"] for scores in rescored(best.path)] == [10_003]
    assert observe(run).state is RunState.FINISHED


def test_without_claims_there_is_nothing_to_settle(tmp_path: Path) -> None:
    run = train_here(make_run(tmp_path, "ppo", total_steps=100, eval_every=0)).run
    request = request_best(run, 3)
    answer = wait_for(lambda: find_answer(run, request))
    assert not answer.ok and "evaluated" in answer.reason


def test_a_live_run_keeps_its_candidates_from_the_pruner(tmp_path: Path) -> None:
    run = train_here(make_run(tmp_path, "ppo", checkpoint_freq=1, rescore_best=2)).run
    for item, lower_bound in zip(run.checkpoints(), (1.0, 9.0, 5.0, 8.0, 2.0, 3.0), strict=True):
        claim = {"kind": "claimed", "lower_bound": lower_bound}
        item.evaluation_path.write_text(json.dumps({"format": 1, "evaluations": [claim]}))
    run.set_best(run.checkpoints()[1].path.name)
    assert [item.steps for item in plan_pruning(run).goes] == [200, 300, 400]
    # As one that trains: this process carries it.
    StateFile(run.state_path).write(RunState.RUNNING)
    assert [item.steps for item in plan_pruning(run).goes] == [200, 400]
