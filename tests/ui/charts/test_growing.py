from __future__ import annotations

import numpy as np
import pytest

from workbench.ui.charts.growing import Extremes, Growing


def test_what_was_handed_out_stays_as_it_is_while_it_grows() -> None:
    row = Growing()
    row.extend(np.arange(10.0))
    before = row.view
    for _ in range(20):
        row.extend(np.full(100, -1.0))
    assert before.tolist() == list(range(10)) == row.view[:10].tolist()
    assert len(row) == 2010


@pytest.mark.parametrize("count", [10, 1000, 70_000])
@pytest.mark.parametrize("stretches", [1, 7])
def test_extremes_are_those_of_the_values_between_the_edges(count: int, stretches: int) -> None:
    values = np.random.default_rng(count).normal(size=count)
    values[3::11] = np.nan
    extremes = Extremes()
    extremes.extend(values)
    edges, lows, highs = extremes.of(values, np.linspace(1, count - 1, stretches + 1).astype(np.int64))
    assert (edges[0], edges[-1]) == (1, count - 1)
    for low, high, start, end in zip(lows, highs, edges[:-1], edges[1:], strict=True):
        finite = [value for value in values[start:end] if not np.isnan(value)]
        wanted = (min(finite), max(finite)) if finite else (np.nan, np.nan)
        assert (low, high) == pytest.approx(wanted, abs=0, nan_ok=True)


def test_growing_bit_by_bit_is_the_same_as_at_once() -> None:
    values = np.random.default_rng(1).normal(size=20_000)
    bits, whole = Extremes(), Extremes()
    for end in range(0, 20_001, 37):
        bits.extend(values[:end])
    bits.extend(values)
    whole.extend(values)
    places = np.linspace(0, 20_000, 11).astype(np.int64)
    for one, other in zip(bits.of(values, places), whole.of(values, places), strict=True):
        assert np.array_equal(one, other)


def test_edges_move_by_a_small_part_of_a_stretch_only() -> None:
    values = np.zeros(1_000_000)
    extremes = Extremes()
    extremes.extend(values)
    wanted = np.linspace(0, 1_000_000, 321).astype(np.int64)
    used, _, _ = extremes.of(values, wanted)
    assert np.abs(used - wanted).max() <= (1_000_000 / 320) / 16


def test_nothing_between_edges_has_no_extremes() -> None:
    assert len(Extremes().of(np.empty(0), np.array([0, 0]))[1]) == 0
