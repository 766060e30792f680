"""How long values are broken into lines."""

from __future__ import annotations

import pytest
from textual.content import Content

from workbench.formatting import SPACE
from workbench.ui.widgets.fact_sheet import _wrapped


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("upright", ["upright"]),
        ("one two three", ["one two", "three"]),
        ("one   three four", ["one", "three four"]),
        (f"1{SPACE}000 steps left", [f"1{SPACE}000", "steps left"]),
        (f"a{SPACE}· b{SPACE}· c{SPACE}· d", [f"a{SPACE}· b{SPACE}·", f"c{SPACE}· d"]),
        ("averylongsingleword", ["averylongs", "ingleword"]),
        ("one\n\ntwo", ["one", "", "two"]),
    ],
)
def test_lines_break_at_ordinary_spaces(text: str, lines: list[str]) -> None:
    assert [line.plain for line in _wrapped(Content(text), 10)] == lines
