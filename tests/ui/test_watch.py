"""The reader of run folders: what it tells, and what it survives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench.project import Project
from workbench.runs.history import History
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


async def test_a_cursor_that_comes_back_has_nothing_read_again(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [
        fakes.fake_run(project, "ant", short_id, state="finished", reason="steps", returns=[1.0, 2.0])
        for short_id in ("aaaa", "bbbb")
    ]
    async with app.run_test() as pilot:
        await settle(pilot)
        read: list[int] = []
        real = app.runs._store.list
        monkeypatch.setattr(app.runs._store, "list", lambda *_, **__: read.append(1) or real())
        known: dict[Path, History] = {}
        app.runs._list_due = float("inf")
        for key in ("j", "k", "j"):
            await pilot.press(key)
            while app.runs._poked.is_set():
                await pilot.pause()
            await pilot.pause()
            for path, history in app.runs._histories.items():
                known.setdefault(path, history)
        assert not read
        await settle(pilot)
        assert {run.path for run in runs} == set(app.runs._histories)
        assert all(app.runs._histories[path] is history for path, history in known.items())


async def test_histories_that_nobody_follows_are_kept_as_far_as_they_fit(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    for short_id in ("aaaa", "bbbb", "cccc"):
        fakes.fake_run(project, "ant", short_id, state="finished", reason="steps", returns=[1.0, 2.0])
    monkeypatch.setattr("workbench.ui.watch.KEPT_BYTES", 0)
    async with app.run_test() as pilot:
        await settle(pilot)
        for _ in range(2):
            await pilot.press("j")
            await settle(pilot)
        assert len(app.runs._histories) == 1
