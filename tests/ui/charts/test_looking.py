from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from workbench.ui.charts import looking
from workbench.ui.charts.model import ChartData, ChartView, Curve, Ladder, Point, XAxis
from workbench.ui.charts.plan import Plan, plan
from workbench.ui.charts.readout import readout, settings

STEPS = np.arange(1, 101) * 1000.0
DATA = ChartData(
    "m", "m", (Curve("run", "run", STEPS, STEPS / 100, STEPS / 500, STEPS / 10, "a", 0),),
    points=(Point(20_000, 5.0, 1.5),), checkpoints=(Ladder(0), Ladder(30_000), Ladder(90_000)),
)  # fmt: skip


def planned(view: ChartView) -> Plan:
    return plan(DATA, view)


def words(view: ChartView) -> str:
    return "".join(text for text, _ in readout(DATA, view, planned(view))).replace("\u00a0", " ")


def test_smoothing_goes_round() -> None:
    view, seen = ChartView(), []
    for _ in range(4):
        view = looking.next_weight(view)
        seen.append(view.weight)
    assert seen == [0.97, 0.0, 0.6, 0.9]


def test_another_axis_keeps_the_crosshair_at_its_moment() -> None:
    view = looking.next_axis(ChartView(cursor=50_000, window=(0, 60_000)))
    assert (view.x_axis, view.cursor, view.window) == (XAxis.WALL, 50_000, None)
    assert planned(view).x_of(50_000) == 500


def test_zooming_in_keeps_the_newest_end_still_and_out_again_shows_everything() -> None:
    view = looking.zoomed(ChartView(), planned(ChartView()), 2)
    assert view.window == (50_000, 100_000) and not view.following
    assert looking.zoomed(view, planned(view), 0.5).window is None


def test_zooming_about_the_crosshair_keeps_its_place_and_holds() -> None:
    view = ChartView(cursor=25_000)
    view = looking.zoomed(view, planned(view), 2)
    assert view.window == (12_500, 62_500) and not view.following


def test_zooming_ends_at_twenty_points() -> None:
    view = ChartView()
    for _ in range(10):
        view = looking.zoomed(view, planned(view), 2)
    low, high = view.window or (0, 0)
    assert high - low == pytest.approx(20_000)


def test_panning_stays_within_the_data_and_holds() -> None:
    view = looking.zoomed(ChartView(), planned(ChartView()), 2)
    for _ in range(5):
        view = looking.panned(view, planned(view), -1)
    assert view.window == (0, 50_000) and not view.following
    assert looking.panned(ChartView(), planned(ChartView()), 1) == ChartView()


def test_the_crosshair_starts_at_the_newest_point_and_steps_along_the_curve() -> None:
    view = looking.stepped(ChartView(), planned(ChartView()), -1)
    assert view.cursor == 100_000
    view = looking.stepped(view, planned(view), -1)
    assert view.cursor == 99_000
    assert looking.stepped(replace(view, cursor=1000), planned(view), -1).cursor == 1000
    assert looking.at_position(view, planned(view), 44_400).cursor == 44_000


def test_brackets_walk_along_the_checkpoints() -> None:
    view = looking.at_checkpoint(ChartView(), DATA, -1)
    assert view.cursor == 90_000
    view = looking.at_checkpoint(view, DATA, -1)
    assert view.cursor == 30_000
    assert looking.at_checkpoint(replace(view, cursor=50_000), DATA, -1).cursor == 30_000
    assert looking.at_checkpoint(replace(view, cursor=50_000), DATA, 1).cursor == 90_000
    assert looking.at_checkpoint(ChartView(), ChartData("m", "m"), 1).cursor is None


def test_the_readout_is_of_the_newest_point_or_of_the_crosshair() -> None:
    assert words(ChartView(weight=0)).startswith("100 k · 16m 40s   a 10 000")
    there = words(ChartView(weight=0.6, cursor=40_000))
    assert there.startswith("at 40 k · 6m 40s   a 3 850 (4 000)")
    assert there.endswith("• 5 ± 1.5   ▲ 30 k")
    assert "•" not in words(ChartView(cursor=10_000))


def test_a_chart_without_points_has_nothing_to_read() -> None:
    empty = ChartData("m", "m")
    assert readout(empty, ChartView(), plan(empty, ChartView())) == []


def test_the_border_says_how_it_is_drawn() -> None:
    view = ChartView(log=frozenset({"m"}))
    assert settings(DATA, view, planned(view), 70) == "log y · smooth 0.9 · steps"
    assert settings(DATA, ChartView(), planned(ChartView()), 40) == ""
