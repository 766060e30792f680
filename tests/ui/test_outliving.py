"""What the app outlives on each of its screens: folders that go, files half-written, terminals of any size."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import pytest
from textual.pilot import Pilot

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench import durable
from workbench.project import Project
from workbench.runs import RunDirectory
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.runs import RunsScreen

RISING = [float(value) for value in range(0, 3000, 150)]

SCREENS: dict[str, tuple[str, tuple[str, ...]]] = {
    "environments": ("EnvironmentsScreen", ("1",)),
    "environment": ("EnvironmentsScreen", ("1", "down", "down", "enter")),
    "runs": ("RunsScreen", ()),
    "chart of the runs": ("RunsScreen", ("tab", "l")),
    "curves": ("RunScreen", ("enter",)),
    "terms": ("RunScreen", ("enter", "full_stop")),
    "log": ("RunScreen", ("o",)),
    "settings": ("RunScreen", ("i",)),
    "checkpoints": ("RunScreen", ("w",)),
    "events": ("RunScreen", ("e",)),
    "compared": ("CompareScreen", ("a", "c")),
    "viewer": ("ViewerScreen", ("3",)),
    "recordings": ("RecordingsScreen", ("4",)),
    "card of an ending": ("EndedCard", ("j", "enter")),
    "tags": ("AnnotateTask", ("T",)),
    "change": ("ChangeTask", ("C",)),
    "kill": ("AskCard", ("K",)),
    "delete": ("AskCard", ("j", "D")),
    "new run": ("NewRunForm", ("n",)),
    "record": ("RecordTask", ("V",)),
    "montage": ("MontageTask", ("m",)),
    "report": ("ReportTask", ("r",)),
    "help": ("HelpCard", ("question_mark",)),
    "quit": ("QuitCard", ("ctrl+q",)),
}
"""What each screen is, and the keys that lead to it from a live run with a failed one below it."""
LOOKING = ("j", "k", "l", "tab", "full_stop", "comma", "right_square_bracket", "s", "d")
"""Keys that only look, wherever they are pressed; in a field they are letters."""
PARTS = 5
"""The screens are gone through in so many tests, and in all of them where there is time."""
SOME = [0, *(pytest.param(number, marks=pytest.mark.slow) for number in range(1, PARTS))]


def part(number: int) -> list[str]:
    return list(SCREENS)[number::PARTS]


def make_runs(project: Project, number: int) -> list[RunDirectory]:
    """A live run with curves, checkpoints and a log, and one that failed."""
    live = fakes.fake_run(project, "ant", f"a{number:03x}", returns=RISING, log="iteration 1\niteration 2\n")
    for steps in (100_000, 200_000):
        durable.write_json(live.path / f"checkpoint_{steps:012d}" / "policy.json", {"steps": steps})
    live.set_latest("checkpoint_000000200000")
    failed = fakes.fake_run(project, "ant", f"b{number:03x}", state="failed", reason="loss not finite", returns=RISING)
    return [live, failed]


async def go(pilot: Pilot[None], settle: Settle, screen: str, *, is_there: bool = True) -> None:
    """Go to a screen from the list of runs; what is half-written may refuse some."""
    await pilot.press("2", "u")
    await settle(pilot)
    runs = pilot.app.screen
    assert isinstance(runs, RunsScreen)
    runs.table.focus()
    runs.table.action_first()
    kind, keys = SCREENS[screen]
    await pilot.press(*keys)
    await settle(pilot)
    assert not is_there or type(pilot.app.screen).__name__ == kind, screen


async def back(pilot: Pilot[None]) -> None:
    for _ in range(4):
        await pilot.press("escape")
    assert len(pilot.app.screen_stack) == 1


def is_well(app: WorkbenchApp, screen: str) -> None:
    """Nothing failed in a way that nobody foresaw, and something is on the terminal."""
    shown = seen.text(app)
    assert shown.strip(), screen
    assert "Something went wrong" not in shown, f"{screen}:\n{shown}"


@pytest.mark.parametrize("number", SOME)
async def test_a_run_deleted_under_the_app_breaks_no_screen(
    project: Project, app: WorkbenchApp, settle: Settle, number: int
) -> None:
    async with app.run_test(size=(120, 36)) as pilot:
        for place, screen in enumerate(part(number)):
            runs = make_runs(project, place)
            await settle(pilot)
            await go(pilot, settle, screen)
            for run in runs:
                shutil.rmtree(run.path)
            await settle(pilot)
            await pilot.press(*LOOKING)
            await settle(pilot)
            is_well(app, screen)
            await back(pilot)
            assert not app.runs.snapshot.rows, screen


def halve(runs: Sequence[RunDirectory]) -> None:
    """Cut every file of some runs in the middle, as one is that a copy has got half of."""
    for run in runs:
        for path in [item for item in run.path.rglob("*") if item.is_file()]:
            content = path.read_bytes()
            path.write_bytes(content[: len(content) // 2])


@pytest.mark.parametrize("number", SOME)
async def test_files_half_written_break_no_screen_and_are_read_once_they_are_whole(
    project: Project, app: WorkbenchApp, settle: Settle, number: int
) -> None:
    runs = make_runs(project, 0)
    whole = {path: path.read_bytes() for run in runs for path in run.path.rglob("*") if path.is_file()}
    async with app.run_test(size=(120, 36)) as pilot:
        for screen in part(number):
            halve(runs)
            await settle(pilot)
            await go(pilot, settle, screen, is_there=False)
            await pilot.press(*LOOKING)
            is_well(app, screen)
            for path, content in whole.items():
                path.write_bytes(content)
            await settle(pilot)
            is_well(app, screen)
            await back(pilot)
            assert {str(row.state) for row in app.runs.snapshot.rows} == {"running", "failed"}, screen


@pytest.mark.parametrize("number", SOME)
async def test_every_screen_outlives_a_terminal_of_20_by_5(
    project: Project, app: WorkbenchApp, settle: Settle, number: int
) -> None:
    make_runs(project, 0)
    async with app.run_test(size=(120, 36)) as pilot:
        for screen in part(number):
            await go(pilot, settle, screen)
            before, had_focus = app.screen, app.focused is not None
            await pilot.resize_terminal(20, 5)
            await pilot.press("j", "l", "tab")
            is_well(app, screen)
            await pilot.resize_terminal(80, 24)
            await pilot.resize_terminal(120, 36)
            await settle(pilot)
            is_well(app, screen)
            assert app.screen is before, screen
            assert not had_focus or app.focused is not None, screen
            await back(pilot)
