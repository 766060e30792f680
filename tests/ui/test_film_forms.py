"""The forms of recordings and montages: the command they show is the one they start."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.ui import seen
from tests.ui.conftest import Settle
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.filming import FilmTask
from workbench.ui.screens.montage import MontageTask
from workbench.ui.screens.record import RecordTask
from workbench.ui.widgets.choice import Choice


async def fill(pilot: Pilot[None], task: FilmTask, **fields: str) -> None:
    for name, value in fields.items():
        widget: Any = task.query_one(f"#{name}")
        assert isinstance(widget, Input | Choice)
        widget.value = value
    await pilot.pause()


@pytest.mark.parametrize(
    ("task", "fields", "command"),
    [
        (RecordTask("7f3a:500000", "ant"), {}, "record 7f3a:500000"),
        (
            RecordTask("7f3a", "ant"),
            {"episodes": "3", "seed": "10 002", "acts": "stochastic", "size": "1280×720"},
            "record 7f3a --episodes 3 --seed 10002 --preset hd --stochastic",
        ),
        (RecordTask("ant", "ant", "ant"), {"agent": "zero"}, "record ant --agent zero"),
        (RecordTask("ant", "ant", "ant"), {"size": "480×360"}, "record ant --preset draft"),
        (
            MontageTask(["7f3a"], "ant 7f3a", 18),
            {},
            "montage 7f3a --layout grid",
        ),
        (
            MontageTask(["7f3a", "b19e"], "2 runs"),
            {"layout": "film", "clips": "4", "schedule": "exponential", "columns": "3"},
            "montage 7f3a b19e --num-videos 4 --schedule exponential",
        ),
        (
            MontageTask(["7f3a"], "ant 7f3a", 3),
            {"layout": "poster", "columns": "2", "curve": "on"},
            "montage 7f3a --layout poster --num-videos 3 --columns 2 --curve",
        ),
    ],
)
async def test_the_command_says_what_was_filled_in(
    app: WorkbenchApp, settle: Settle, task: FilmTask, fields: dict[str, str], command: str
) -> None:
    answers: list[Any] = []
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(pilot)
        await app.push_screen(task, answers.append)
        await fill(pilot, task, **fields)
        assert f"workbench {command}" in seen.words(app)
        await pilot.press("ctrl+y")
        assert app.clipboard == f"workbench {command}"
        await pilot.press("ctrl+g")
        assert answers == [command.split()]


async def test_wrong_numbers_are_told_all_at_once_and_nothing_starts(app: WorkbenchApp, settle: Settle) -> None:
    answers: list[Any] = []
    task = RecordTask("7f3a", "ant 7f3a")
    async with app.run_test() as pilot:
        await settle(pilot)
        await app.push_screen(task, answers.append)
        await fill(pilot, task, episodes="0", seed="none")
        shown = seen.words(app)
        assert "Episodes must be a whole number from 1 to 1000, got 0." in shown
        assert "Seed must be a whole number" in shown and "got none" in shown
        await pilot.press("ctrl+g")
        assert app.screen is task
        await pilot.press("escape")
        assert answers == [None] and not app.launcher.jobs


async def test_a_choice_is_changed_by_keys_and_clicks(app: WorkbenchApp, settle: Settle) -> None:
    task = RecordTask("7f3a", "ant 7f3a")
    async with app.run_test() as pilot:
        await settle(pilot)
        await app.push_screen(task)
        task.query_one("#size").focus()
        await pilot.press("right")
        assert task.chosen("size") == "1280×720"
        await pilot.press("l", "h", "left")
        assert task.chosen("size") == "640×480"
        await pilot.click("#size", offset=(2, 0))
        assert task.chosen("size") == "480×360"
