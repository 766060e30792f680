"""Pictures of the shell's screens: what they look like empty, in use and when something is wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.ui import fakes
from tests.ui.conftest import Settle
from workbench.project import Project
from workbench.ui import theme
from workbench.ui.app import WorkbenchApp
from workbench.ui.state import Remembered

Snap = Callable[..., bool]
Before = Callable[[Pilot[None]], Awaitable[None]]

THEMES = pytest.mark.parametrize("look", [theme.DARK, theme.LIGHT])
SMALL = (80, 24)


def made(project: Project, look: str = theme.DARK, **options: Any) -> WorkbenchApp:
    remembered = Remembered(project.root / ".remembered.json")
    remembered.keep("app", "theme", look)
    return fakes.make_app(project, remembered=remembered, **options)


def before(settle: Settle, *keys: str, then: Before | None = None) -> Before:
    """Press keys once everything has been read."""

    async def act(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await pilot.press(*keys)
        await pilot.pause()
        if then is not None:
            await then(pilot)
        await pilot.pause()

    return act


def test_environments_of_an_empty_project(project: Project, settle: Settle, snap_compare: Snap) -> None:
    assert snap_compare(made(project), terminal_size=SMALL, run_before=before(settle))


def test_help(project: Project, settle: Settle, snap_compare: Snap) -> None:
    fakes.write_environments(project)
    assert snap_compare(made(project), terminal_size=SMALL, run_before=before(settle, "question_mark"))


@THEMES
def test_quit(project: Project, settle: Settle, snap_compare: Snap, look: str) -> None:
    fakes.write_environments(project)
    fakes.fake_run(project, "ant", "7f3a")
    fakes.fake_run(project, "ant", "63f1", state="queued")
    assert snap_compare(made(project, look), terminal_size=SMALL, run_before=before(settle, "1", "ctrl+q"))


@THEMES
def test_an_error(project: Project, settle: Settle, snap_compare: Snap, look: str) -> None:
    fakes.write_environments(project)

    async def show(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, WorkbenchApp)
        app.show_error(
            "The recording of ant 7f3a failed",
            "No picture can be drawn here: there is no EGL device.",
            hint="`workbench doctor` says what mends it.",
            details="workbench record 7f3a",
            path=Path("envs/ant_env.py"),
            line=14,
        )

    assert snap_compare(made(project, look), terminal_size=SMALL, run_before=before(settle, then=show))
