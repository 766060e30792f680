"""Seeds in one drawing: what they say together ends with the first of them, the others go on by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.report.plot import Line
from workbench.report.seed_lines import seed_lines


def flat(value: float, end: int, start: int = 0) -> tuple[np.ndarray, np.ndarray]:
    steps = np.arange(start, end + 1, dtype=float)
    return steps, np.full(len(steps), value)


def test_a_seed_that_goes_on_does_not_pull_the_mean_to_itself() -> None:
    together, alone = seed_lines([flat(1.0, 10), flat(3.0, 20)], Line("PPO", slot=2))
    assert together.label == "PPO" and together.steps[-1] == 10 and not together.thin
    assert set(together.values) == {2.0}
    assert (alone.steps[0], alone.steps[-1]) == (10, 20) and set(alone.values) == {3.0}
    assert alone.label == "" and alone.thin and alone.slot == together.slot == 2


def test_the_interval_of_three_seeds_ends_with_the_first_too() -> None:
    together, *alone = seed_lines([flat(1.0, 10), flat(2.0, 15), flat(3.0, 20)], Line("PPO"))
    assert together.low is not None and together.high is not None
    assert len(together.low) == len(together.steps) and together.steps[-1] == 10
    # Every draw of three of 1, 2 and 3 has its mean between them, and 27 ways spread it.
    assert (together.low >= 1).all() and (together.high <= 3).all() and (together.low < together.high).all()
    assert [line.steps[-1] for line in alone] == [15, 20]


def test_seeds_that_end_together_leave_nothing_behind() -> None:
    [line] = seed_lines([flat(1.0, 10), flat(3.0, 10)], Line("PPO", dashed=True), with_band=False)
    assert line.dashed and line.low is None and set(line.values) == {2.0}


@pytest.mark.parametrize("curves", [[], [flat(1.0, -1)]])
def test_without_points_there_is_no_line(curves: list[tuple[np.ndarray, np.ndarray]]) -> None:
    assert seed_lines(curves, Line("PPO")) == []


def test_one_seed_is_drawn_as_it_is() -> None:
    steps, values = np.array([1.0, 4.0, 9.0]), np.array([2.0, 0.0, 5.0])
    [line] = seed_lines([(np.empty(0), np.empty(0)), (steps, values)], Line("PPO", slot=1))
    assert line.steps.tolist() == [1, 4, 9] and line.values.tolist() == [2, 0, 5] and not line.thin


def test_seeds_that_never_meet_are_drawn_by_themselves_and_named_once() -> None:
    lines = seed_lines([flat(1.0, 5), flat(3.0, 20, start=10)], Line("PPO"))
    assert [line.label for line in lines] == ["PPO", ""]
    assert [(line.steps[0], line.steps[-1]) for line in lines] == [(0, 5), (10, 20)]
