"""Environments begun from the app, and looked over before training."""

from __future__ import annotations

from pathlib import Path

from textual.widgets import Input

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench import durable
from workbench.project import Project
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.environments import EnvironmentsScreen
from workbench.ui.screens.looked_over import PreviewCard, findings_text
from workbench.ui.screens.new_environment import NewEnvironmentTask

LINES = (
    "✓ settle         At rest after 0.4 s.",
    "! joint-sweep    The joint `elbow` reaches neither of its ends within 5 s under full torque. [model]",
    "                 Raise its gear, or lower its damping.",
    "✗ action-map     The torque at action 1 is half of ctrlrange. [task]",
    "ant: 1 fail, 1 warn. This made no policy.",
)
"""What the command prints, by its own tests."""


async def on_environments(app: WorkbenchApp, pilot: object, settle: Settle) -> EnvironmentsScreen:
    await settle(pilot)  # type: ignore[arg-type]
    assert isinstance(app.screen, EnvironmentsScreen)
    return app.screen


async def test_a_new_environment_is_written_and_selected(app: WorkbenchApp, project: Project, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await on_environments(app, pilot, settle)
        await app.run_action("screen.environment_new")
        await pilot.pause()
        assert isinstance(app.screen, NewEnvironmentTask)
        await pilot.press("ctrl+g")
        # It has no name yet.
        assert isinstance(app.screen, NewEnvironmentTask)
        await pilot.press(*"ant")
        assert "There is a ant already" in seen.words(app)
        await pilot.press(*["backspace"] * 3, *"pole", "ctrl+g")
        await settle(pilot)
        [job] = app.launcher.jobs
        assert job.words == ("new", "env", "pole") and app.screen is screen
        durable.write_text(project.envs / "pole_env.py", fakes.CART_POLE.replace("CartPole", "Pole"))
        app.launcher.finish(job, tail=["envs/pole_env.py"])  # type: ignore[attr-defined]
        await settle(pilot)
        assert screen.entry is not None and screen.entry.name == "pole"
        assert "pole is written." in seen.notices(app)


async def test_one_that_cannot_be_written_says_why(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await on_environments(app, pilot, settle)
        await app.run_action("screen.environment_new")
        await pilot.pause()
        await pilot.press(*"Pole", "ctrl+g")
        await settle(pilot)
        tail = ["workbench: 'Pole' is no name of an environment.", "Perhaps pole."]
        app.launcher.finish(app.launcher.jobs[-1], exit_code=2, tail=tail)  # type: ignore[attr-defined]
        await settle(pilot)
        assert "'Pole' is no name of an environment." in seen.words(app) and "Perhaps pole." in seen.words(app)


async def test_a_model_has_to_be_there(app: WorkbenchApp, settle: Settle, tmp_path: Path) -> None:
    model = tmp_path / "arm.xml"
    model.write_text("<mujoco/>")
    task = NewEnvironmentTask((), tmp_path)
    answers: list[object] = []
    async with app.run_test(size=(80, 24)) as pilot:
        await on_environments(app, pilot, settle)
        await app.push_screen(task, answers.append)
        task.query_one("#name", Input).value = "arm"
        task.query_one("#model", Input).value = "leg.xml"
        await pilot.pause()
        assert "There is no file leg.xml." in seen.words(app)
        task.query_one("#model", Input).value = "arm.xml"
        await pilot.press("ctrl+g")
    assert answers == [["new", "env", "arm", "--model", str(model)]]


async def test_a_preview_lists_each_finding_with_its_owner_and_fix(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await on_environments(app, pilot, settle)
        screen.select("ant")
        await pilot.pause()
        await app.run_action("screen.environment_preview")
        await settle(pilot)
        assert app.launcher.commands == ["workbench preview ant"]
        app.launcher.finish(app.launcher.jobs[-1], exit_code=1, tail=LINES)  # type: ignore[attr-defined]
        await settle(pilot)
        assert isinstance(app.screen, PreviewCard)
        shown = seen.words(app)
        assert "it should not be trained on yet" in shown
        assert "! joint-sweep whose: model The joint `elbow` reaches neither" in shown
        assert "torque. Raise its gear, or lower its damping." in shown
        assert "✗ action-map whose: task" in shown and "1 fail, 1 warn" in shown


def test_no_line_of_a_preview_is_wider_than_its_card() -> None:
    told = findings_text(LINES, 40)
    assert max(len(line.plain) for line in told) <= 40
    assert sum(line.plain.startswith("    ") for line in told) > 4


async def test_an_app_that_only_looks_writes_none(project: Project, settle: Settle) -> None:
    fakes.write_environments(project)
    app = fakes.make_app(project, read_only=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await on_environments(app, pilot, settle)
        await app.run_action("screen.environment_new")
        await pilot.pause()
        await pilot.press(*"pole", "ctrl+g")
        assert not app.launcher.jobs
