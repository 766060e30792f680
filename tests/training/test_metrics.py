"""Metrics over whole episodes, with values worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.simulation import Episode
from workbench.training.metrics import EpisodeMetrics


def episode(rewards: list[float], terminated: bool = False, reason: str = "time_limit", **terms: list[float]) -> Any:
    parts = terms or {"only": rewards}
    return Episode(
        copy=0,
        ret=sum(rewards),
        length=len(rewards),
        terminated=terminated,
        reason=reason,
        reward_square_sum=sum(value**2 for value in rewards),
        term_sums={name: sum(values) for name, values in parts.items()},
        term_square_sums={name: sum(value**2 for value in values) for name, values in parts.items()},
        info_sums={"speed": 3.0 * len(rewards)},
        info_square_sums={"speed": 9.0 * len(rewards)},
    )


def test_means_and_deviations_are_per_step_and_sums_per_episode() -> None:
    metrics = EpisodeMetrics().fold(
        [
            episode([1.0, 3.0], forward=[2.0, 4.0], effort=[-1.0, -1.0]),
            episode([5.0, 7.0], forward=[6.0, 8.0], effort=[-1.0, -1.0]),
        ]
    )
    # Steps 1 3 5 7: mean 4, variance (9 + 1 + 1 + 9) / 4 = 5.
    assert metrics["rollout/reward_mean"] == 4.0
    assert metrics["rollout/reward_std"] == pytest.approx(5**0.5)
    assert metrics["reward/forward_mean"] == 5.0
    assert metrics["reward/forward_sum"] == 10.0
    assert metrics["reward/effort_std"] == 0.0
    assert metrics["reward/forward_sum"] + metrics["reward/effort_sum"] == 8.0, "the mean return"
    assert (metrics["info/speed_mean"], metrics["info/speed_std"]) == (3.0, 0.0)


def test_endings_are_counted_and_stay_once_seen() -> None:
    folding = EpisodeMetrics()
    first = folding.fold([episode([1.0], terminated=True, reason="fell"), episode([1.0]), episode([1.0])])
    assert (first["terminated/fell"], first["truncated/time_limit"]) == (1, 2)
    second = folding.fold([episode([1.0])])
    assert (second["terminated/fell"], second["truncated/time_limit"]) == (0, 1)
    assert folding.episodes == 4


def test_how_long_episodes_were_is_told_by_what_ended_them() -> None:
    folding = EpisodeMetrics()
    first = folding.fold([episode([1.0] * 4, terminated=True, reason="fell"), episode([1.0] * 7), episode([1.0] * 9)])
    assert (first["length/fell"], first["length/time_limit"]) == (4.0, 8.0)
    # None fell: there is no length to tell.
    assert "length/fell" not in folding.fold([episode([1.0])])


def test_without_a_whole_episode_there_is_nothing_to_say() -> None:
    assert EpisodeMetrics().fold([]) == {}


def test_a_longer_episode_weighs_more_in_the_mean_per_step() -> None:
    metrics = EpisodeMetrics().fold([episode([0.0] * 9), episode([10.0])])
    assert metrics["rollout/reward_mean"] == 1.0
