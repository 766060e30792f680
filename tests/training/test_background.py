"""Writing beside the training: in order, whole, and never waited for without need."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.training.conftest import events, make_run, metrics, train_here, wait_for
from workbench.runs import EventTail, RunDirectory, RunState
from workbench.training.background import Background, EventsInOrder
from workbench.training.learner import Learner

LIMIT_S = 30.0


@pytest.fixture
def background() -> Iterator[Background]:
    made = Background()
    yield made
    made.close()


def test_work_is_done_in_order_and_waited_for(background: Background) -> None:
    gate, done = threading.Event(), []
    background.add(lambda: gate.wait(LIMIT_S))
    for number in range(5):
        background.add(lambda number=number: done.append(number))
    assert not background.is_idle and done == []
    background.check()
    gate.set()
    background.drain()
    assert background.is_idle and done == [0, 1, 2, 3, 4]


def fail() -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_nothing_is_done_after_what_failed(background: Background) -> None:
    done: list[int] = []
    background.add(fail)
    background.add(lambda: done.append(1))
    with pytest.raises(OSError, match="No space left"):
        background.drain()
    with pytest.raises(OSError, match="No space left"):
        background.check()
    background.close()
    assert done == [] and not background.is_idle


def test_closing_waits_for_what_is_still_to_do(background: Background) -> None:
    gate, done = threading.Event(), []
    background.add(lambda: gate.wait(LIMIT_S))
    background.add(lambda: done.append(1))
    threading.Timer(0.05, gate.set).start()
    background.close()
    background.close()
    assert done == [1]


def told(path: Path) -> list[tuple[Any, Any]]:
    return [(event["kind"], event["steps"]) for event in EventTail(path).poll()]


def test_events_come_behind_the_work_before_them(tmp_path: Path, background: Background) -> None:
    gate, path = threading.Event(), tmp_path / "events.jsonl"
    with EventsInOrder(path, background) as stream:
        stream.append("state", steps=1)
        assert told(path) == [("state", 1)]
        background.add(lambda: gate.wait(LIMIT_S))
        stream.append("checkpoint", steps=2)
        stream.append("metrics", steps=3)
        assert told(path) == [("state", 1)]
        gate.set()
        # Whoever answers a request deletes it next.
        stream.append("request")
        assert told(path) == [("state", 1), ("checkpoint", 2), ("metrics", 3), ("request", 3)]


def test_nothing_is_told_of_what_failed_but_how_it_ended(tmp_path: Path, background: Background) -> None:
    path = tmp_path / "events.jsonl"
    with EventsInOrder(path, background) as stream:
        background.add(fail)
        stream.append("checkpoint", steps=2)
        background.close()
        stream.append("state", state="failed", steps=3)
    assert told(path) == [("state", 3)]


class Disk:
    """Promises nothing in the background until it is let."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.gate = threading.Event()
        self._fsync = os.fsync
        patch.setattr(os, "fsync", self._slow)

    def _slow(self, handle: int) -> None:
        if threading.current_thread().name == "background writer":
            assert self.gate.wait(LIMIT_S), "training waited for the disk"
        self._fsync(handle)


def watch(patch: pytest.MonkeyPatch, iterated: Callable[[Learner], None]) -> None:
    iterate = Learner.iterate

    def watched(learner: Learner) -> None:
        iterate(learner)
        iterated(learner)

    patch.setattr(Learner, "iterate", watched)


def stream(run: RunDirectory) -> list[dict[str, Any]]:
    timeless = [
        {name: value for name, value in event.items() if name not in ("time", "wall_s", "values")}
        for event in events(run)
    ]
    values = [{name: value for name, value in row.items() if not name.startswith("time/")} for row in metrics(run)]
    return [*timeless, *values]


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_training_goes_on_while_the_disk_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str
) -> None:
    fields: dict[str, Any] = {"total_steps": 3500, "checkpoint_every_steps": 3000, "seed": 5}
    if algorithm == "ppo":
        fields |= {"total_steps": 600, "checkpoint_every_steps": 500}
    quick, slow = (make_run(tmp_path / name, algorithm, **fields) for name in ("quick", "slow"))
    assert train_here(quick).state is RunState.FINISHED
    disk, seen = Disk(monkeypatch), []

    def iterated(learner: Learner) -> None:
        if learner.iteration == 2:
            seen.append((slow.checkpoints(), metrics(slow), (slow.path / "latest").exists()))
            disk.gate.set()

    watch(monkeypatch, iterated)
    assert train_here(slow).state is RunState.FINISHED
    assert seen == [([], [], False)], "nothing is told before the untrained policy is sealed"
    assert stream(slow) == stream(quick)
    assert [item.steps for item in slow.checkpoints()] == [item.steps for item in quick.checkpoints()]


def test_a_full_disk_ends_the_run_at_the_next_iteration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path, "ppo", checkpoint_freq=2, eval_every=0)
    fsync, is_full = os.fsync, threading.Event()
    init, made = Background.__init__, list[Background]()

    def full(handle: int) -> None:
        if is_full.is_set() and threading.current_thread().name == "background writer":
            fail()
        fsync(handle)

    def iterated(learner: Learner) -> None:
        if learner.iteration == 2:
            wait_for(lambda: events(run, "checkpoint"))
            is_full.set()
        if learner.iteration == 3:
            wait_for(lambda: made[0]._failure)

    monkeypatch.setattr(Background, "__init__", lambda self: [made.append(self), init(self)][1])
    monkeypatch.setattr(os, "fsync", full)
    watch(monkeypatch, iterated)
    result = train_here(run)
    assert result.state is RunState.FAILED
    assert result.reason == "the disk is full; the last checkpoint is checkpoint_000000000000"
    assert result.iterations == 3
    assert [event["steps"] for event in events(run, "checkpoint")] == [0]
    assert not list(run.path.glob(".checkpoint_*")), "what was half written is gone"


def test_a_failure_waits_for_the_checkpoint_being_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch)

    def iterated(learner: Learner) -> None:
        threading.Timer(0.05, disk.gate.set).start()
        raise RuntimeError("the spring broke")

    watch(monkeypatch, iterated)
    run = make_run(tmp_path, "ppo", eval_every=0)
    result = train_here(run)
    assert result.reason == "RuntimeError: the spring broke; the last checkpoint is checkpoint_000000000000"
    assert [event["kind"] for event in events(run)] == ["state", "checkpoint", "metrics", "state", "state"]
