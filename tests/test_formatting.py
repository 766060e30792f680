from __future__ import annotations

import math

import pytest

from workbench import formatting

NBSP = "\u00a0"


def plain(text: str) -> str:
    return text.replace(NBSP, " ")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (999, "999"), (1402, "1 402"), (9142272, "9 142 272"), (-1234, "−1 234"), (None, "–"), (math.nan, "–")],
)
def test_digits_stand_in_threes(value: float | None, text: str) -> None:
    assert plain(formatting.digits(value)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (310, "310"), (999, "999"), (9800, "9.8 k"), (29_400, "29.4 k"), (521_000, "521 k"),
        (999_499, "999 k"), (999_600, "1 M"), (1_000_000, "1 M"), (9_150_000, "9.15 M"), (15_000_000, "15 M"),
        (2.5e9, "2.5 G"), (-3200, "−3.2 k"), (12.345, "12.3"), (None, "–"), (math.inf, "–"),
    ],
)  # fmt: skip
def test_amounts_have_three_significant_figures(value: float | None, text: str) -> None:
    assert plain(formatting.amount(value)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1402.4, "1 402"), (999.7, "1 000"), (-999.7, "−1 000"), (118.2, "118"), (0.0112, "0.0112"),
        (-0.42, "−0.42"), (0, "0"), (3e-5, "3e-5"),
        (-3e-5, "−3e-5"), (4.1e9, "4.10e9"), (1.0, "1"), (99.96, "100"), (float("nan"), "–"),
    ],
)  # fmt: skip
def test_measured_values(value: float, text: str) -> None:
    assert plain(formatting.number(value)) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (45, "45s"), (934, "15m 34s"), (7500, "2h 05m"), (273_600, "3d 4h"), (-1, "–"), (None, "–")],
)
def test_durations_have_two_units(seconds: float | None, text: str) -> None:
    assert formatting.duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (8.2, "8s"), (59.4, "59s"), (59.6, "1m"), (319, "5m 20s"), (600, "10m"), (1560, "26m"), (3590, "1h"),
        (7700, "2h 10m"), (111_600, "31h"), (260_000, "3d"), (None, "–"),
    ],
)  # fmt: skip
def test_remaining_times_have_two_figures(seconds: float | None, text: str) -> None:
    assert formatting.eta(seconds) == text


@pytest.mark.parametrize(("seconds", "text"), [(14, "14s"), (900, "15m"), (3700, "1h"), (260_000, "3d"), (-5, "0s")])
def test_ages_have_one_unit(seconds: float, text: str) -> None:
    assert formatting.age(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"), [(840, "840 B"), (1_400_000, "1.4 MB"), (126e6, "126 MB"), (2.1e9, "2.1 GB"), (9.99e6, "10 MB")]
)
def test_sizes(count: float, text: str) -> None:
    assert plain(formatting.size(count)) == text


def test_what_is_not_done_is_never_a_hundred_percent() -> None:
    assert plain(formatting.percent(0.999)) == "99 %"
    assert plain(formatting.percent(1.0)) == "100 %"


def test_bars_fill_with_the_fraction() -> None:
    assert formatting.bar(0.61, 9) == "▓▓▓▓▓░░░░"
    assert formatting.bar(0.61, 9, plain=True) == "#####...."
    assert formatting.bar(None, 9) == ""
    assert formatting.bar(1.7, 3) == "▓▓▓"


def test_counts_agree_with_their_noun() -> None:
    assert plain(formatting.plural(1, "run")) == "1 run"
    assert plain(formatting.plural(1200, "run")) == "1 200 runs"


def test_a_spread_without_a_deviation_is_a_value() -> None:
    assert plain(formatting.spread(1688, 74)) == "1 688 ± 74"
    assert plain(formatting.spread(1688, None)) == "1 688"
