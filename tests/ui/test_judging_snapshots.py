"""Pictures of the forms and cards of evaluations, comparisons and environments that are looked over."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest
from textual.pilot import Pilot

from tests.ui import fakes
from tests.ui.conftest import Settle
from tests.ui.test_environment_making import LINES
from tests.ui.test_judging import COMPARISON, EVALUATION
from tests.ui.test_shell_snapshots import SMALL, THEMES, Snap, before, made
from workbench.project import Project
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.evaluate import BEST, EvaluateTask
from workbench.ui.widgets.choice import Choice

LARGE = (160, 48)
SIZES = pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])


def after(settle: Settle, start: Callable[[WorkbenchApp], None], printed: Sequence[str], code: int = 0) -> object:
    """Go to an empty place, start a command there, and end it with what it would have printed."""

    async def run(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, WorkbenchApp) and isinstance(app.launcher, fakes.FakeLauncher)
        start(app)
        await pilot.pause()
        app.launcher.finish(app.launcher.jobs[-1], exit_code=code, tail=printed)
        await settle(pilot)

    return before(settle, "4", then=run)


@THEMES
@SIZES
def test_an_evaluation(project: Project, settle: Settle, snap_compare: Snap, look: str, size: tuple[int, int]) -> None:
    def start(app: WorkbenchApp) -> None:
        app.start_judging(["evaluate", "7f3a", "--require-success", "0.9"], "ant 7f3a")

    run = after(settle, start, [json.dumps(EVALUATION)], code=1)
    assert snap_compare(made(project, look), terminal_size=size, run_before=run)


@THEMES
@SIZES
def test_a_comparison(project: Project, settle: Settle, snap_compare: Snap, look: str, size: tuple[int, int]) -> None:
    def start(app: WorkbenchApp) -> None:
        app.start_judging(["compare", "7f3a", "random"], "policies")

    run = after(settle, start, [json.dumps(COMPARISON)])
    assert snap_compare(made(project, look), terminal_size=size, run_before=run)


@THEMES
def test_what_a_preview_found(project: Project, settle: Settle, snap_compare: Snap, look: str) -> None:
    def start(app: WorkbenchApp) -> None:
        app.show_output(["preview", "ant"], "preview of ant")

    run = after(settle, start, LINES, code=1)
    assert snap_compare(made(project, look), terminal_size=SMALL, run_before=run)


@pytest.mark.parametrize("scores", ["shown here", BEST])
def test_the_form(project: Project, settle: Settle, snap_compare: Snap, scores: str) -> None:
    async def ask(pilot: Pilot[None]) -> None:
        task = EvaluateTask("7f3a:900", "ant 7f3a at 900", kept="7f3a:900", settled="7f3a")
        await pilot.app.push_screen(task)
        task.query_one("#scores", Choice).value = scores
        await pilot.pause()

    assert snap_compare(made(project), terminal_size=SMALL, run_before=before(settle, "4", then=ask))
