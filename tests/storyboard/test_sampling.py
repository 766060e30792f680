from __future__ import annotations

import math

import pytest

from workbench.errors import RequestError
from workbench.storyboard.sampling import Schedule, sample


@pytest.mark.parametrize(
    ("last", "wanted", "schedule", "base", "expected"),
    [
        (19, 5, "linear", 2, [0, 5, 10, 14, 19]),
        (19, 5, "exponential", 2, [0, 4, 8, 13, 19]),
        (19, 5, "exponential", 100, [0, 1, 2, 6, 19]),
        (9, 10, "exponential", 1000, list(range(10))),
        (99, 8, "linear", 2, [0, 14, 28, 42, 57, 71, 85, 99]),
        (99, 8, "exponential", 3, [0, 8, 18, 30, 43, 59, 77, 99]),
        (4, 1, "linear", 2, [4]),
        (0, 5, "linear", 2, [0]),
        (2, 8, "linear", 2, [0, 1, 2]),
    ],
)
def test_the_known_vectors(last: int, wanted: int, schedule: Schedule, base: float, expected: list[int]) -> None:
    assert sample(last + 1, wanted, schedule=schedule, base=base) == expected


@pytest.mark.parametrize("schedule", ["linear", "exponential"])
@pytest.mark.parametrize("base", [1.0001, 2, 1e3, 1e300])
def test_positions_rise_are_distinct_and_hold_both_ends(schedule: Schedule, base: float) -> None:
    for available in range(1, 25):
        for wanted in range(1, 27):
            chosen = sample(available, wanted, schedule=schedule, base=base)
            assert len(chosen) == min(available, wanted)
            assert chosen == sorted(set(chosen))
            assert chosen[-1] == available - 1
            assert len(chosen) == 1 or chosen[0] == 0


@pytest.mark.parametrize("base", [1.0, 0.5, -2.0, math.inf, math.nan])
def test_a_base_that_is_no_growth_is_refused(base: float) -> None:
    with pytest.raises(RequestError, match="above 1"):
        sample(5, 3, schedule="exponential", base=base)


def test_a_count_below_one_is_refused() -> None:
    with pytest.raises(RequestError, match="at least 1"):
        sample(5, 0)
