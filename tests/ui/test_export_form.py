"""The form of an export: the command it shows is the one it starts."""

from __future__ import annotations

from typing import Any

import pytest
from textual.widgets import Input

from tests.ui import seen
from tests.ui.conftest import Settle
from workbench.project import Project
from workbench.runs import RunDirectory
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.export import ExportTask
from workbench.ui.widgets.choice import Choice


def with_checkpoint(project: Project) -> RunDirectory:
    spec = {"env_id": "workbench/Ant-v0", "algorithm": "ppo", "seed": 1, "total_steps": 900}
    run = RunDirectory.create(project.runs, "ppo", "ant", files={"run.json": {"spec": spec}})
    (run.path / "checkpoint_000000000900").mkdir()
    return run


@pytest.mark.parametrize(
    ("fields", "command"),
    [
        ({}, "export 7f3a:900 --format onnx"),
        ({"format": "TorchScript", "acts": "samples too"}, "export 7f3a:900 --format torchscript --sampling"),
        ({"format": "Stable-Baselines3", "folder": "robot/policy"}, "export 7f3a:900 --format sb3 -o robot/policy"),
    ],
)
async def test_the_command_says_what_was_filled_in(
    app: WorkbenchApp, settle: Settle, fields: dict[str, str], command: str
) -> None:
    answers: list[Any] = []
    task = ExportTask("7f3a:900", "ant at 900")
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(pilot)
        await app.push_screen(task, answers.append)
        for name, value in fields.items():
            widget: Any = task.query_one(f"#{name}")
            assert isinstance(widget, Input | Choice)
            widget.value = value
        await pilot.pause()
        assert f"workbench {command}" in seen.words(app)
        await pilot.press("ctrl+g")
    assert answers == [command.split()]


async def test_samples_of_a_model_that_samples_itself_are_refused(app: WorkbenchApp, settle: Settle) -> None:
    task = ExportTask("7f3a", "ant")
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(pilot)
        await app.push_screen(task)
        task.query_one("#format", Choice).value = "Stable-Baselines3"
        task.query_one("#acts", Choice).value = "samples too"
        await pilot.pause()
        assert "samples by itself" in seen.words(app)
        await pilot.press("ctrl+g")
        assert app.screen is task


async def test_the_policy_of_the_run_under_the_cursor_is_exported(
    app: WorkbenchApp, project: Project, settle: Settle
) -> None:
    run = with_checkpoint(project)
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(pilot)
        await pilot.press("2")
        await settle(pilot)
        await app.run_action("screen.checkpoint_export")
        await pilot.pause()
        assert isinstance(app.screen, ExportTask)
        await pilot.press("ctrl+g")
        await pilot.pause()
    assert [job.words for job in app.launcher.jobs] == [("export", run.short_id, "--format", "onnx")]
