"""Failure groups, the bar, the table and what to do next, on episodes made up by hand."""

from __future__ import annotations

import csv
import io

import pytest

from tests.policies.scores import scores
from workbench.errors import RequestError
from workbench.policies.episode_table import rows, to_csv, worst
from workbench.policies.judgement import failure_groups, judge, next_steps, success_range

TABLE = scores(
    (5.0, -2.5, 7.0, 0.25),
    (True, False, True, False),
    lengths=(10, 3, 8, 20),
    reasons=("goal", "fall", "goal", "time_limit"),
    terms={"near": (6.0, -2.0, 8.0, 1.0), "effort": (-1.0, -0.5, -1.0, -0.75)},
    control_period_s=0.05,
)


def test_figures_equal_a_computation_by_hand() -> None:
    told = TABLE.to_json()
    assert (told["num_episodes"], told["mean_return"], told["min_return"], told["max_return"]) == (4, 2.4375, -2.5, 7.0)
    # Squares of 2.5625, -4.9375, 4.5625, -2.1875 sum to 56.546875; population, so a quarter of that.
    assert told["std_return"] == pytest.approx(14.13671875**0.5)
    assert told["mean_length"] == 10.25
    assert (told["success_rate"], told["success_measured"], told["episodes_successful_at_reset"]) == (0.5, True, 0)
    assert told["endings"] == {"goal": 2, "fall": 1, "time_limit": 1}
    assert told["returns"] == [5.0, -2.5, 7.0, 0.25]


def test_the_table_has_a_row_for_each_episode_and_a_column_for_each_term() -> None:
    read = list(csv.DictReader(io.StringIO(to_csv(TABLE))))
    assert [row["seed"] for row in read] == ["100", "101", "102", "103"]
    assert read[1] == {
        "episode": "1",
        "seed": "101",
        "success": "false",
        "ended_by": "fall",
        "length": "3",
        "time_s": "0.15",
        "return": "-2.5",
        "problem": "",
        "reward_near": "-2.0",
        "reward_effort": "-0.5",
    }
    for row in read:
        assert float(row["reward_near"]) + float(row["reward_effort"]) == float(row["return"])


def test_what_is_not_known_is_empty_in_the_table() -> None:
    row = next(csv.DictReader(io.StringIO(to_csv(scores((1.0,))))))
    assert (row["success"], row["time_s"]) == ("", "")


def test_failures_come_before_successes_among_the_worst_and_broken_simulations_before_all() -> None:
    broken = scores((9.0, 1.0, 3.0, 2.0), (False, True, False, True), problems={0: "it blew up."})
    assert [row.episode for row in worst(broken, 4)] == [0, 2, 1, 3]
    assert [row.episode for row in worst(broken, 2)] == [0, 2]
    assert rows(broken)[0].problem == "it blew up."


def test_failures_are_grouped_by_how_they_ended() -> None:
    many = scores(
        (0,) * 6, (True, False, False, False, False, True), reasons=("goal", "fall", "late", "fall", "fall", "goal")
    )
    assert [(group.ended_by, group.count) for group in failure_groups(many)] == [("fall", 3), ("late", 1)]
    assert failure_groups(scores((1.0, 2.0))) == [] and success_range(scores((1.0, 2.0))) is None


def test_the_observed_rate_decides_and_the_range_warns() -> None:
    verdict = judge(scores((0,) * 100, [True] * 87 + [False] * 13), 0.85)
    assert verdict.is_passed and verdict.is_uncertain and verdict.episodes_to_tell == 400
    assert not judge(scores((0,) * 100, [True] * 87 + [False] * 13), 0.9).is_passed
    sure = judge(scores((0,) * 100, [True] * 100), 0.9)
    assert sure.is_passed and not sure.is_uncertain


def test_a_bar_without_success_is_refused() -> None:
    with pytest.raises(RequestError, match="does not say what success is"):
        judge(scores((1.0, 2.0)), 0.5)


def test_next_steps_follow_from_the_figures() -> None:
    good = scores((3,) * 100, [True] * 100)
    assert next_steps(good, name="a1b2") == []
    hopeless = next_steps(scores((0,) * 100, [False] * 100), name="a1b2")
    assert "not learned" in hopeless[0] and "evaluate a1b2 --record-worst 1" in hopeless[-1]
    few = next_steps(scores((1, 1, 0, 0), (True, True, False, False)), name="a1b2")
    assert any("--episodes 16" in step for step in few)
    perverse = next_steps(scores((1,) * 50 + (2,) * 50, [True] * 50 + [False] * 50), name="a1b2")
    assert any("pays for something else" in step for step in perverse)
    broken = next_steps(scores((0, 1), problems={1: "the qpos is nan."}, successful_at_reset=1), name="a1b2")
    assert "episode 101 first (the qpos is nan)" in broken[0] and "before anything acted" in broken[1]
