"""The reader of run folders: what it tells, and what it survives."""

from __future__ import annotations

import pytest

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench.project import Project
from workbench.ui.app import WorkbenchApp


async def test_rows_say_what_a_command_line_calls_them(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    twins = [fakes.fake_run(project, name, "7f3a") for name in ("ant", "cart_pole")]
    fakes.fake_run(project, "ant", "b19e")
    async with app.run_test() as pilot:
        await settle(pilot)
        assert {row.reference for row in app.runs.snapshot.rows} == {*(run.name for run in twins), "b19e"}


async def test_counts_and_what_was_looked_at_outlast_the_app(project: Project, settle: Settle) -> None:
    fakes.fake_run(project, "ant", "aaaa")
    fakes.fake_run(project, "ant", "bbbb", state="queued")
    bad = fakes.fake_run(project, "ant", "cccc", state="failed", reason="loss not finite")
    for counted in (1, 0):
        app = fakes.make_app(project)
        async with app.run_test() as pilot:
            await settle(pilot)
            snapshot = app.runs.snapshot
            assert (snapshot.live, snapshot.queued, snapshot.bad) == (1, 1, counted)
            app.runs.mark_seen(bad.path)


async def test_it_goes_on_reading_after_a_failure_and_says_so_once(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with app.run_test() as pilot:
        await settle(pilot)
        with monkeypatch.context() as broken:
            broken.setattr(app.runs._store, "list", lambda *_, **__: 1 / 0)
            for _ in range(3):
                app.runs._poked.clear()
                app.runs.poke()
                while app.runs._poked.is_set():
                    await pilot.pause()
                await pilot.pause()
        assert seen.notices(app).count("division by zero") == 1
        fakes.fake_run(project, "ant", "aaaa")
        await settle(pilot)
        assert [row.short_id for row in app.runs.snapshot.rows] == ["aaaa"]


async def test_a_list_that_did_not_change_is_not_told_again(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    fakes.fake_run(project, "ant", "aaaa")
    async with app.run_test() as pilot:
        await settle(pilot)
        before = app.runs.snapshot
        await settle(pilot)
        assert app.runs.snapshot is before
