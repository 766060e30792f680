"""Comparisons on planted scores."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from tests.policies.scores import scores
from workbench.errors import RequestError
from workbench.policies.comparison import compare, to_csv

HARD = np.linspace(0, 1000, 40)
"""Returns that differ far more from episode to episode than the policies do."""
NOISE = np.random.default_rng(0).normal(0, 1, 40)


def test_pairs_show_what_the_spread_of_episodes_would_hide() -> None:
    new, old = scores(HARD + 5 + NOISE), scores(HARD)
    [duel] = compare(["new", "old"], [new, old]).duels
    assert duel.outcome == "did_better"
    assert duel.difference.value == pytest.approx(5 + NOISE.mean())
    # Five standard errors of the mean away from nothing on either side.
    assert duel.difference.low > 4 and duel.difference.high < 6
    assert (duel.higher, duel.lower) == (40, 0)
    assert (duel.improved, duel.regressed, duel.p_value) == (None, None, None)
    assert compare(["old", "new"], [old, new]).did_worse == ["new"]


def test_chance_is_no_difference() -> None:
    [duel] = compare(["new", "old"], [scores(HARD + NOISE - NOISE.mean()), scores(HARD)]).duels
    assert duel.outcome == "no_clear_difference" and duel.difference.low < 0 < duel.difference.high


def test_success_decides_where_it_is_measured() -> None:
    # Ten episodes differ: nine solved by the new one alone, one by the old one alone; 2 × (1 + 10) / 1024.
    ours = [True] * 9 + [False] + [True] * 10
    theirs = [False] * 9 + [True] + [True] * 10
    comparison = compare(["new", "old"], [scores((0,) * 20, ours), scores((9,) * 20, theirs)])
    [duel] = comparison.duels
    assert (duel.improved, duel.regressed) == (9, 1) and duel.p_value == pytest.approx(0.021484375)
    assert duel.outcome == "did_better" and comparison.did_worse == []
    assert compare(["old", "new"], [scores((9,) * 20, theirs), scores((0,) * 20, ours)]).did_worse == ["new"]


def test_few_episodes_that_differ_are_no_clear_difference() -> None:
    # Five against none: 2 / 32 is above 0.05.
    [duel] = compare(["new", "old"], [scores((0,) * 9, [True] * 9), scores((0,) * 9, [True] * 4 + [False] * 5)]).duels
    assert duel.p_value == pytest.approx(0.0625) and duel.outcome == "no_clear_difference"


@pytest.mark.parametrize(("successes", "fewest"), [(True, 6), (False, 5)])
def test_with_fewer_episodes_than_it_says_nothing_is_clear(successes: bool, fewest: int) -> None:
    # Five tosses of a coin that fall alike are 2 / 32, six are 2 / 64.
    for episodes in (fewest - 1, fewest):
        good = scores((1,) * episodes, [True] * episodes if successes else None)
        bad = scores((0,) * episodes, [False] * episodes if successes else None)
        comparison = compare(["new", "old"], [good, bad])
        assert comparison.fewest_episodes == fewest
        assert (comparison.duels[0].outcome == "did_better") is (episodes == fewest)


def test_the_first_is_compared_with_each_of_the_others() -> None:
    comparison = compare(["new", "good", "bad"], [scores(HARD), scores(HARD + 50 + NOISE), scores(HARD - 50 + NOISE)])
    assert [(duel.new, duel.old, duel.outcome) for duel in comparison.duels] == [
        ("new", "good", "did_worse"),
        ("new", "bad", "did_better"),
    ]
    assert comparison.did_worse == ["good"]
    told = comparison.to_json()
    assert [one["name"] for one in told["policies"]] == ["new", "good", "bad"]
    assert [one["outcome"] for one in told["comparisons"]] == ["did_worse", "did_better"]


def test_ranges_of_a_policy_hold_its_mean_and_its_middle_half() -> None:
    one = compare(["new", "old"], [scores(HARD), scores(HARD)]).standings[0]
    assert one.mean.value == pytest.approx(500) and one.mean.low < 500 < one.mean.high
    # The middle half of an arithmetic series has the same mean.
    assert one.iqm.value == pytest.approx(500)
    # The standard error of the mean is 46.8; a 95 % range reaches about twice that far.
    assert 70 < one.mean.high - 500 < 110


def test_the_same_scores_always_give_the_same_ranges() -> None:
    pair = [scores(HARD + NOISE), scores(HARD)]
    assert compare(["a", "b"], pair).to_json() == compare(["a", "b"], pair).to_json()


def test_the_table_has_every_policy_beside_the_others() -> None:
    comparison = compare(["new", "old"], [scores((1, 2), (True, False)), scores((3, 4))])
    read = list(csv.DictReader(io.StringIO(to_csv(comparison))))
    assert read[1] == {"episode": "1", "seed": "101", "return new": "2.0", "success new": "false", "return old": "4.0"}


def test_other_episodes_cannot_be_compared() -> None:
    with pytest.raises(RequestError, match="old did not play the same episodes as new"):
        compare(["new", "old"], [scores((1, 2)), scores((1, 2), seed=7)])
    with pytest.raises(RequestError, match="at least two"):
        compare(["new"], [scores((1, 2))])
