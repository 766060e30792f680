"""Seeds as people write them."""

from __future__ import annotations

import pytest

from workbench.runs.seeds import read_seeds


@pytest.mark.parametrize(
    ("text", "seeds"),
    [
        ("1,2,3", [1, 2, 3]),
        (" 1 , 2  3 ", [1, 2, 3]),
        ("1-3,3,7", [1, 2, 3, 7]),
        ("0", [0]),
        ("4294967295", [2**32 - 1]),
    ],
)
def test_seeds_are_read_once_each(text: str, seeds: list[int]) -> None:
    assert read_seeds(text) == (seeds, None)


@pytest.mark.parametrize(
    "text", ["", " ", "1,,2", "1,2,", ",1", "1,a", "1.5", "-1", "1-", "5-1", "4294967296", "0-100", "0-60,61-121"]
)
def test_what_is_no_list_of_seeds_is_said(text: str) -> None:
    seeds, problem = read_seeds(text)
    assert seeds == []
    assert problem is not None
