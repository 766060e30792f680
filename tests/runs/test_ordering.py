import pytest

from tests.runs.rows import a_row
from workbench.errors import RequestError
from workbench.runs.ordering import Order

ROWS = [
    a_row("0001", last_return=None, smoothed_return=3.0, values={"ppo.gamma": 0.9}, tags=("b",)),
    a_row("0002", last_return=float("nan"), values={"ppo.gamma": "linear:1:0"}),
    a_row("0003", last_return=-1.0, tags=("a",)),
    a_row("0004", last_return=7.0, smoothed_return=9.0, values={"ppo.gamma": 0.99}),
    a_row("0005", last_return=7.0),
]


def ids(name: str, *, is_reversed: bool = False) -> list[str]:
    return [row.short_id[-1] for row in Order.parse(name, is_reversed=is_reversed).sorted(ROWS)]


def test_the_greatest_comes_first_ties_stay_and_the_unknown_comes_last() -> None:
    assert ids("return") == ["4", "5", "3", "1", "2"]
    assert ids("return", is_reversed=True) == ["3", "4", "5", "1", "2"]
    assert ids("~return") == ["4", "1", "2", "3", "5"]
    assert ids("recent") == ["1", "2", "3", "4", "5"]
    assert ids("recent", is_reversed=True) == ["5", "4", "3", "2", "1"]


def test_words_go_from_a_to_z_and_after_numbers() -> None:
    assert ids("tag") == ["3", "1", "2", "4", "5"]
    assert ids("tag", is_reversed=True) == ["1", "3", "2", "4", "5"]
    assert ids("ppo.gamma") == ["4", "1", "2", "3", "5"]


def test_it_says_what_it_needs_and_refuses_what_is_no_field() -> None:
    assert Order.parse("ppo.gamma").needs == {"ppo.gamma"}
    assert Order.parse("train/kl").needs == {"train/kl"}
    assert Order.parse("return").needs == frozenset()
    with pytest.raises(RequestError, match="Did you mean return"):
        Order.parse("retrun")
