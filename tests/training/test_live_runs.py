"""Children that are asked to stop, signalled and killed while they train."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.training.conftest import events, make_run, metrics, start_child, wait_for
from workbench.policies import read_checkpoint
from workbench.runs import RunDirectory, RunState, observe, send

NEVER = {"total_steps": 0, "stop_criteria": {"wall_time_s": 600.0}, "checkpoint_freq": 1, "keep_last": 3}


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[RunDirectory, Any]]]:
    """Three children that train on and on, started together."""
    root = tmp_path_factory.mktemp("live")
    runs = {name: make_run(root, "ppo", **NEVER) for name in ("asked", "signalled", "killed")}
    children = {name: start_child(run) for name, run in runs.items()}
    yield {name: (runs[name], children[name]) for name in runs}
    for child in children.values():
        if child.poll() is None:
            child.kill()
        child.wait()


def training(run: RunDirectory, child: subprocess.Popen[bytes]) -> bool:
    assert child.poll() is None, run.log_path.read_text()
    return len(events(run, "metrics")) > 4


def assert_stopped(run: RunDirectory, child: subprocess.Popen[bytes], reason: str) -> None:
    assert child.wait(timeout=60) == 0
    observed = observe(run)
    assert (observed.state, observed.reason) == (RunState.STOPPED, reason)
    latest = run.latest()
    assert latest is not None and latest.steps == events(run)[-1]["steps"]
    # Where scores were waited for, the last iteration is told of by the process that goes on.
    assert latest.steps - metrics(run)[-1]["time/total_timesteps"] in (0, 100)
    assert read_checkpoint(latest.path).record.steps == latest.steps
    assert [event["state"] for event in events(run, "state")][-2:] == ["stopping", "stopped"]


def test_requests_are_answered_and_stop_saves_a_last_checkpoint(live: Any) -> None:
    run, child = live["asked"]
    wait_for(lambda: training(run, child))
    wanted = {verb: send(run, verb) for verb in ("checkpoint", "resume", "set", "dance", "stop")}
    assert_stopped(run, child, "stopped by request")
    answers = {event["id"]: event for event in events(run, "request")}
    assert answers[wanted["checkpoint"]]["ok"] and answers[wanted["stop"]]["ok"]
    assert answers[wanted["checkpoint"]]["reason"].startswith("checkpoint_")
    refused = {verb: answers[wanted[verb]]["reason"] for verb in ("resume", "set", "dance")}
    assert not any(answers[wanted[verb]]["ok"] for verb in refused)
    assert refused["resume"] == "the run is not paused"
    assert refused["set"] == "no value is given"
    assert "no dance" in refused["dance"]
    assert not list(run.control.iterdir())


def test_sigterm_is_a_wish_to_stop(live: Any) -> None:
    run, child = live["signalled"]
    wait_for(lambda: training(run, child))
    child.send_signal(signal.SIGTERM)
    assert_stopped(run, child, "stopped by SIGTERM")


def test_a_killed_run_leaves_whole_checkpoints(live: Any) -> None:
    run, child = live["killed"]
    wait_for(lambda: training(run, child))
    child.kill()
    child.wait()
    assert observe(run).state is RunState.CRASHED
    checkpoints = run.checkpoints()
    assert checkpoints
    for checkpoint in checkpoints:
        assert read_checkpoint(checkpoint.path).record.steps == checkpoint.steps
    latest = run.latest()
    assert latest is not None and latest.steps >= checkpoints[-1].steps - 100
    # The untrained one, the three among which the best will be settled and the newest three; one more may go just now.
    assert checkpoints[0].steps == 0 and len(checkpoints) <= 7 + 1


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    child = start_child(RunDirectory(tmp_path))
    assert child.wait(timeout=60) == 2
    assert "holds no run.json" in (tmp_path / "output.log").read_text()
