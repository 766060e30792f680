"""What runs take from each other."""

from __future__ import annotations

import pytest

from workbench.bench.together import LOADS, Load, common_speed, measure_together
from workbench.errors import WorkFailedError


def test_the_speed_is_that_of_all_runs_over_the_time_they_share() -> None:
    # From 2 s to 6 s one does 100 steps a second, the other 50 for the first half and 150 for the second.
    one = [(0.0, 0.0), (1.0, 10.0), (2.0, 110.0), (8.0, 710.0)]
    other = [(1.0, 0.0), (2.0, 10.0), (4.0, 110.0), (6.0, 410.0)]
    assert common_speed([one, other], 10.0) == pytest.approx(100 + (100 + 300) / 4)
    assert common_speed([one], 0.0) == pytest.approx(710 / 8)


def test_runs_that_share_no_time_have_no_speed() -> None:
    with pytest.raises(WorkFailedError, match="same time"):
        common_speed([[(0.0, 1.0), (1.0, 2.0)], [(2.0, 1.0), (3.0, 2.0)]], 0.0)
    with pytest.raises(WorkFailedError, match="before anything"):
        common_speed([[(0.0, 1.0)]], 2.0)


@pytest.mark.slow
def test_two_trainers_run_at_once() -> None:
    figure = measure_together(Load("sac", 4_000, 2_000, LOADS[1].overrides), 1)
    assert figure.value is not None and figure.value > 0
    assert figure.ours is not None and figure.theirs is not None
    assert figure.value == pytest.approx(figure.ours / figure.theirs)
