"""Charts as tables of numbers."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.runs.statistics import seed_band
from workbench.ui.charts.drawing import Drawing
from workbench.ui.charts.model import ChartData, ChartView, Curve, Group, SeedView
from workbench.ui.charts.numbers import tabulate

RAW = ChartView(weight=0.0)


def curve(values: list[float], letter: str = "", label: str = "run") -> Curve:
    steps = np.arange(len(values)) * 1000.0
    return Curve(label, label, steps, steps / 100, steps / 500, np.array(values), letter, 0)


def lines(drawing: Drawing) -> list[str]:
    return ["".join(cell.sign for cell in row).replace("\u00a0", " ").rstrip() for row in drawing.rows]


def test_a_wide_table_has_a_row_a_curve() -> None:
    data = ChartData("m", "return", (curve([0.0, 10.0, 20.0], "a"), curve([5.0, 5.0, 5.0], "b")))
    rows = lines(tabulate(data, RAW, 40, 4))
    assert [row.split() for row in rows[:3]] == [
        ["steps", "0", "667", "1.33", "k", "2", "k"],
        ["b", "run", "5", "5", "5", "5"],
        ["a", "run", "0", "0", "10", "20"],
    ]


def test_a_narrow_table_has_a_row_a_place() -> None:
    rows = lines(tabulate(ChartData("m", "length", (curve([0.0, 10.0, 20.0]),)), RAW, 30, 6))
    assert [row.split() for row in rows] == [
        ["steps"], ["0", "0"], ["500", "0"], ["1", "k", "10"], ["1.5", "k", "10"], ["2", "k", "20"],
    ]  # fmt: skip


def test_curves_that_do_not_fit_are_counted() -> None:
    data = ChartData("m", "return", tuple(curve([1.0, 2.0], "abcdef"[place]) for place in range(6)))
    assert lines(tabulate(data, RAW, 60, 4))[-1] == "+4 more"


def seeds(*heights: float, together: bool = True) -> ChartData:
    members = tuple(curve([height] * 3, label=f"run {place}") for place, height in enumerate(heights))
    band = seed_band([(item.steps, item.values) for item in members]) if together else None
    return ChartData("m", "return", groups=(Group("g", "ant", members, "a", 2, True, band),))


def test_seeds_are_what_they_say_together_and_the_edges_of_their_band() -> None:
    view = ChartView(weight=0.0, seeds=SeedView.RANGE)
    rows = [row.split() for row in lines(tabulate(seeds(10.0, 20.0, 60.0), view, 60, 4))]
    # The median, the lowest and the highest of the three.
    assert [(row[0], row[1], set(row[2:])) for row in rows[1:]] == [
        ("a", "ant", {"20"}), ("a", "from", {"10"}), ("a", "to", {"60"}),
    ]  # fmt: skip
    low = lines(tabulate(seeds(10.0, 20.0, 60.0), view, 60, 3))
    assert low[1].startswith("a ant") and not low[2]


def test_seeds_of_which_nothing_is_said_together_have_a_row_each() -> None:
    rows = [row.split() for row in lines(tabulate(seeds(10.0, 60.0, together=False), RAW, 60, 3))]
    assert [(row[:3], set(row[3:])) for row in rows[1:]] == [(["a", "run", "0"], {"10"}), (["a", "run", "1"], {"60"})]


def test_no_point_says_why() -> None:
    assert "No points yet." in "".join(lines(tabulate(ChartData("m", "return"), RAW, 40, 5)))


@pytest.mark.parametrize("size", [(1, 1), (5, 2), (12, 3), (40, 1), (200, 40)])
def test_every_size_is_filled_exactly(size: tuple[int, int]) -> None:
    drawing = tabulate(ChartData("m", "return", (curve([1.0, 2.0], "a"), curve([1.0], "b"))), RAW, *size)
    assert [len(row) for row in drawing.rows] == [size[0]] * size[1]
