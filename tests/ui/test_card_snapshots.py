"""Pictures of what every screen has: help, letters on panes, keys, notices, and a terminal too small."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.ui import fakes
from tests.ui.conftest import Settle
from tests.ui.test_shell_snapshots import SMALL, THEMES, Snap, before, made
from workbench.project import Project
from workbench.ui.screen import WorkbenchScreen

LARGE = (160, 48)


@THEMES
@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])
def test_help_of_recordings(
    project: Project, settle: Settle, snap_compare: Snap, look: str, size: tuple[int, int]
) -> None:
    app = made(project, look)
    assert snap_compare(app, terminal_size=size, run_before=before(settle, "4", "question_mark"))


def test_help_searched(project: Project, settle: Settle, snap_compare: Snap) -> None:
    keys = ("2", "question_mark", "slash", *"state")
    assert snap_compare(made(project), terminal_size=SMALL, run_before=before(settle, *keys))


@THEMES
def test_letters_on_panes(project: Project, settle: Settle, snap_compare: Snap, look: str) -> None:
    assert snap_compare(made(project, look), terminal_size=SMALL, run_before=before(settle, "4", "semicolon"))


def test_keys(project: Project, settle: Settle, snap_compare: Snap) -> None:
    async def ask(pilot: Pilot[None]) -> None:
        assert isinstance(pilot.app.screen, WorkbenchScreen)
        pilot.app.screen.action_app_keys()
        await pilot.pause()
        await pilot.press(*"run.s")

    assert snap_compare(made(project), terminal_size=SMALL, run_before=before(settle, "4", then=ask))


def test_notifications(project: Project, settle: Settle, snap_compare: Snap) -> None:
    async def ask(pilot: Pilot[None]) -> None:
        assert isinstance(pilot.app.screen, WorkbenchScreen)
        pilot.app.notify("ant 7f3a reached 2 000 at 12.4 M. v watches it.")
        pilot.app.notify("half_cheetah 2b60 failed: loss not finite. enter opens the card.", severity="warning")
        pilot.app.clear_notifications()
        pilot.app.screen.action_app_notifications()

    assert snap_compare(made(project), terminal_size=SMALL, run_before=before(settle, "4", then=ask))


def test_a_terminal_too_small(project: Project, settle: Settle, snap_compare: Snap) -> None:
    fakes.fake_run(project, "ant", "7f3a")
    assert snap_compare(made(project), terminal_size=(50, 12), run_before=before(settle))
