"""When a run has done enough, and the words for it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.training.conftest import tiny_spec
from workbench.training.stopping import Progress, StopRule


def rule(total_steps: int = 0, **criteria: Any) -> StopRule:
    return StopRule(tiny_spec("ppo", total_steps=total_steps, stop_criteria=criteria))


def at(steps: int = 0, iteration: int = 0, wall_s: float = 0.0) -> Progress:
    return Progress(steps, iteration, wall_s)


@pytest.mark.parametrize(
    ("made", "before", "met", "words"),
    [
        (rule(20_000), at(19_999), at(20_480), "20 480 of 20 000 steps are done"),
        (rule(num_env_steps_sampled_lifetime=500), at(499), at(500), "500 of 500 steps are done over its"),
        (rule(training_iteration=3), at(iteration=2), at(iteration=3), "3 of 3 iterations are done"),
        (rule(wall_time_s=60.0), at(wall_s=59.9), at(wall_s=60.5), "60 seconds of training are over"),
    ],
)
def test_budgets_end_a_run_when_they_are_used_up(made: StopRule, before: Progress, met: Progress, words: str) -> None:
    assert made.reason(before) is None
    assert words in str(made.reason(met))


def test_without_criteria_nothing_ends_a_run() -> None:
    made = rule()
    made.add_evaluation(1e9)
    assert made.reason(at(10**9, iteration=10**6, wall_s=1e6)) is None


def test_the_training_return_counts_once_a_hundred_episodes_have_ended() -> None:
    made = rule(episode_return_mean=5.0)
    for _ in range(99):
        made.add_episode(1000.0)
    assert made.reason(at()) is None
    made.add_episode(1000.0)
    assert "mean return of the last 100 episodes, 1 000, reached 5" in str(made.reason(at()))
    for _ in range(100):
        made.add_episode(4.9)
    assert made.reason(at()) is None


def test_evaluations_must_reach_the_goal_in_a_row() -> None:
    made = rule(evaluation_return_mean=1000.0, consecutive=2)
    for mean in (1000.0, 999.9, 1000.0):
        made.add_evaluation(mean)
        assert made.reason(at()) is None
    made.add_evaluation(1000.0)
    assert made.reason(at()) == "the evaluation return 1 000 reached 1 000, 2 evaluations in a row"


def test_a_goal_below_zero_is_a_goal() -> None:
    made = rule(evaluation_return_mean=-200.0)
    made.add_evaluation(-300.0)
    assert made.reason(at()) is None
    made.add_evaluation(-150.5)
    assert made.reason(at()) == "the evaluation return -150.5 reached -200"
