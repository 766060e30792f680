"""The first frame: before what the first place needs is imported, and what is typed meanwhile."""

from __future__ import annotations

import subprocess
import sys
import threading
from types import ModuleType

import pytest
from textual.pilot import Pilot

from tests.ui import fakes
from tests.ui.conftest import Settle
from tests.ui.seen import lines, text
from workbench.project import Project
from workbench.ui import opening
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.help import HelpCard
from workbench.ui.screens.runs import RunsScreen

RUNS = "workbench.ui.screens.runs"


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Let the place of runs be imported no sooner than this is set."""
    module, is_open = sys.modules[RUNS], threading.Event()

    def import_late(name: str) -> ModuleType:
        assert name == RUNS
        assert is_open.wait(20)
        sys.modules[RUNS] = module
        return module

    monkeypatch.delitem(sys.modules, RUNS)
    monkeypatch.setattr(opening, "import_module", import_late)
    return is_open


def test_the_first_frame_needs_neither_arrays_nor_specs() -> None:
    code = (
        "import sys, workbench.ui.app, workbench.ui.opening\n"
        "print([name for name in ('numpy', 'pydantic', 'PIL', 'workbench.specs') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_header_and_footer_are_there_before_the_place_and_keys_wait_for_it(
    project: Project, settle: Settle, gate: threading.Event
) -> None:
    fakes.fake_run(project, "ant", "7f3a")
    fakes.fake_run(project, "ant", "2b60", state="failed")
    app = fakes.make_app(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await seen(pilot, "Reading the runs")
        assert "[2 Runs]" in lines(app)[0]
        assert "Help" in lines(app)[-1]
        await pilot.press("?")
        assert not isinstance(app.screen, HelpCard)
        gate.set()
        await settle(pilot)
        assert isinstance(app.screen, HelpCard)
        await pilot.press("escape")
        assert isinstance(app.screen, RunsScreen)


async def test_the_app_can_be_left_before_its_first_place_is_there(project: Project, gate: threading.Event) -> None:
    fakes.fake_run(project, "ant", "7f3a")
    app = fakes.make_app(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await seen(pilot, "Reading the runs")
        await app.action_quit()
        gate.set()
    assert app.return_code == 0


async def seen(pilot: Pilot[None], words: str) -> None:
    """Wait for words on the screen."""
    assert isinstance(pilot.app, WorkbenchApp)
    for _ in range(400):
        if words in text(pilot.app):
            return
        await pilot.pause(0.01)
    pytest.fail(f"{words} was not seen")
