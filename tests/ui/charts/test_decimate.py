from __future__ import annotations

import numpy as np
import pytest

from workbench.ui.charts.decimate import cut, decimate, pieces


def test_every_bucket_keeps_its_lowest_and_highest_value() -> None:
    rng = np.random.default_rng(0)
    x, y = np.arange(10_000.0), rng.normal(size=10_000)
    found_x, found_y = decimate(x, y, 50)
    assert len(found_x) <= 2 * 50 + 2
    assert np.all(np.diff(found_x) > 0)
    width = (x[-1] - x[0]) / 50
    for bucket in range(50):
        of = np.minimum(x // width, 49) == bucket
        kept = np.minimum(found_x // width, 49) == bucket
        assert found_y[kept].min() == y[of].min()
        assert found_y[kept].max() == y[of].max()


def test_a_single_spike_survives() -> None:
    y = np.zeros(100_000)
    y[77_777] = 1e6
    _, found = decimate(np.arange(100_000.0), y, 80)
    assert found.max() == 1e6


def test_first_and_last_point_stay() -> None:
    x, y = decimate(np.linspace(3, 9, 1000), np.linspace(-1, 1, 1000), 10)
    assert (x[0], y[0], x[-1], y[-1]) == (3, -1, 9, 1)


def test_few_points_are_left_alone() -> None:
    x = np.arange(20.0)
    assert decimate(x, x, 10)[0] is x


def test_points_all_at_one_place_become_two() -> None:
    x, _ = decimate(np.zeros(500), np.arange(500.0), 10)
    assert len(x) == 2


def test_pieces_leave_out_what_is_not_finite() -> None:
    y = np.array([np.nan, 1.0, 2.0, np.inf, 3.0, np.nan])
    found = [(x.tolist(), values.tolist()) for x, values in pieces(np.arange(6.0), y)]
    assert found == [([1.0, 2.0], [1.0, 2.0]), ([4.0], [3.0])]


def test_nothing_has_no_pieces() -> None:
    assert list(pieces(np.empty(0), np.empty(0))) == []
    assert list(pieces(np.arange(2.0), np.full(2, np.nan))) == []


def test_a_cut_interpolates_at_both_edges() -> None:
    x, y = cut(np.array([0.0, 10.0, 20.0]), np.array([0.0, 100.0, 0.0]), 5.0, 12.0)
    assert x == pytest.approx([5, 10, 12])
    assert y == pytest.approx([50, 100, 80])


def test_a_cut_between_two_points_is_the_line_that_joins_them() -> None:
    x, y = cut(np.array([0.0, 10.0]), np.array([0.0, 100.0]), 4.0, 6.0)
    assert x == pytest.approx([4, 6])
    assert y == pytest.approx([40, 60])


def test_a_cut_outside_the_curve_is_empty() -> None:
    assert len(cut(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 5.0, 6.0)[0]) == 0
