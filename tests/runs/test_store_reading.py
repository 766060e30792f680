"""Long streams read in parts, and rows of runs that ended and lie still."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from workbench import durable
from workbench.runs import EventWriter, RunDirectory
from workbench.runs import store as module
from workbench.runs.store import RunStore


def make_run(root: Path, short_id: str, *, events: int = 2000, state: str = "finished") -> RunDirectory:
    run = RunDirectory(root / "PPO" / f"ant_20261129-1200{short_id[:2]}_{short_id}")
    run.path.mkdir(parents=True)
    durable.write_json(run.spec_path, {"format": 1, "spec": {"env_id": "Ant-v5", "algorithm": "ppo", "seed": 1}})
    durable.write_json(run.state_path, {"format": 1, "state": state, "reason": "done"})
    with EventWriter(run.events_path) as stream:
        for place in range(events):
            stream.append("metrics", steps=place * 10, values={"rollout/ep_rew_mean": float(place)})
            if place == 5:
                stream.append("anomaly", what="not_finite")
    return run


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a short stream be a long one."""
    monkeypatch.setattr(module, "_SHORT", 1)


@pytest.mark.usefixtures("long")
def test_without_time_the_end_of_a_stream_is_told_and_the_rest_later(tmp_path: Path) -> None:
    make_run(tmp_path, "00aa")
    store = RunStore(tmp_path)
    [hurried] = store.list(seconds=0.0)
    assert store.is_behind
    assert (hurried.steps, hurried.last_return, hurried.anomalies) == (19_990, 1999.0, 0)
    [whole] = store.list()
    assert not store.is_behind
    [alone] = RunStore(tmp_path).list()
    assert (whole.steps, whole.last_return, whole.anomalies) == (19_990, 1999.0, 1)
    assert replace(whole, age_s=0.0) == replace(alone, age_s=0.0)


@pytest.mark.usefixtures("long")
def test_the_newest_run_is_read_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for short_id in ("10aa", "30aa", "20aa"):
        make_run(tmp_path, short_id)
    read: list[str] = []
    monkeypatch.setattr(
        "workbench.runs.digest.Digest.refresh", lambda digest: read.append(digest._tail.path.parent.name)
    )
    RunStore(tmp_path).list(seconds=60.0)
    assert [name[-4:] for name in read] == ["30aa", "20aa", "10aa"]


def lie_still(run: RunDirectory) -> None:
    """Let a run's files be some minutes old."""
    then = time.time() - 600
    for path in (run.events_path, run.path):
        os.utime(path, (then, then))


def test_a_run_that_lies_still_is_not_read_again_until_something_changes(tmp_path: Path) -> None:
    run = make_run(tmp_path, "00aa", events=10)
    lie_still(run)
    now = [1000.0]
    store = RunStore(tmp_path, clock=lambda: now[0])
    [first] = store.list()
    assert store.list()[0] is first
    now[0] += 60
    [older] = store.list()
    assert older.age_s == max(0.0, now[0] - first.created)
    assert store.list({"ppo.gamma"})[0] is not older
    durable.write_json(run.annotations_path, {"tags": ["new"]})
    assert store.list()[0].tags == ("new",)
    lie_still(run)
    with EventWriter(run.events_path) as stream:
        stream.append("anomaly", what="not_finite")
    assert store.list()[0].anomalies == 2
    durable.write_json(run.state_path, {"format": 1, "state": "queued"})
    assert store.list()[0].state == "queued"


def test_a_folder_that_just_changed_is_looked_at_again(tmp_path: Path) -> None:
    run = make_run(tmp_path, "00aa", events=1)
    store = RunStore(tmp_path)
    store.list()
    stamp = run.path.stat()
    durable.write_json(run.annotations_path, {"note": "in the same tick"})
    os.utime(run.path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert store.list()[0].note == "in the same tick"
