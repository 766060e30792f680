"""Ranges and tests of shares, against published figures and against counting every case."""

from __future__ import annotations

import itertools
import math

import pytest

from workbench.policies.chances import Range, mcnemar, wilson


@pytest.mark.parametrize(
    ("successes", "episodes", "low", "high"),
    # Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998), table I,
    # method 3: the score interval without continuity correction.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilsons_range_is_the_published_one(successes: int, episodes: int, low: float, high: float) -> None:
    found = wilson(successes, episodes)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)
    mirrored = wilson(episodes - successes, episodes)
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - found.high, 1 - found.low))


@pytest.mark.parametrize("successes", [0, 3, 10])
def test_wilsons_range_ends_where_the_share_is_just_its_reach_away(successes: int) -> None:
    # The definition: at an end p of the range, |share - p| is z standard deviations of a share whose mean is p.
    found = wilson(successes, 10)
    for end in {found.low, found.high} - {0.0, 1.0}:
        reach = abs(successes / 10 - end) / math.sqrt(end * (1 - end) / 10)
        assert reach == pytest.approx(1.959963984540054)


def test_a_range_is_told_in_whole_percent_rounded_outwards() -> None:
    assert wilson(87, 100).percent() == "79\u00a0% to 93\u00a0%"
    assert Range(0.29, 0.57).percent() == "29\u00a0% to 57\u00a0%"
    assert wilson(20, 20).percent().endswith("100\u00a0%") and wilson(0, 20).percent().startswith("0\u00a0%")


def test_a_range_straddles_a_bar_only_inside() -> None:
    found = Range(0.8, 0.9)
    assert found.straddles(0.85)
    assert not found.straddles(0.8) and not found.straddles(0.95)


@pytest.mark.parametrize(("ours", "theirs"), [(0, 0), (1, 0), (2, 7), (5, 5), (9, 1), (0, 11)])
def test_mcnemars_test_counts_the_tosses_that_are_as_uneven(ours: int, theirs: int) -> None:
    tosses = list(itertools.product((0, 1), repeat=ours + theirs))
    as_uneven = sum(abs(2 * sum(one) - len(one)) >= abs(ours - theirs) for one in tosses)
    assert mcnemar(ours, theirs) == pytest.approx(as_uneven / len(tosses))
    assert mcnemar(ours, theirs) == mcnemar(theirs, ours)


def test_mcnemars_test_of_many_is_near_the_normal_one() -> None:
    # With the correction for continuity: (|600 - 500| - 1)² / 1100 is 8.9100 of chi-square with one degree.
    chi_square = 99**2 / 1100
    assert mcnemar(600, 500) == pytest.approx(math.erfc(math.sqrt(chi_square / 2)), rel=0.01)
