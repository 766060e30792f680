"""Differences between runs with their intervals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from workbench.runs.contrast import ahead, ahead_in_pairs


def test_a_constant_gap_has_no_width() -> None:
    found = ahead_in_pairs(np.arange(20.0) + 3, np.arange(20.0))
    assert (found.value, found.low, found.high, found.runs) == (3, 3, 3, 20)


def test_episodes_are_drawn_as_pairs() -> None:
    ours, theirs = np.array([10.0, 40.0, 25.0, 90.0, 61.0]), np.array([8.0, 41.0, 20.0, 80.0, 60.0])
    every = [np.mean(draw) for draw in itertools.product(ours - theirs, repeat=5)]
    found = ahead_in_pairs(ours, theirs, repetitions=20_000)
    assert found.value == pytest.approx(17 / 5)
    assert found.low == pytest.approx(np.percentile(every, 2.5), abs=0.21)
    assert found.high == pytest.approx(np.percentile(every, 97.5), abs=0.21)


def test_groups_are_drawn_independently() -> None:
    ours, theirs = [1.0, 2.0, 6.0], [0.0, 0.0, 3.0]
    # Of three scores none is trimmed, so all 27 × 27 draws are differences of means.
    means = [[np.mean(draw) for draw in itertools.product(scores, repeat=3)] for scores in (ours, theirs)]
    every = [mine - other for mine in means[0] for other in means[1]]
    found = ahead(ours, theirs, repetitions=20_000)
    assert found.value == pytest.approx(2.0)
    assert found.low == pytest.approx(np.percentile(every, 2.5), abs=0.34)
    assert found.high == pytest.approx(np.percentile(every, 97.5), abs=0.34)


def test_too_few_have_a_value_and_no_interval() -> None:
    found = ahead([5.0, 7.0], [1.0, 2.0, 3.0, math.nan])
    assert found.value == 4.0 and math.isnan(found.low) and found.runs == 2
    assert math.isnan(ahead([], [1.0]).value)
    assert math.isnan(ahead_in_pairs([1.0, 2.0], [0.0, 0.0]).high)
