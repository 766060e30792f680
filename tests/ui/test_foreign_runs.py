"""Runs of other tools in the app: listed, marked, looked at, their policies played and filmed, and nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.runs.foreign.files import age, write_monitor
from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench.project import Project
from workbench.runs import resolve_checkpoint
from workbench.runs.foreign.converter import Converter
from workbench.runs.foreign.process import ConverterProcess
from workbench.runs.foreign.watch_list import watch
from workbench.ui.app import WorkbenchApp
from workbench.ui.run_rules import POSSIBLE
from workbench.ui.screens.run import RunScreen
from workbench.ui.screens.runs import RunsScreen


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A run of Stable-Baselines3 that grew a moment before the app's clock."""
    folder = tmp_path / "logs"
    write_monitor(folder / "monitor.csv", [(float(value), 10, value / 10) for value in range(1, 40)])
    age(folder, 10.0, fakes.NOW)
    return folder


def converted(project: Project, folder: Path) -> None:
    watch(project, [folder])
    with Converter(project) as converter:
        assert converter.refresh().problems == []


async def test_it_is_listed_with_its_tool_and_offers_only_looking(
    project: Project, app: WorkbenchApp, settle: Settle, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ConverterProcess, "ensure", lambda self: None)
    converted(project, logs)
    async with app.run_test(size=(160, 40)) as pilot:
        await settle(pilot)
        await pilot.press("2")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, RunsScreen)
        line = seen.line_with(app, "Hopper-v4")
        assert "running" in line and "sb3" in line
        [row] = app.runs.snapshot.rows
        assert (row.is_foreign, row.tool, app.runs.snapshot.live) == (True, "sb3", 0)
        acting = POSSIBLE.keys() - {"run.annotate", "run.pin", "run.evaluate"}
        assert [name for name in acting if screen.can(name)] == []
        assert [name for name in ("viewer.watch", "viewer.record", "run.montage") if screen.can(name)] == [
            "viewer.watch",
            "viewer.record",
        ]
        assert screen.can("open.selected")
        screen.action_viewer_watch()
        await settle(pilot)
        assert "has saved no policy" in seen.notices(app)
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, RunScreen)
        assert seen.braille(app) > 50


async def test_a_policy_that_it_saved_is_played_and_filmed_by_its_reference(
    project: Project, app: WorkbenchApp, settle: Settle, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ConverterProcess, "ensure", lambda self: None)
    (logs / "best_model.zip").write_bytes(b"opened by whoever plays it")
    converted(project, logs)
    played: list[list[str]] = []
    filmed: list[str] = []
    monkeypatch.setattr(app, "start_play", lambda words, *rest, **more: played.append(words))
    monkeypatch.setattr(app, "record", lambda target, *rest: filmed.append(target))
    async with app.run_test(size=(160, 40)) as pilot:
        await settle(pilot)
        await pilot.press("2")
        await settle(pilot)
        screen = app.screen
        assert isinstance(screen, RunsScreen)
        [row] = app.runs.snapshot.rows
        screen.action_viewer_watch()
        screen.action_viewer_record()
        assert (played, filmed) == ([["play", row.reference]], [row.reference])
    assert resolve_checkpoint(project, row.reference) == logs / "best_model.zip"


async def test_quitting_neither_asks_for_it_nor_stops_it(
    project: Project, app: WorkbenchApp, settle: Settle, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ConverterProcess, "ensure", lambda self: None)
    converted(project, logs)
    async with app.run_test() as pilot:
        await settle(pilot)
        app.stop_all()
        await settle(pilot)
        assert seen.notices(app) == ""
        await pilot.press("ctrl+q")
        await pilot.pause()
    assert not app.is_running


async def test_the_app_keeps_a_converter_while_there_is_a_list(
    project: Project, app: WorkbenchApp, settle: Settle, logs: Path
) -> None:
    async with app.run_test() as pilot:
        await settle(pilot)
        converter = app.runs._converter
        assert converter is not None and not converter.is_running
        watch(project, [logs])
        async with asyncio.timeout(20):
            while not app.runs.snapshot.rows:
                await asyncio.sleep(0.05)
                await settle(pilot)
        assert converter.is_running
        assert [row.source for row in app.runs.snapshot.rows] == [str(logs)]
    assert not converter.is_running


async def test_an_app_that_may_only_look_writes_no_mirrors(project: Project, settle: Settle, logs: Path) -> None:
    watch(project, [logs])
    app = fakes.make_app(project, read_only=True)
    async with app.run_test() as pilot:
        await settle(pilot)
        assert app.runs._converter is None
    assert not project.runs.exists() or list(project.runs.glob(".foreign")) == []


@pytest.mark.parametrize(
    ("saved", "said"),
    [
        ([], "Its tool has saved no policy."),
        (["best_model.zip"], "Its tool has saved best_model.zip: v watches, V films."),
        (["rl_model_2000_steps.zip", "rl_model_4000_steps.zip"], "4 000"),
    ],
)
async def test_what_its_tool_saved_stands_where_checkpoints_do(
    project: Project, app: WorkbenchApp, settle: Settle, logs: Path, monkeypatch: pytest.MonkeyPatch,
    saved: list[str], said: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(ConverterProcess, "ensure", lambda self: None)
    for name in saved:
        (logs / name).write_bytes(b"opened by whoever plays it")
    converted(project, logs)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        screen = RunScreen(app.runs.snapshot.rows[0].path, "Checkpoints")
        await app.push_screen(screen)
        await settle(pilot)
        await settle(pilot)
        assert said in seen.words(app) and "No checkpoint yet" not in seen.text(app)


async def test_a_narrow_list_tells_its_tool_and_cuts_no_ending(
    project: Project, app: WorkbenchApp, settle: Settle, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ConverterProcess, "ensure", lambda self: None)
    converted(project, logs)
    reason = "its process is gone, signal 9"
    fakes.fake_run(project, "ant", "aaaa", state="crashed", reason=reason)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("2")
        await settle(pilot)
        assert "sb3" in seen.line_with(app, "Hopper-v4")
        assert "process gone," in seen.line_with(app, "ant aaaa")
