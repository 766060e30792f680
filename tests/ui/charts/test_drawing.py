from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from workbench.ui.charts.drawing import Drawing, draw
from workbench.ui.charts.model import ChartData, ChartView, Curve, Flag, Ladder, Point, Reference, XAxis
from workbench.ui.charts.raster import Stroke, column_of, rasterize, row_of


def curve(values: list[float], *, step: float = 1000.0, letter: str = "a", budget: float | None = None) -> Curve:
    steps = np.arange(1, len(values) + 1) * step
    return Curve("run", "run", steps, steps / 100, steps / 500, np.array(values), letter, 0, budget=budget)


def lines(drawing: Drawing) -> list[str]:
    return ["".join(cell.sign for cell in row) for row in drawing.rows]


RAW = ChartView(weight=0.0)


def test_a_braille_line_goes_where_the_values_go() -> None:
    rows = rasterize([Stroke(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 3)], 10, 5, (0, 1), (0, 1))
    assert rows.dots[4, 0] and rows.dots[0, 9]
    assert not rows.dots[0, 0] and not rows.dots[4, 9]
    assert set(rows.owners[rows.dots > 0].tolist()) == {3}


def test_the_places_of_marks_are_those_of_the_lines() -> None:
    rng = np.random.default_rng(1)
    for x, y in rng.uniform(size=(50, 2)):
        rows = rasterize([Stroke(np.array([x]), np.array([y]), 0)], 31, 9, (0, 1), (0, 1))
        assert rows.dots[row_of(y, (0, 1), 9), column_of(x, (0, 1), 31)]


def test_where_lines_meet_the_later_one_wins() -> None:
    flat = np.array([0.5, 0.5])
    rows = rasterize([Stroke(np.array([0, 1.0]), flat, 0), Stroke(np.array([0, 1.0]), flat, 1)], 6, 3, (0, 1), (0, 1))
    assert set(rows.owners[rows.dots > 0].tolist()) == {1}


def test_a_spike_far_outside_is_drawn_at_once() -> None:
    spike = Stroke(np.array([0, 0.5, 1.0]), np.array([0, 1e300, 0]), 0)
    assert rasterize([spike], 20, 5, (0, 1), (0, 1)).dots[0].any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_a_gap_a_cross_and_a_count(bad: float) -> None:
    drawing = draw(ChartData("m", "m", (curve([1, 2, bad, 3, 4]),)), RAW, 40, 8)
    assert drawing.plan.notes == ("1 not finite",)
    assert "×" in lines(drawing)[6]
    assert drawing.plan.y_range == (1, 4)


def test_no_point_says_why() -> None:
    data = ChartData("m", "m", (curve([]),), empty="Waiting for the first episode to end.")
    assert "Waiting for the first episode to end." in "\n".join(lines(draw(data, RAW, 50, 8)))


def test_one_point_is_a_dot_with_its_value() -> None:
    assert "● 42" in "\n".join(lines(draw(ChartData("m", "m", (curve([42.0]),)), RAW, 40, 8)))


def test_a_constant_is_a_line_at_mid_height() -> None:
    found = lines(draw(ChartData("m", "m", (curve([5.0] * 30, letter=""),)), RAW, 40, 9))
    rows = [index for index, line in enumerate(found) if any("⠀" < sign <= "⣿" for sign in line)]
    assert rows in ([3], [4])


def test_a_goal_near_the_data_is_dotted_and_named() -> None:
    data = ChartData("m", "m", (curve([0, 500, 900]),), (Reference(2000, "goal"),))
    top = lines(draw(data, RAW, 60, 8))[0]
    assert "┄ ┄" in top and top.rstrip().endswith("goal 2\u00a0000")


def test_a_goal_far_away_is_named_at_the_edge_and_does_not_flatten_the_curve() -> None:
    data = ChartData("m", "m", (curve([-300, -250, -200]),), (Reference(9800, "goal"),))
    drawing = draw(data, RAW, 60, 8)
    assert drawing.plan.y_range == (-300, -200)
    assert "↑ goal 9\u00a0800" in lines(drawing)[0]


def test_log_y_leaves_out_what_has_no_logarithm_and_counts_it() -> None:
    drawing = draw(ChartData("m", "m", (curve([-1, 0, 10, 1000]),)), ChartView(weight=0, log=frozenset({"m"})), 40, 9)
    assert drawing.plan.notes == ("2 ≤ 0",)
    assert drawing.plan.y_range == pytest.approx((1, 3))


def test_log_y_of_nothing_positive_is_refused() -> None:
    drawing = draw(ChartData("m", "m", (curve([-1, -2]),)), ChartView(weight=0, log=frozenset({"m"})), 40, 9)
    assert drawing.plan.notes == ("log y needs a value above 0",)
    assert not drawing.plan.log


def test_the_axis_of_a_live_run_does_not_squeeze_its_first_minutes() -> None:
    early = ChartData("m", "m", (curve([1, 2], step=14_000, budget=10e6),))
    assert draw(early, RAW, 60, 8).plan.x_range == (0, 30_000)
    late = ChartData("m", "m", (curve([1, 2], step=4.5e6, budget=15e6),))
    assert draw(late, RAW, 60, 8).plan.x_range == (0, 10e6)
    almost = ChartData("m", "m", (curve([1, 2], step=4.5e6, budget=9.5e6),))
    assert draw(almost, RAW, 60, 8).plan.x_range == (0, 9.5e6)
    ended = ChartData("m", "m", (curve([1, 2], step=4.5e6),))
    assert draw(ended, RAW, 60, 8).plan.x_range == (0, 9e6)


def test_checkpoints_stand_under_the_axis_and_the_crosshair_picks_the_one_before() -> None:
    data = ChartData(
        "m",
        "m",
        (curve([1.0] * 10),),
        checkpoints=(Ladder(0), Ladder(5000, "◆"), Ladder(9000)),
        flags=(Flag(2000, "!"),),
    )
    found = lines(draw(data, ChartView(weight=0, cursor=8000), 60, 10))
    assert found[-1].split() == ["◇", "▲", "◇"]
    assert "!" in found[0] and "┊" in found[0]


def test_marks_follow_the_axis_to_wall_time() -> None:
    data = ChartData("m", "m", (curve([1, 2, 3, 4]),), points=(Point(2000, 3),))
    drawing = draw(data, ChartView(weight=0, x_axis=XAxis.WALL), 60, 10)
    assert drawing.plan.x_of(2000) == 20
    assert "•" in "\n".join(lines(drawing))


def test_letters_of_lines_that_end_together_do_not_hide_each_other() -> None:
    one, two = curve([1, 2, 3], letter="a"), curve([1, 2, 3], letter="b")
    text = "\n".join(lines(draw(ChartData("m", "m", (one, two)), RAW, 60, 10)))
    assert "a" in text and "b" in text


def test_a_tiny_chart_is_a_sparkline_with_the_last_value() -> None:
    found = lines(draw(ChartData("m", "m", (curve([float(i) for i in range(20)]),)), RAW, 20, 3))
    assert "▁" in found[0] and "19 ↗" in found[0]


@pytest.mark.parametrize("size", [(0, 0), (1, 1), (3, 2), (24, 5), (25, 6), (200, 60)])
def test_every_size_is_filled_exactly(size: tuple[int, int]) -> None:
    width, height = size
    data = ChartData("m", "m", (curve([1, 5, 2]),), (Reference(4, "goal"),), checkpoints=(Ladder(1000),))
    drawing = draw(data, ChartView(), width, height)
    assert len(drawing.rows) == (height if width else 0)
    assert all(len(row) == width for row in drawing.rows)


def test_a_window_follows_the_newest_point_at_its_width_or_holds() -> None:
    data = ChartData("m", "m", (curve([float(i) for i in range(100)]),))
    held = draw(data, ChartView(weight=0, window=(10_000, 20_000), following=False), 60, 8)
    assert held.plan.x_range == (10_000, 20_000)
    assert held.plan.y_range == pytest.approx((8, 20), abs=1)
    followed = draw(data, ChartView(weight=0, window=(10_000, 20_000)), 60, 8)
    assert followed.plan.x_range == (90_000, 100_000)


def test_points_out_of_order_or_without_a_place_do_no_harm() -> None:
    steps = np.array([3000.0, np.nan, 1000.0, 2000.0])
    torn = Curve("run", "run", steps, np.full(4, np.nan), steps, np.array([3, 9, 1, 1e300]), "a", 0)
    drawing = draw(ChartData("m", "m", (torn,)), RAW, 40, 8)
    assert drawing.plan.x_range == (0, 3000)
    assert drawing.plan.y_range == (1, 3)
    assert "No points" in "\n".join(lines(draw(ChartData("m", "m", (torn,)), ChartView(x_axis=XAxis.WALL), 40, 8)))


def test_among_many_curves_only_the_one_in_front_shows_its_raw_values() -> None:
    wild = [float(value % 7) for value in range(200)]
    few = [replace(curve(wild), key=str(number), slot=number) for number in range(3)]
    many = [replace(curve(wild), key=str(number), slot=number, bold=number == 2) for number in range(6)]

    def raw(curves: list[Curve]) -> set[str]:
        drawing = draw(ChartData("m", "m", tuple(curves)), ChartView(weight=0.97), 120, 30)
        return {cell.style for row in drawing.rows for cell in row if cell.style.startswith("raw")}

    assert raw(few)
    assert raw(many) == {"raw-2"}


def test_the_axis_reaches_as_far_as_the_run_even_before_its_first_point() -> None:
    waiting = replace(curve([], budget=50e6), reached=42_000.0)
    drawing = draw(ChartData("m", "m", (waiting,), points=(Point(0, -630.0),)), RAW, 60, 8)
    assert drawing.plan.x_range == (0, 50_000)
    assert "•" in "\n".join(lines(drawing))


def test_a_slanted_line_has_one_dot_for_each_column_and_a_steep_one_for_each_row() -> None:
    for end, dots in (((1.0, 0.4), 2 * 20), ((0.1, 1.0), 4 * 10)):
        rows = rasterize([Stroke(np.array([0, end[0]]), np.array([0, end[1]]), 0)], 20, 10, (0, 1), (0, 1))
        assert int(np.unpackbits(rows.dots).sum()) == dots


def test_a_dashed_line_has_half_of_its_dots() -> None:
    line = Stroke(np.array([0.0, 1.0]), np.array([0.5, 0.5]), 0, dashed=True)
    assert int(np.unpackbits(rasterize([line], 20, 4, (0, 1), (0, 1)).dots).sum()) == 20


def test_the_name_of_a_reference_moves_left_where_a_line_ends() -> None:
    data = ChartData("m", "m", (curve([0, 500, 1000, 2000]),), (Reference(2000, "goal"),))
    free = lines(draw(replace(data, curves=(curve([0, 500, 900, 1000]),)), RAW, 60, 8))[0].rstrip()
    taken = lines(draw(data, RAW, 60, 8))[0].rstrip()
    assert free.endswith("goal 2\u00a0000")
    assert taken.endswith("a") and "goal 2\u00a0000" in taken
    assert len(taken) - taken.index("000") > 4


def test_grey_curves_lie_behind_the_coloured_ones() -> None:
    grey = replace(curve([5, 5]), key="grey", slot=None, letter="")
    drawing = draw(ChartData("m", "m", (replace(curve([5, 5]), bold=True, letter=""), grey)), RAW, 40, 8)
    styles = {cell.style for row in drawing.rows for cell in row if "\u2800" < cell.sign <= "\u28ff"}
    assert styles == {"series-0-bold"}


@pytest.mark.parametrize("values", [[1e-300, 2e-300], [1e149, -1e149], [1e12, 1e12 + 1e-3], [5e-324, 0.0]])
def test_numbers_of_any_size_can_be_drawn(values: list[float]) -> None:
    data = ChartData("m", "m", (curve(values),), (Reference(1e300, "goal"), Reference(-1e-300, "other")))
    for width, height in ((24, 5), (60, 12), (200, 40)):
        for view in (RAW, ChartView(log=frozenset({"m"}))):
            drawing = draw(data, view, width, height)
            assert [len(row) for row in drawing.rows] == [width] * height


def test_an_evaluation_outside_the_window_does_not_widen_the_y_axis() -> None:
    data = ChartData("m", "m", (curve([1, 2, 3, 4]),), points=(Point(1000, -500.0), Point(3000, 9.0)))
    view = ChartView(weight=0, window=(2000, 4000), following=False)
    assert draw(data, view, 60, 10).plan.y_range == (1, 9)
    by_time = replace(view, x_axis=XAxis.WALL, window=(20, 40))
    assert draw(data, by_time, 60, 10).plan.y_range == (1, 9)
    assert draw(data, RAW, 60, 10).plan.y_range == (-500, 9)
