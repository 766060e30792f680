"""What the list of a run's events says of how it was steered."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.ui.past import Past
from workbench.ui.run_tables import event_rows


def told(**mark: Any) -> str:
    [row] = event_rows(Past((), marks=({"time": 0.0, "steps": 1000, **mark},)), plain=True)
    return "".join(text for text, _ in row.cells["text"])


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        (
            {
                "values": {"ppo.learning_rate": 1e-4, "keep_last": 3},
                "old": {"ppo.learning_rate": 3e-4, "keep_last": None},
            },
            "C ppo.learning_rate 0.0003 → 0.0001, keep_last none → 3",
        ),
        (
            {"values": {"total_steps": 900, "stop_criteria": {}}, "by": "resume"},
            "C total_steps → 900, stop_criteria → none",
        ),
        ({"values": "torn"}, "C a value"),
    ],
)
def test_changed_values_are_told_with_what_they_were(mark: dict[str, Any], text: str) -> None:
    assert told(kind="set", **mark) == text


def test_what_could_not_be_filmed_is_told() -> None:
    assert told(kind="film", failure="there is no display.") == "• no checkpoint is filmed: there is no display."
    words = "• checkpoint_000000000100 could not be filmed: a wheel came off"
    assert told(kind="film", checkpoint="checkpoint_000000000100", failure="a wheel came off") == words


def test_scores_on_request_are_told() -> None:
    assert told(kind="scores", of_steps=500, mean_return=12.0, std_return=0.5).startswith("• scored 500 on request 12")
    assert told(kind="scores", of_steps=500, failure="the disk is full") == "• scores failed: the disk is full"


def test_a_best_that_new_episodes_settled_is_told_with_the_claims() -> None:
    scores = {"of_steps": 500, "mean_return": 12.0, "std_return": 0.5}
    assert told(kind="scores", by="run", claimed=20.0, **scores) == "• re-scored 500 12 ± 0.5, claimed 20"
    assert told(kind="best", **scores) == "+ best is 500, by new episodes 12 ± 0.5"
    assert told(kind="best", failure="the run goes on") == "• best not settled: the run goes on"
