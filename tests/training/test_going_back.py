"""Runs that go back to a checkpoint because of an anomaly, or wait for a person there."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.training.conftest import events, make_run, metrics, start_child, train_here, wait_for
from tests.training.planted import FIELDS, planted, the_anomaly, train
from tests.training.test_resume import digest
from tests.training.test_steering import training
from workbench.policies import read_checkpoint
from workbench.runs import RunDirectory, RunState, observe, stop_run
from workbench.runs.anomalies import windows
from workbench.runs.requests import Answer
from workbench.runs.steering import change_run, find_answer, request_checkpoint, unpause_run
from workbench.training import RunResult
from workbench.training.learner import Learner
from workbench.training.log import RunLog
from workbench.training.session import Session


def test_a_run_goes_back_with_half_the_rate_and_comes_to_its_end(tmp_path: Path) -> None:
    once = tmp_path / "failed"
    result = train(tmp_path, "reward", env={"at": 60, "once": str(once)}, on_anomaly="rollback")
    assert (result.state, result.steps) == (RunState.FINISHED, 500)
    assert (the_anomaly(result)["action"], the_anomaly(result)["steps"]) == ("rollback", 236)
    [back] = events(result.run, "resumed")
    told = {name: back[name] for name in ("from_steps", "back_from", "because", "stirred", "rollback", "iteration")}
    assert told == {
        "from_steps": 200,
        "back_from": 236,
        "because": "non_finite_reward",
        "stirred": 1,
        "rollback": 1,
        "iteration": 2,
    }
    [halved] = events(result.run, "set")
    assert (halved["steps"], halved["by"]) == (200, "rollback")
    assert (halved["values"], halved["old"]) == ({"ppo.learning_rate": 1.5e-4}, {"ppo.learning_rate": 3e-4})
    rates = [row["train/learning_rate"] for row in metrics(result.run) if "train/learning_rate" in row]
    assert rates == [3e-4, 3e-4, 1.5e-4, 1.5e-4, 1.5e-4]
    assert [item.steps for item in result.run.checkpoints()] == [0, 100, 200, 300, 400, 500]


@pytest.mark.parametrize("algorithm", ["sac", "td3"])
def test_what_is_replayed_goes_back_too(tmp_path: Path, algorithm: str) -> None:
    once, env = tmp_path / "failed", {"at": 270}
    fields: dict[str, Any] = {"total_steps": 3000, "on_anomaly": "rollback"}
    result = train(tmp_path, "explosion", algorithm=algorithm, env={**env, "once": str(once)}, **fields)
    assert (result.state, result.steps) == (RunState.FINISHED, 3000)
    [back] = events(result.run, "resumed")
    assert (back["from_steps"], back["back_from"]) == (1000, 1076)
    # Nothing of the explosion is left in what is replayed.
    segments = sorted((result.run.path / "replay").glob("*.rows"))
    assert segments and all(np.abs(np.fromfile(path, np.float32)).max() < 1e6 for path in segments)


def test_a_run_that_goes_back_in_vain_fails_and_goes_further_back_each_time(tmp_path: Path) -> None:
    result = train(tmp_path, "reward", env={"at": 60}, on_anomaly="rollback", anomaly_watch={"max_captures": 2})
    assert result.state is RunState.FAILED
    assert "lift is inf; it went back 3 times already; the last checkpoint is checkpoint_" in result.reason
    assert [event["action"] for event in events(result.run, "anomaly")] == [*(3 * ["rollback"]), "stop"]
    assert [event["from_steps"] for event in events(result.run, "resumed")] == [200, 100, 200]
    rates = [event["values"]["ppo.learning_rate"] for event in events(result.run, "set")]
    assert rates == [1.5e-4, 7.5e-5, 3.75e-5]
    names = ["000000000236_non_finite_reward.npz", "000000000236_non_finite_reward_2.npz"]
    assert [path.name for path in windows(result.run)] == names
    assert [event.get("window", "").removeprefix("anomalies/") for event in events(result.run, "anomaly")] == [
        *names,
        "",
        "",
    ]


class Cut(BaseException):
    """The power is gone: nothing of ours catches this."""


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
@pytest.mark.parametrize("cut", [3, 4, 5])
def test_a_run_that_went_back_and_is_cut_off_ends_as_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str, cut: int
) -> None:
    def run_in(folder: Path) -> tuple[RunDirectory, Path]:
        folder.mkdir()
        once = tmp_path / f"{folder.name}-once"
        env = {"at": 60, "once": str(once)}
        fields = {**FIELDS, "on_anomaly": "rollback", "checkpoint_freq": 2, "normalize_observations": True}
        # What is written of the environment is the same for both.
        return make_run(folder, algorithm, planted(tmp_path, "explosion", **env), **fields), once

    whole, _ = run_in(tmp_path / "whole")
    assert train_off_policy(whole).state is RunState.FINISHED
    broken, once = run_in(tmp_path / "broken")
    iterate = Learner.iterate

    def cutting(self: Learner) -> None:
        if once.exists() and self.iteration == cut - 1:
            raise Cut
        iterate(self)

    monkeypatch.setattr(Learner, "iterate", cutting)
    with pytest.raises(Cut):
        train_off_policy(broken)
    monkeypatch.setattr(Learner, "iterate", iterate)
    assert train_off_policy(broken).state is RunState.FINISHED
    assert [event["from_steps"] for event in events(broken, "resumed")] == [200, 400 if cut == 5 else 200]
    assert digest(broken) == digest(whole)


def test_a_run_that_is_killed_after_it_went_back_ends_as_one_that_was_not(tmp_path: Path) -> None:
    runs = []
    for name in ("whole", "killed"):
        source = planted(folder_of(tmp_path, name), "reward", at=60, once=str(tmp_path / f"{name}-once"))
        # What is written of the environment is the same for both.
        source = replace(source, module=str(tmp_path / "whole" / "planted_env.py"))
        fields = {**FIELDS, "total_steps": 4000, "checkpoint_freq": 5, "on_anomaly": "rollback"}
        runs.append(make_run(tmp_path / name, "ppo", source, **fields))
    whole, killed = runs
    child = start_child(killed)
    wait_for(lambda: events(killed, "resumed"))
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert train_here(whole).state is RunState.FINISHED
    assert train_here(killed).state is RunState.FINISHED
    assert len(events(killed, "resumed")) == 2
    assert digest(killed) == digest(whole)


def train_off_policy(run: RunDirectory) -> RunResult:
    with RunLog(run.log_path) as log:
        return Session(run, log, off_policy_steps=100).run()


def test_chance_is_moved_on(tmp_path: Path) -> None:
    runs = [train(folder_of(tmp_path, name), "", total_steps=300).run for name in ("same", "too")]
    once = train(folder_of(tmp_path, "back"), "reward", env={"at": 60, "once": str(tmp_path / "once")},
                 on_anomaly="rollback", total_steps=300).run  # fmt: skip
    tensors = [read_checkpoint(run.checkpoints()[-1].path).tensors["action_net.weight"] for run in (*runs, once)]
    assert np.array_equal(tensors[0], tensors[1]) and not np.array_equal(tensors[0], tensors[2])


def folder_of(parent: Path, name: str) -> Path:
    folder = parent / name
    folder.mkdir()
    return folder


# ---- waiting for a person


def test_a_run_waits_at_what_an_anomaly_left_and_writes_no_checkpoint_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.training.trainer.PAUSE_POLL_S", 0.02)
    run = make_run(tmp_path / "runs", "ppo", planted(tmp_path, "explosion", at=60), on_anomaly="pause", **FIELDS)
    with training(run) as results:
        wait_for(lambda: observe(run).state is RunState.PAUSED)
        assert "beyond observation_limit" in observe(run).reason
        refused = wait_for_answer(run, request_checkpoint(run))
        assert not refused.ok and "no checkpoint is written of what an anomaly left" in refused.reason
        assert wait_for_answer(run, change_run(run, {"anomaly_watch.observation_limit": "none"})).ok
        assert wait_for_answer(run, unpause_run(run)).ok
    assert results[0].state is RunState.FINISHED
    assert [item.steps for item in run.checkpoints()] == [0, 100, 200, 400, 500]
    assert the_anomaly(results[0])["action"] == "pause" and events(run, "resumed") == []


def test_a_run_that_waits_after_an_anomaly_can_be_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.training.trainer.PAUSE_POLL_S", 0.02)
    run = make_run(tmp_path / "runs", "ppo", planted(tmp_path, "explosion", at=60), on_anomaly="pause", **FIELDS)
    with training(run) as results:
        wait_for(lambda: observe(run).state is RunState.PAUSED)
        stop_run(run)
    assert results[0].state is RunState.STOPPED
    assert [item.steps for item in run.checkpoints()] == [0, 100, 200]


def test_a_run_that_cannot_go_on_as_it_is_waits_at_its_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.training.trainer.PAUSE_POLL_S", 0.02)
    source = planted(tmp_path, "reward", at=60, once=str(tmp_path / "once"))
    run = make_run(tmp_path / "runs", "ppo", source, on_anomaly="pause", **FIELDS)
    with training(run) as results:
        wait_for(lambda: observe(run).state is RunState.PAUSED)
        assert observe(run).reason == "planted, copy 2, step 10: the reward term lift is inf"
        [back] = events(run, "resumed")
        assert (back["from_steps"], back["stirred"], back.get("rollback")) == (200, 1, None)
        assert wait_for_answer(run, change_run(run, {"ppo.learning_rate": 1e-4})).ok
        assert wait_for_answer(run, unpause_run(run)).ok
    assert (results[0].state, results[0].steps) == (RunState.FINISHED, 500)
    rates = [row["train/learning_rate"] for row in metrics(run) if "train/learning_rate" in row]
    assert rates == [3e-4, 3e-4, 1e-4, 1e-4, 1e-4]


def wait_for_answer(run: RunDirectory, request: str) -> Answer:
    answer: Answer = wait_for(lambda: find_answer(run, request))
    return answer
