"""A run that was cut off and goes on ends as one that never was, bit for bit."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.training.conftest import HALF_CHEETAH, TINY, make_run
from workbench import durable
from workbench.policies import read_checkpoint
from workbench.runs import EventWriter, RunDirectory, RunState
from workbench.runs.events import Event
from workbench.training import RunResult
from workbench.training.learner import Learner
from workbench.training.log import RunLog
from workbench.training.plain import unpack
from workbench.training.replay_log import ReplayLog
from workbench.training.resumption import folded
from workbench.training.session import Session

ALGORITHMS = ("ppo", "sac", "td3")
FIELDS: dict[str, Any] = {
    "checkpoint_every_steps": 200,
    "total_steps": 900,
    "normalize_observations": True,
    "normalize_rewards": True,
}
"""Long enough for a replay buffer of 300 steps to go round."""
NOT_THE_SAME = ("time", "t", "wall_s", "elapsed_s")


def make(folder: Path, algorithm: str, **fields: Any) -> RunDirectory:
    block = {} if algorithm == "ppo" else {algorithm: {**TINY[algorithm][algorithm], "buffer_size": 300}}
    return make_run(folder, algorithm, HALF_CHEETAH, **{**FIELDS, **block, **fields})


def digest(run: RunDirectory) -> dict[str, str]:
    """Return a hash of each thing that must be the same: weights and statistics, learner, replay, and the stream."""
    last = run.checkpoints()[-1]
    tensors = read_checkpoint(last.path).tensors
    state = unpack(last.path / "resume.pt")
    return {
        "weights": _hash({name: tensors[name] for name in sorted(tensors)}),
        "learner": _hash(_timeless(state["learner"])),
        "rest": _hash(_timeless({name: state[name] for name in ("replay", "keeper", "trainer")})),
        "metrics": _hash([_timeless(event) for event in stream(run, "metrics")]),
        "evaluations": _hash([_timeless(event) for event in stream(run, "evaluation")]),
        "checkpoints": _hash([_timeless(event) for event in stream(run, "checkpoint")]),
    }


def stream(run: RunDirectory, kind: str) -> list[Event]:
    return [event for event in folded(run, 10**12) if event["kind"] == kind]


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _timeless(item)
            for key, item in sorted(value.items(), key=str)
            if key not in NOT_THE_SAME and not str(key).startswith(("time/", "timings/"))
        }
    if isinstance(value, list):
        # Rows of metrics yet to come, and episodes.
        return [_timeless(item) for item in value if not (isinstance(item, list) and str(item[0]).startswith("time/"))]
    return value


def _hash(value: Any) -> str:
    return hashlib.sha256(_bytes(value)).hexdigest()


def _bytes(value: Any) -> bytes:
    if isinstance(value, torch.Tensor | np.ndarray):
        array = np.asarray(value)
        return f"{array.dtype}{array.shape}".encode() + array.tobytes()
    if isinstance(value, dict):
        return b"{" + b",".join(_bytes(key) + b":" + _bytes(item) for key, item in value.items()) + b"}"
    if isinstance(value, list | tuple):
        return b"[" + b",".join(map(_bytes, value)) + b"]"
    return repr(value).encode()


def train(run: RunDirectory, **settings: Any) -> RunResult:
    with RunLog(run.log_path) as log:
        return Session(run, log, off_policy_steps=100, **settings).run()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """What a run of each algorithm ends with that nobody cut off."""
    found = {}
    for algorithm in ALGORITHMS:
        run = make(tmp_path_factory.mktemp("whole"), algorithm)
        assert train(run).state is RunState.FINISHED
        found[algorithm] = digest(run)
    return found


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_same_run_twice_is_the_same(tmp_path: Path, algorithm: str, whole: dict[str, dict[str, str]]) -> None:
    run = make(tmp_path, algorithm)
    train(run)
    assert digest(run) == whole[algorithm]


class Cut(BaseException):
    """The power is gone: nothing of ours catches this."""


class Knife:
    """Cuts a run off at the n-th of all the moments at which its files change."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.moments = 0
        self.cuts_at = 0
        for owner, name in (
            (EventWriter, "append"),
            (durable, "seal_directory"),
            (durable, "write_bytes"),
            (ReplayLog, "append"),
            (ReplayLog, "sync"),
            (ReplayLog, "forget"),
            (Learner, "iterate"),
            (RunDirectory, "set_best"),
        ):
            patch.setattr(owner, name, self._watched(getattr(owner, name)))

    def _watched(self, function: Any) -> Any:
        def call(*args: Any, **keywords: Any) -> Any:
            self._pass()
            result = function(*args, **keywords)
            self._pass()
            return result

        return call

    def _pass(self) -> None:
        self.moments += 1
        if self.moments == self.cuts_at:
            raise Cut


@pytest.fixture
def knife(monkeypatch: pytest.MonkeyPatch) -> Knife:
    return Knife(monkeypatch)


def cut(knife: Knife, run: RunDirectory, moment: int) -> bool:
    """Train until a moment and return whether the run was cut off there: it may have ended before."""
    knife.moments, knife.cuts_at = 0, moment
    try:
        train(run)
    except Cut:
        return True
    finally:
        knife.cuts_at = 0
    return False


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("moments", [(40, 41), (77, 90), (103, 60), (130,), (151, 20), (180, 3)])
def test_a_run_that_was_cut_off_ends_as_one_that_was_not(
    tmp_path: Path, knife: Knife, algorithm: str, moments: tuple[int, ...], whole: dict[str, dict[str, str]]
) -> None:
    run = make(tmp_path, algorithm)
    for moment in moments:
        cut(knife, run, moment)
    assert train(run).state is RunState.FINISHED
    assert digest(run) == whole[algorithm]
