"""A run whose folder is moved or deleted while it trains ends, and leaves nothing where the folder was."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.training.conftest import make_run, train_here
from workbench.runs import EventTail, RunDirectory, RunState
from workbench.training.learner import Learner


def _delete(path: Path) -> None:
    # The run may be writing something new into it meanwhile.
    while path.exists():
        shutil.rmtree(path, ignore_errors=True)


def _move(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


@pytest.mark.parametrize("take_away", [_delete, _move])
@pytest.mark.parametrize("checkpoint_freq", [0, 1])
def test_a_run_without_its_folder_ends_and_makes_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, take_away: Callable[[Path], None], checkpoint_freq: int
) -> None:
    run = make_run(tmp_path, "ppo", total_steps=100_000, checkpoint_freq=checkpoint_freq, eval_every=0)
    iterate = Learner.iterate

    def iterate_and_lose(learner: Learner) -> None:
        iterate(learner)
        if learner.iteration == 2:
            take_away(run.path)

    monkeypatch.setattr(Learner, "iterate", iterate_and_lose)
    result = train_here(run)
    assert (result.state, result.reason) == (RunState.FAILED, "its folder was moved or deleted")
    assert result.iterations == 2
    assert not run.path.exists()
    if take_away is _move:
        moved = RunDirectory(run.path.with_name("elsewhere"))
        last = EventTail(moved.events_path).poll()[-1]
        assert (last["kind"], last["state"], last["reason"]) == ("state", "failed", result.reason)
