"""Pictures of the place of recordings and of its forms."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.ui import fakes
from tests.ui.conftest import Settle
from tests.ui.test_film_forms import filmed, with_checkpoints
from tests.ui.test_recordings_screen import film
from tests.ui.test_shell_snapshots import SMALL, THEMES, Snap, before, made
from workbench.project import Project
from workbench.runs.recordings import Job
from workbench.ui.app import WorkbenchApp
from workbench.ui.widgets.focus_line import FocusLine

LARGE = (160, 48)
BOTH = pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])


def filled(project: Project) -> None:
    """A film, a report, one that is being made and one that failed."""
    film(project, "ant_no_contact_7f3a_8519680.mp4", age_s=9000)
    film(project, "week_48_report.html", age_s=12_000, kind="report", duration_s=None, size=2_100_000,
         episodes=(), command=("workbench", "report", "7f3a", "b19e"))  # fmt: skip
    film(project, "cart_pole_9d77_best.mp4", age_s=90_000,
         job=Job(1, 1.0, "", state="failed", message="no EGL device was found"))  # fmt: skip
    running = Job.here(message="filming clip 4 of 6: step 5 500 000")
    film(project, "ant_no_contact_7f3a_grid.mp4", age_s=40, kind="montage",
         command=("workbench", "montage", "7f3a", "--layout", "grid"),
         job=Job(running.pid, running.pid_started, running.host, progress=0.61, message=running.message))  # fmt: skip


@THEMES
@BOTH
def test_recordings(project: Project, settle: Settle, snap_compare: Snap, look: str, size: tuple[int, int]) -> None:
    filled(project)
    assert snap_compare(made(project, look), terminal_size=size, run_before=before(settle, "4", "j", then=settle))


def test_recordings_of_an_empty_project(project: Project, settle: Settle, snap_compare: Snap) -> None:
    assert snap_compare(made(project), terminal_size=SMALL, run_before=before(settle, "4", then=settle))


def test_recordings_in_a_plain_terminal(project: Project, settle: Settle, snap_compare: Snap) -> None:
    filled(project)

    async def look(pilot: Pilot[None]) -> None:
        await settle(pilot)
        pilot.app.screen.query_one(FocusLine).look()

    assert snap_compare(made(project, plain=True), terminal_size=SMALL, run_before=before(settle, "4", then=look))


@THEMES
@BOTH
def test_montage(project: Project, settle: Settle, snap_compare: Snap, look: str, size: tuple[int, int]) -> None:
    run = with_checkpoints(project)
    for steps in (0, 400):
        filmed(project, run.path / f"checkpoint_{steps:012d}", seed=77, took_s=20)

    async def ask(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, WorkbenchApp)
        app.montage(["7f3a"], "ant 7f3a")
        await settle(pilot)
        app.screen.query_one("#tiles").focus()
        await pilot.press("l", "l", "right_square_bracket")
        await settle(pilot)

    assert snap_compare(made(project, look), terminal_size=size, run_before=before(settle, "4", then=ask))


@THEMES
@BOTH
def test_report(project: Project, settle: Settle, snap_compare: Snap, look: str, size: tuple[int, int]) -> None:
    seeds = [
        fakes.fake_run(project, "ant", f"7f3{place}", returns=[900.0, 1400.0], seed=place, group="g1")
        for place in (1, 2, 3)
    ]
    other = fakes.fake_run(project, "half_cheetah", "d411", state="finished", algorithm="td3", returns=[9541.0])

    async def ask(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, WorkbenchApp)
        app.report([run.path for run in (*seeds, other)])

    assert snap_compare(made(project, look), terminal_size=size, run_before=before(settle, "4", then=ask))


@THEMES
def test_record(project: Project, settle: Settle, snap_compare: Snap, look: str) -> None:
    async def ask(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, WorkbenchApp)
        app.record("7f3a:8519680", "ant 7f3a at 8.5 M")
        await settle(pilot)

    assert snap_compare(made(project, look), terminal_size=SMALL, run_before=before(settle, "4", then=ask))
