from __future__ import annotations

import numpy as np
import pytest

from workbench.ui.charts.growing import Extremes
from workbench.ui.charts.line import Line, cut, nearest, pieces
from workbench.ui.charts.raster import Stroke, rasterize

SIZE = 60
RANGES = (0.0, 50_000.0), (-400.0, 400.0)


def long_line(seed: int = 0, count: int = 50_000) -> Line:
    y = np.cumsum(np.random.default_rng(seed).normal(size=count))
    extremes = Extremes()
    extremes.extend(y)
    return Line(np.arange(float(count)), y, extremes)


@pytest.mark.parametrize("seed", range(3))
def test_a_line_of_few_points_has_nearly_the_dots_of_all_of_them(seed: int) -> None:
    line = long_line(seed)
    few_x, few_y = line.drawn(RANGES[0], SIZE)
    assert len(few_x) <= 4 * (2 * SIZE + 2)
    few, all_of_it = (
        rasterize([Stroke(x, y, 0)], SIZE, 20, *RANGES).dots for x, y in ((few_x, few_y), (line.x, line.y))
    )
    differing = np.unpackbits((few ^ all_of_it)[..., None], axis=-1).sum()
    # The edges of columns move to those of blocks.
    assert differing <= 0.04 * np.unpackbits(all_of_it[..., None], axis=-1).sum()


def test_a_single_spike_is_never_lost() -> None:
    line = long_line()
    line.y[31_337] = 1e6
    extremes = Extremes()
    extremes.extend(line.y)
    assert Line(line.x, line.y, extremes).drawn(RANGES[0], SIZE)[1].max() == 1e6


def test_a_long_gap_is_seen_and_a_short_one_hides_nothing() -> None:
    line = long_line()
    line.y[10_000:20_000] = np.nan
    line.y[30_000:30_003] = np.nan
    extremes = Extremes()
    extremes.extend(line.y)
    x, y = Line(line.x, line.y, extremes).drawn(RANGES[0], SIZE)
    gaps = x[np.isnan(y)]
    assert gaps.min() >= 10_000 and gaps.max() <= 20_000 and len(list(pieces(x, y))) == 2


def test_a_part_of_a_line_holds_its_points_as_they_are() -> None:
    line = long_line()
    x, y = line.drawn((1000.0, 1100.0), SIZE)
    assert np.array_equal(x, line.x[1000:1101]) and np.array_equal(y, line.y[1000:1101])
    assert line.extent(1000, 1100) == (line.y[999:1102].min(), line.y[999:1102].max())


def test_the_extent_of_a_stretch_between_two_points_is_that_of_the_line_joining_them() -> None:
    assert Line(np.array([0.0, 10.0]), np.array([1.0, 3.0])).extent(4, 6) == (1, 3)
    assert Line(np.empty(0), np.empty(0)).extent(0, 1) is None
    assert Line(np.arange(2.0), np.full(2, np.nan)).extent(0, 1) is None


def test_a_sample_is_of_the_whole_stretch() -> None:
    found = long_line().sample(0, 50_000)
    assert 8000 <= len(found) <= 20_000


def test_the_last_value_is_found_behind_a_long_gap() -> None:
    y = np.full(5000, np.nan)
    y[7] = 1.0
    assert Line(np.arange(5000.0), y).last_finite(4999) == 7
    assert Line(np.arange(5000.0), y).last_finite(6) is None


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


@pytest.mark.parametrize(("wanted", "place"), [(-5, 0), (0, 0), (14, 1), (16, 2), (99, 3)])
def test_the_nearest_of_rising_values(wanted: float, place: int) -> None:
    assert nearest(np.array([0.0, 10, 20, 30]), wanted) == place
