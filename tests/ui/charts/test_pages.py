from __future__ import annotations

import pytest

from workbench.ui.charts.model import ChartData
from workbench.ui.charts.pages import Grid, Pages, filter_fault, fitting, in_order, matching


def charts(*names: str) -> tuple[ChartData, ...]:
    return tuple(ChartData(name, name) for name in names)


MANY = charts("return", "length", *(f"train/{name}" for name in ("approx_kl", "loss", "value_loss", "std", "fps")))


@pytest.mark.parametrize(
    ("size", "grid"),
    [((36, 8), (1, 1)), ((71, 15), (1, 1)), ((72, 16), (2, 2)), ((110, 33), (3, 4)), ((10, 3), (1, 1))],
)
def test_as_many_charts_as_fit_at_36_by_8(size: tuple[int, int], grid: tuple[int, int]) -> None:
    assert fitting(*size) == Grid(*grid)


def test_few_charts_have_the_room_to_themselves() -> None:
    assert fitting(160, 40, 2) == Grid(2, 1)
    assert fitting(160, 40, 5) == Grid(4, 2)
    assert fitting(160, 40, 0) == Grid(1, 1)


def test_the_order_of_metrics() -> None:
    names = ["zoo", "time/fps", "train/loss", "eval/mean_return", "rollout/ep_len_mean", "abc", "reward/ctrl_sum",
             "truncated/time", "terminated/fell", "rollout/ep_rew_mean"]  # fmt: skip
    assert in_order(names) == [
        "rollout/ep_rew_mean", "rollout/ep_len_mean", "eval/mean_return", "reward/ctrl_sum", "terminated/fell",
        "truncated/time", "train/loss", "time/fps", "abc", "zoo",
    ]  # fmt: skip


def test_a_filter_is_a_regular_expression_in_any_case() -> None:
    assert [chart.metric for chart in matching(MANY, "KL|std")] == ["train/approx_kl", "train/std"]
    assert len(matching(MANY, "")) == len(MANY)


def test_a_filter_half_typed_is_looked_for_letter_by_letter_and_its_fault_told() -> None:
    assert filter_fault("kl|(") and filter_fault("kl|loss") is None
    assert matching(charts("a(b", "ab"), "a(")[0].metric == "a(b"


def test_pages_turn_round_and_stay_within_what_matches() -> None:
    pages = Pages(MANY, Grid(2, 1))
    assert pages.count == 4 and [chart.metric for chart in pages.page] == ["return", "length"]
    assert [chart.metric for chart in pages.turned(-1).page] == ["train/fps"]
    assert pages.turned(4).number == 0
    filtered = pages.turned(3).filtered("loss")
    assert [chart.metric for chart in filtered.page] == ["train/loss", "train/value_loss"]
    assert filtered.caption == "2 of 7 charts · / loss"
    assert pages.caption == "2 of 7 charts · page 1 of 4"


def test_another_size_keeps_the_first_chart_in_sight() -> None:
    pages = Pages(MANY, Grid(1, 1)).turned(5)
    seen = pages.page[0]
    for size in ((80, 20), (160, 40), (36, 8), (300, 9)):
        pages = pages.fitted(*size)
        assert seen in pages.page or pages.grid.room == 1
    assert Pages(MANY, Grid(1, 1), number=99).page == [MANY[-1]]


def test_a_filter_that_hides_everything_says_so() -> None:
    pages = Pages(MANY, Grid(2, 1)).filtered("nothing")
    assert pages.page == [] and pages.count == 1
    assert pages.empty == "No chart matches nothing; 7 are hidden. esc clears."
    assert Pages(MANY, Grid(2, 1)).empty == ""
