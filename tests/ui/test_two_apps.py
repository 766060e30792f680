"""Two apps open on one project: what one does to a run shows in the other, and neither undoes the other's work."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench.project import Project
from workbench.runs import RunDirectory, pending
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.run import RunScreen
from workbench.ui.state import Remembered

Apps = tuple[WorkbenchApp, Pilot[None], WorkbenchApp, Pilot[None]]


@asynccontextmanager
async def both(project: Project, settle: Settle) -> AsyncIterator[Apps]:
    """Two apps at once, each with a memory of its own."""
    apps = [
        fakes.make_app(project, remembered=Remembered(project.root / f".remembered-{name}.json"))
        for name in ("one", "two")
    ]
    async with apps[0].run_test(size=(120, 36)) as one, apps[1].run_test(size=(120, 36)) as two:
        for pilot in (one, two):
            await pilot.press("2")
            await settle(pilot)
        yield apps[0], one, apps[1], two


async def test_tags_of_both_are_kept(project: Project, settle: Settle) -> None:
    run = fakes.fake_run(project, "ant", "7f3a")
    async with both(project, settle) as (first, one, second, two):
        for pilot in (one, two):
            await pilot.press("T")
            await settle(pilot)
        for app, pilot, tag in ((first, one, "mine"), (second, two, "yours")):
            app.screen.query_one("#tags", Input).value = tag
            await pilot.press("ctrl+g")
            await settle(pilot)
        for app, pilot in ((first, one), (second, two)):
            await settle(pilot)
            [row] = app.runs.snapshot.rows
            assert "yours" in row.tags and row.tags == RunDirectory(run.path).annotations().tags


async def test_a_run_stopped_by_both_is_asked_and_neither_fails(project: Project, settle: Settle) -> None:
    run = fakes.fake_run(project, "ant", "7f3a")
    async with both(project, settle) as (first, one, second, two):
        for pilot in (one, two):
            await pilot.press("S")
            await settle(pilot)
        assert {request.verb for request in pending(run)} == {"stop"}
        for app in (first, second):
            assert "writes a checkpoint and ends" in seen.notices(app)


async def test_a_run_deleted_by_one_leaves_the_other_which_cannot_delete_it_again(
    project: Project, settle: Settle
) -> None:
    run = fakes.fake_run(project, "ant", "7f3a", state="finished", reason="steps")
    async with both(project, settle) as (first, one, second, two):
        await two.press("enter")
        await settle(two)
        assert isinstance(second.screen, RunScreen)
        await one.press("D")
        await settle(one)
        await one.press("D")
        await settle(one)
        assert not run.path.exists() and "is in the trash" in seen.notices(first)
        await two.press("D")
        await settle(two)
        assert "is gone" in seen.text(second)
        await two.press("D", "escape", "escape")
        await settle(two)
        assert not second.runs.snapshot.rows and "Something went wrong" not in seen.text(second)


async def test_an_order_of_the_queue_holds_in_both(
    project: Project, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.runs.queueing.ensure_supervisor", lambda _: None)
    for place, short_id in enumerate(("aaaa", "bbbb", "cccc")):
        fakes.fake_run(project, "ant", short_id, state="queued", started=fakes.NOW - 100 + place)
    async with both(project, settle) as (first, one, second, two):
        rows = first.runs.snapshot.rows
        last = max(rows, key=lambda row: row.place.position if row.place else 0)
        screen = first.screen
        screen.table.move_to(str(last.path))  # type: ignore[attr-defined]
        await screen.run_action("queue_first")
        await settle(one)
        await settle(two)
        for app in (first, second):
            row = app.runs.snapshot.row(last.path)
            assert row is not None and row.place is not None and row.place.position == 1
