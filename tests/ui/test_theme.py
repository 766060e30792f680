"""The colours of curves and states: bright enough, and told apart by everyone."""

from __future__ import annotations

import pytest
from textual.color import Color

from workbench.runs import RunState
from workbench.ui.theme import SERIES_COUNT, STATE_LOOKS, THEMES, defaults


def luminance(colour: Color) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [part / 255 for part in (colour.r, colour.g, colour.b)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    light, dark = sorted((luminance(Color.parse(first)), luminance(Color.parse(second))), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("item", THEMES, ids=lambda item: item.name)
def test_curves_have_a_contrast_of_three_to_one(item) -> None:
    series = [item.variables[f"series-{place}"] for place in range(1, SERIES_COUNT + 1)]
    assert len(set(series)) == SERIES_COUNT
    assert min(contrast(colour, item.background) for colour in series) >= 3.0


@pytest.mark.parametrize("item", THEMES, ids=lambda item: item.name)
def test_words_in_the_colours_of_states_can_be_read(item) -> None:
    for look in STATE_LOOKS.values():
        assert contrast(item.variables[look.variable], item.background) >= 4.5, look
    for colour in (item.primary, item.warning, item.error, item.success, item.variables["muted"]):
        assert contrast(colour, item.background) >= 4.5


def test_every_state_has_a_glyph_of_one_cell_and_one_in_ascii() -> None:
    assert set(STATE_LOOKS) == {str(state) for state in RunState}
    assert all(len(look.glyph) == 1 and look.plain.isascii() for look in STATE_LOOKS.values())


def test_other_themes_are_given_every_variable_of_ours() -> None:
    for item in THEMES:
        ours = {name for name in item.variables if name.startswith(("series-", "state-", "muted", "border-"))}
        assert ours <= set(defaults(dark=item.dark))
