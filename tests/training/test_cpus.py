"""Threads: as many as the CPUs and the copies are good for, and no more than a run's share."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.training.conftest import make_run, tiny_spec, train_here
from workbench.errors import RequestError
from workbench.runs import RunState, StateFile
from workbench.runs.supervisor import SLOTS_VARIABLE
from workbench.training.cpus import choose_threads, runs_beside
from workbench.training.device import choose_device


@pytest.mark.parametrize(
    ("n_envs", "cpus", "beside", "physics", "updates"),
    [
        (1, 2, 0, 1, 2),
        (4, 2, 0, 1, 2),
        (7, 2, 0, 1, 2),
        (8, 2, 0, 2, 2),
        (256, 2, 0, 2, 2),
        (256, 2, 1, 1, 1),
        (256, 2, 5, 1, 1),
        (256, 16, 1, 8, 8),
        (16, 16, 1, 4, 8),
        (256, 1, 0, 1, 1),
    ],
)
def test_threads_follow_from_cpus_copies_and_neighbours(
    n_envs: int, cpus: int, beside: int, physics: int, updates: int
) -> None:
    threads = choose_threads(n_envs, asked=None, beside=beside, most=cpus)
    assert (threads.physics, threads.updates) == (physics, updates)


def test_threads_that_were_asked_for_are_given_as_far_as_there_are_cpus() -> None:
    threads = choose_threads(4, asked=3, beside=1, most=8)
    assert (threads.physics, threads.updates) == (3, 3)
    threads = choose_threads(64, asked=32, most=8)
    assert (threads.physics, threads.updates) == (8, 8)
    assert threads.reason == "8 CPUs, of 32 asked for"


def test_runs_that_train_or_wait_count_and_ended_ones_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SLOTS_VARIABLE, "4")
    run, queued, running, paused, ended, crashed = (make_run(tmp_path, "ppo") for _ in range(6))
    assert runs_beside(run) == 0
    StateFile(queued.state_path).write_queued(queued_ns=1)
    for other, state in ((running, RunState.RUNNING), (paused, RunState.PAUSED), (ended, RunState.FINISHED)):
        StateFile(other.state_path).write(state)
    stored = StateFile(crashed.state_path).write(RunState.RUNNING)
    StateFile(crashed.state_path).store(type(stored)(**{**stored.__dict__, "pid_started": 1.0}))
    assert runs_beside(run) == 2
    monkeypatch.setenv(SLOTS_VARIABLE, "2")
    assert runs_beside(run) == 1


def test_the_log_tells_the_threads_and_the_device_with_their_reasons(tmp_path: Path) -> None:
    result = train_here(make_run(tmp_path, "ppo", total_steps=100))
    log = result.run.log_path.read_text()
    assert "1 physics, 1 update threads: " in log
    assert "networks on cpu: " in log


def test_small_networks_stay_on_the_cpu_beside_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device(tiny_spec("sac"))[0] == "cpu"
    large = {"net_arch": (2048, 2048, 2048), "batch_size": 1024}
    assert choose_device(tiny_spec("sac", sac=large)) == ("cuda", "networks this large are faster there")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device(tiny_spec("sac", sac=large))[0] == "cpu"


def test_a_device_that_is_not_there_is_refused_instead_of_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    result = train_here(make_run(tmp_path, "ppo", device="cuda"))
    assert (result.state, result.reason) == (
        RunState.FAILED,
        "device is cuda, and torch finds no CUDA GPU here; use auto or cpu.",
    )
    assert result.latest is None
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device(tiny_spec("ppo", device="cuda:1")) == ("cuda:1", "asked for")
    with pytest.raises(RequestError, match="the last CUDA GPU here is cuda:1"):
        choose_device(tiny_spec("ppo", device="cuda:2"))
