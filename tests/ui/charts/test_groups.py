"""Groups of seeds in a chart: bands, ranges, lines, and what is read out of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from workbench.runs.statistics import seed_band
from workbench.ui.charts.drawing import Drawing, draw
from workbench.ui.charts.model import ChartData, ChartView, Curve, Group, Reference, SeedView, XAxis
from workbench.ui.charts.plan import plan
from workbench.ui.charts.readout import readout, settings

RAW = ChartView(weight=0.0)


def member(name: str, height: float, count: int = 100) -> Curve:
    steps = np.arange(1, count + 1) * 1000.0
    return Curve(name, f"ant {name}", steps, steps / 100, steps / 500, steps / 1000 + height)


def group(*members: Curve) -> Group:
    return Group("g", "ant ×3", members, "a", 2, True, seed_band([(item.steps, item.values) for item in members]))


THREE = (member("7f3a", 0), member("1c08", 30), member("e5d2", 60))
DATA = ChartData("m", "return", groups=(group(*THREE),))


def grounds(drawing: Drawing) -> set[str]:
    return {cell.ground for row in drawing.rows for cell in row} - {""}


def styles(drawing: Drawing) -> set[str]:
    return {cell.style for row in drawing.rows for cell in row if "\u2800" < cell.sign <= "\u28ff"}


def words(view: ChartView, data: ChartData = DATA, width: int = 150) -> str:
    return "".join(text for text, _ in readout(data, view, plan(data, view), width)).replace("\u00a0", " ")


def test_a_band_is_a_tint_behind_the_line_and_the_letter_ends_it() -> None:
    drawing = draw(DATA, RAW, 80, 16)
    assert grounds(drawing) == {"band-2"} and styles(drawing) == {"series-2-bold"}
    assert any(cell == ("a", "letter-2-bold", cell.ground) for row in drawing.rows for cell in row)
    # From the lowest to the highest mean of three drawn runs: the whole of them, 60 of a span of 160.
    column = drawing.left + drawing.width // 2
    tinted = sum(bool(row[column].ground) for row in drawing.rows)
    assert tinted == pytest.approx(60 / 159 * drawing.height, abs=1.5)


def test_without_colours_a_band_has_dotted_edges() -> None:
    drawing = draw(DATA, RAW, 80, 16, tinted=False)
    assert not grounds(drawing)
    column = drawing.left + drawing.width // 2
    assert [row[column].sign for row in drawing.rows].count("·") == 2


def test_a_range_reaches_from_the_lowest_to_the_highest_about_the_median() -> None:
    view = replace(RAW, seeds=SeedView.RANGE)
    found = plan(DATA, view).curves[0]
    assert found.low is not None and found.high is not None
    assert (found.low.y[-1], found.front.y[-1], found.high.y[-1]) == (100, 130, 160)
    assert grounds(draw(DATA, view, 80, 16)) == {"band-2"}


def test_lines_are_thin_and_without_a_band() -> None:
    drawing = draw(DATA, replace(RAW, seeds=SeedView.LINES), 80, 16)
    assert not grounds(drawing) and styles(drawing) == {"thin-2"}


def test_a_group_whose_band_is_not_computed_yet_is_drawn_as_lines() -> None:
    waiting = ChartData("m", "return", groups=(replace(DATA.groups[0], band=None),))
    drawing = draw(waiting, RAW, 80, 16)
    assert styles(drawing) == {"thin-2"} and drawing.plan.y_range == (1, 160)


def test_where_fewer_than_three_have_data_the_line_is_dashed_and_there_is_no_band() -> None:
    late = (member("7f3a", 0), member("1c08", 30), member("e5d2", 60, 50))
    data = ChartData("m", "return", groups=(group(*late),))
    drawing = draw(data, RAW, 80, 16)
    half = drawing.left + drawing.width // 2

    def lit(start: int, end: int) -> int:
        return sum(any("\u2800" < row[column].sign <= "\u28ff" for row in drawing.rows) for column in range(start, end))

    assert lit(drawing.left + 1, half) == half - drawing.left - 1
    assert lit(half + 2, half + 32) == pytest.approx(16, abs=3)
    assert not any(cell.ground for row in drawing.rows for cell in row[half + 2 :])
    assert "a 115 (2 of 3)" in words(RAW, data)
    assert "of 3)" not in words(replace(RAW, cursor=20_000), data)


def test_the_readout_has_the_ends_of_the_band_and_at_the_crosshair_every_seed() -> None:
    assert "a 130 (100…160)" in words(RAW)
    assert "a 80  (7f3a 50   1c08 80   e5d2 110)" in words(replace(RAW, cursor=50_000))
    assert "a 80 (50…110)" in words(replace(RAW, cursor=50_000), width=70)
    assert settings(DATA, RAW, plan(DATA, RAW), 100) == "not smoothed · steps · band 95 % of 3 seeds"


def test_no_band_is_promised_of_fewer_runs_than_make_one() -> None:
    two = ChartData("m", "return", groups=(group(*THREE[:2]),))
    assert settings(two, RAW, plan(two, RAW), 100).endswith(" · no band of 2 seeds")
    lines = replace(RAW, seeds=SeedView.LINES)
    assert settings(two, lines, plan(two, lines), 100).endswith(" · lines of 2 seeds")


def test_a_group_lies_on_the_other_axes_where_its_runs_were_on_average() -> None:
    slow = replace(THREE[1], wall_s=THREE[1].wall_s * 4)
    data = ChartData("m", "return", groups=(group(THREE[0], slow, THREE[2]),))
    found = plan(data, replace(RAW, x_axis=XAxis.WALL))
    assert found.x_of(50_000) == pytest.approx(1000)
    assert found.steps_at(1000) == pytest.approx(50_000, rel=0.01)


def test_a_band_on_a_log_axis_is_that_of_the_exponents() -> None:
    found = plan(DATA, replace(RAW, log=frozenset({"m"}))).curves[0]
    assert found.high is not None and found.high.y[-1] == pytest.approx(np.log10(160))


def test_a_forked_run_shows_its_parent_thin_up_to_the_joint() -> None:
    steps = np.arange(51, 101) * 1000.0
    child = Curve("c", "c", steps, steps, steps, steps / 1000, "c", 4, True, parent=member("p", 0))
    data = ChartData("m", "m", (child,))
    drawing = draw(data, RAW, 80, 16)
    assert styles(drawing) == {"series-4-bold", "thin-4"}
    assert drawing.plan.thin[0].x[-1] == 51_000
    assert styles(draw(data, replace(RAW, x_axis=XAxis.EPISODES), 80, 16)) == {"series-4-bold"}


def test_the_readout_says_how_much_of_the_reference_was_reached() -> None:
    reference = Reference(200.0, "reference", 12.0, 5, 9e6, "recipe", compared=True)
    data = replace(DATA, references=(reference, Reference(300.0, "goal")))
    assert words(RAW, data).endswith("65 % of the reference at 9 M (200 ± 12, 5 seeds, recipe)")
    below = replace(DATA, references=(replace(reference, value=-200.0),))
    assert "reference" not in words(RAW, below)
