"""Pictures of a group of seeds and of cards in light, and which pictures every place and card has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.ui import fakes
from tests.ui.test_run_snapshots import LARGE, SMALL, Compare, live_run, shown
from tests.ui.test_runs_snapshots import prepared
from tests.ui.test_seeds_screen import seeds
from workbench.project import Project
from workbench.ui.theme import LIGHT, THEMES

PICTURES = Path(__file__).parent / "__snapshots__"

PLACES = {
    "Environments": "test_environment_snapshots/test_environments",
    "New run": "test_new_run_snapshots/test_form",
    "New run with problems": "test_new_run_snapshots/test_problems",
    "Runs": "test_runs_snapshots/test_groups",
    "Runs, empty": "test_run_snapshots/test_runs[[]empty",
    "Run": "test_run_s*/test_run[[]",
    "Run, wide": "test_run_screen_snapshots/test_pages_beside_texts",
    "Group of seeds": "test_place_snapshots/test_a_group_of_seeds",
    "Compare": "test_run_screen_snapshots/test_two_runs_beside_each_other",
    "Viewer": "test_viewer_snapshots/test_preview",
    "Recordings": "test_film_snapshots/test_recordings[[]",
    "Montage": "test_film_snapshots/test_montage",
    "Report": "test_film_snapshots/test_report",
    "What ended it": "test_run_screen_snapshots/test_cause_of_death[[]",
    "Help": "test_card_snapshots/test_help_of_recordings",
}
"""What has a layout of its own at 80x24 and at 160x48, and where its pictures are."""

NARROW_ALONE, WIDE_ALONE = {"Run"}, {"Run, wide"}
"""Places whose two sizes have names of their own."""

CARDS = {
    "Record": "test_film_snapshots/test_record[[]w",
    "Error": "test_shell_snapshots/test_an_error",
    "Quit": "test_shell_snapshots/test_quit",
    "Jump labels": "test_card_snapshots/test_letters_on_panes",
    "Kill": "test_place_snapshots/test_killing",
    **{name: f"test_place_snapshots/test_cards[[]*{name}" for name in ("change", "tags", "delete", "columns")},
}
"""Cards, which are the same at every size."""


def looks(pattern: str) -> set[tuple[str, int]]:
    """Return the theme and the rows of each picture."""
    found = set()
    for path in PICTURES.glob(f"{pattern}*.svg"):
        text = path.read_text(encoding="utf-8")
        rows = max(int(number) for number in re.findall(r"line-(\d+)\"", text)) + 2
        light = next(theme.background for theme in THEMES if theme.name == LIGHT)
        assert light is not None
        found.add(("light" if light.lower() in text.lower() else "dark", rows))
    return found


@pytest.mark.parametrize("place", PLACES)
def test_every_place_has_pictures_in_both_themes_and_both_sizes(place: str) -> None:
    found = looks(PLACES[place])
    assert {theme for theme, _ in found} == {"dark", "light"}
    sizes = {SMALL[1]} if place in NARROW_ALONE else {LARGE[1]} if place in WIDE_ALONE else {SMALL[1], LARGE[1]}
    assert {rows for _, rows in found} >= sizes


@pytest.mark.parametrize("card", CARDS)
def test_every_card_has_pictures_in_both_themes(card: str) -> None:
    assert {theme for theme, _ in looks(CARDS[card])} == {"dark", "light"}


@pytest.mark.parametrize("light", [False, True], ids=["dark", "light"])
@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])
def test_a_group_of_seeds(snap_compare: Compare, project: Project, size: tuple[int, int], light: bool) -> None:
    fakes.write_environments(project)
    seeds(project)
    before = shown("2", "enter", "h", light=light)
    assert snap_compare(fakes.make_app(project), terminal_size=size, run_before=before)


@pytest.mark.parametrize("section", ["w", "i"])
def test_texts_of_a_group_of_seeds(snap_compare: Compare, project: Project, section: str) -> None:
    fakes.write_environments(project)
    seeds(project)
    keys = ("2", "enter", "comma", "comma") if section == "w" else ("2", "enter", "i")
    assert snap_compare(fakes.make_app(project), terminal_size=SMALL, run_before=shown(*keys))


@pytest.mark.parametrize("light", [False, True], ids=["dark", "light"])
@pytest.mark.parametrize(
    ("card", "keys"),
    [
        ("change", ("2", "j", "j", "C", *"1e-4")),
        ("tags", ("2", "T")),
        ("delete", ("2", "G", "D")),
        ("columns", ("2", "colon", *"columns", "enter")),
    ],
)
def test_cards(snap_compare: Compare, project: Project, card: str, keys: tuple[str, ...], light: bool) -> None:
    assert snap_compare(prepared(project), terminal_size=SMALL, run_before=shown(*keys, light=light))


@pytest.mark.parametrize("light", [False, True], ids=["dark", "light"])
def test_killing(snap_compare: Compare, project: Project, light: bool) -> None:
    fakes.write_environments(project)
    live_run(project)
    assert snap_compare(fakes.make_app(project), terminal_size=SMALL, run_before=shown("2", "K", light=light))
