"""Pictures of one run and of several beside each other: dark and light, narrow and wide, and in ASCII."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.ui import fakes
from tests.ui.test_compare_screen import run_of
from tests.ui.test_ended_card import failed_run
from tests.ui.test_run_snapshots import LARGE, SMALL, live_run, run_screen, shown
from workbench.project import Project
from workbench.ui.screens.compare import CompareScreen

Compare = Callable[..., bool]


@pytest.fixture(autouse=True)
def one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """One process, measured once, on every machine."""
    monkeypatch.setattr("workbench.ui.run_head.process_text", lambda row: "pid 48213   beat 1s ago   ")
    monkeypatch.setattr("workbench.ui.screens.run.INTERVAL_S", 1e6)


def two_runs(project: Project) -> None:
    run_of(project, "b19e", "ppo", 600)
    run_of(project, "d411", "sac", 900)


def seeds(project: Project) -> None:
    for seed in (1, 2, 3):
        run_of(project, f"a00{seed}", "ppo", 500 + 20 * seed, seed=seed, group="g1")
        run_of(project, f"b00{seed}", "sac", 800 + 30 * seed, seed=seed, group="g2")


def compared(project: Project) -> CompareScreen:
    return CompareScreen(sorted(project.runs.glob("*/*_????"), key=lambda path: path.name[-4:]))


def prepared(project: Project, make: Callable[[Project], Any], **options: Any) -> Any:
    fakes.write_environments(project)
    make(project)
    return fakes.make_app(project, **options)


@pytest.mark.parametrize("light", [False, True], ids=["dark", "light"])
def test_pages_beside_texts(snap_compare: Compare, project: Project, light: bool) -> None:
    app = prepared(project, live_run)
    before = shown("h", "h", "left_square_bracket", screen=run_screen(), light=light)
    assert snap_compare(app, terminal_size=LARGE, run_before=before)


@pytest.mark.parametrize("key", ["o", "i"])
def test_tabs_beside_pages(snap_compare: Compare, project: Project, key: str) -> None:
    assert snap_compare(prepared(project, live_run), terminal_size=LARGE, run_before=shown(key, screen=run_screen()))


def test_texts_below_charts(snap_compare: Compare, project: Project) -> None:
    app = prepared(project, live_run)
    assert snap_compare(app, terminal_size=(120, 40), run_before=shown(screen=run_screen()))


@pytest.mark.parametrize("section", ["Terms", "Endings", "Losses"])
def test_numbers_in_place_of_charts(snap_compare: Compare, project: Project, section: str) -> None:
    app = prepared(project, live_run)
    assert snap_compare(app, terminal_size=SMALL, run_before=shown("d", screen=run_screen(section)))


def test_filtered_charts(snap_compare: Compare, project: Project) -> None:
    before = shown("slash", *"kl|loss", "enter", screen=run_screen())
    assert snap_compare(prepared(project, live_run), terminal_size=SMALL, run_before=before)


@pytest.mark.parametrize("section", ["Return", "Checkpoints"])
def test_run_in_ascii(snap_compare: Compare, project: Project, section: str) -> None:
    app = prepared(project, live_run, plain=True)
    assert snap_compare(app, terminal_size=SMALL, run_before=shown(screen=run_screen(section)))


def test_choosing_a_run(snap_compare: Compare, project: Project) -> None:
    def make(project: Project) -> None:
        live_run(project)
        two_runs(project)

    before = shown("c", screen=run_screen())
    assert snap_compare(prepared(project, make), terminal_size=SMALL, run_before=before)


@pytest.mark.parametrize(
    ("size", "light"), [(SMALL, False), (SMALL, True), (LARGE, False)], ids=["dark", "light", "large"]
)
def test_cause_of_death(snap_compare: Compare, project: Project, size: tuple[int, int], light: bool) -> None:
    app = prepared(project, failed_run)
    assert snap_compare(app, terminal_size=size, run_before=shown("2", "enter", light=light))


def test_cause_of_death_in_ascii(snap_compare: Compare, project: Project) -> None:
    app = prepared(project, failed_run, plain=True)
    assert snap_compare(app, terminal_size=SMALL, run_before=shown("2", "enter"))


@pytest.mark.parametrize(
    ("size", "light"), [(SMALL, False), (SMALL, True), (LARGE, False)], ids=["dark", "light", "large"]
)
def test_two_runs_beside_each_other(
    snap_compare: Compare, project: Project, size: tuple[int, int], light: bool
) -> None:
    app = prepared(project, two_runs)
    assert snap_compare(app, terminal_size=size, run_before=shown("h", screen=compared, light=light))


def test_seeds_beside_each_other(snap_compare: Compare, project: Project) -> None:
    assert snap_compare(prepared(project, seeds), terminal_size=LARGE, run_before=shown(screen=compared))


def test_runs_beside_each_other_in_ascii(snap_compare: Compare, project: Project) -> None:
    app = prepared(project, two_runs, plain=True)
    assert snap_compare(app, terminal_size=SMALL, run_before=shown("d", screen=compared))
