"""What readers of a stream make of a best checkpoint that new episodes settled."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.runs import EventWriter, RunDirectory
from workbench.runs.digest import Digest
from workbench.runs.history import History


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    """A run whose best claim, at step 100, was luck."""
    run = RunDirectory.create(tmp_path, "ppo", "cart_pole")
    with EventWriter(run.events_path) as events:
        for steps, mean in ((100, 9.0), (200, 5.0)):
            name = f"checkpoint_{steps:012d}"
            scores = {"mean_return": mean, "std_return": 1.0, "lower_bound": mean - 1}
            events.append("evaluation", steps=steps, checkpoint=name, taken=steps, **scores)
        for steps, mean, claimed in ((100, 2.0, 9.0), (200, 6.0, 5.0)):
            scores = {"mean_return": mean, "std_return": 0.5, "lower_bound": mean - 0.5}
            events.append("scores", by="run", of_steps=steps, claimed=claimed, **scores)
        best = {"checkpoint": "checkpoint_000000000200", "of_steps": 200, "before": "checkpoint_000000000100"}
        events.append("best", **best, mean_return=6.0, std_return=0.5, lower_bound=5.5, claimed=5.0)
    return run


def test_a_list_shows_what_new_episodes_came_to_and_the_claim_beside(run: RunDirectory) -> None:
    digest = Digest(run)
    digest.refresh()
    assert digest.best is not None
    assert (digest.best.steps, digest.best.mean_return, digest.best.claimed_return) == (200, 6.0, 5.0)


def test_a_history_knows_the_settled_one(run: RunDirectory) -> None:
    history = History(run)
    history.refresh()
    assert history.best_evaluation is not None and history.best_evaluation.steps == 200
    assert [(item.steps, item.mean_return) for item in history.scores] == [(100, 2.0), (200, 6.0)]


def test_a_run_that_goes_on_goes_by_claims_again(run: RunDirectory) -> None:
    digest, history = Digest(run), History(run)
    with EventWriter(run.events_path) as events:
        events.append("resumed", steps=200, from_steps=200)
    digest.refresh()
    history.refresh()
    assert digest.best is not None and (digest.best.steps, digest.best.claimed_return) == (100, None)
    assert history.best_evaluation is not None and history.best_evaluation.steps == 100


def test_what_could_not_be_settled_changes_nothing(run: RunDirectory) -> None:
    with EventWriter(run.events_path) as events:
        events.append("best", id="x", failure="none of them could be scored")
    digest, history = Digest(run), History(run)
    digest.refresh()
    history.refresh()
    assert digest.best is not None and digest.best.steps == 200
    assert history.settled == "checkpoint_000000000200"
