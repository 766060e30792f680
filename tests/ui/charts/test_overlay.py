from __future__ import annotations

from workbench.ui.charts.overlay import Overlay


def test_a_drawn_run_never_changes_its_colour_or_letter() -> None:
    overlay = Overlay()
    first = dict(overlay.assign(["one", "two"]))
    second = overlay.assign(["three", "two", "one"])
    assert {key: second[key] for key in first} == first
    assert second["three"].letter == "c"


def test_eight_runs_have_eight_colours_and_the_ninth_is_muted() -> None:
    found = Overlay().assign([f"run {number}" for number in range(9)])
    assert {identity.slot for identity in found.values()} == {*range(8), None}


def test_a_muted_run_takes_a_colour_that_becomes_free() -> None:
    overlay = Overlay()
    names = [f"run {number}" for number in range(9)]
    muted = [key for key, identity in overlay.assign(names).items() if identity.slot is None]
    names.remove(next(name for name in names if name not in muted))
    again = overlay.assign(names)
    assert again[muted[0]].slot is not None


def test_the_same_run_has_the_same_colour_in_the_next_session() -> None:
    assert Overlay().assign(["ant_7f3a"]) == Overlay().assign(["ant_7f3a"])
