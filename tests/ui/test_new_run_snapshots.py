"""Pictures of the form of a new run: as it opens, with problems, as a fork; small, large, light, plain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.runs.test_forking import parent_of
from tests.ui import fakes
from tests.ui.conftest import Settle, workers_done
from workbench.project import Project
from workbench.ui import theme
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.new_run import NewRunForm
from workbench.ui.state import Remembered

Snap = Callable[..., bool]

LOOKS = pytest.mark.parametrize(
    ("look", "size"),
    [
        pytest.param(theme.DARK, (80, 24), id="dark"),
        pytest.param(theme.LIGHT, (80, 24), id="light"),
        pytest.param(theme.DARK, (120, 34), id="medium"),
        pytest.param(theme.DARK, (160, 48), id="large"),
        pytest.param(theme.LIGHT, (210, 50), id="huge"),
    ],
)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check and measure without waiting, on a machine of two places."""
    monkeypatch.setattr("workbench.ui.screens.new_run.DEBOUNCE_S", 0.0)
    monkeypatch.setattr("workbench.ui.trial.QUIET_S", 0.0)
    monkeypatch.setenv("WORKBENCH_SLOTS", "2")


def made(project: Project, look: str, **options: Any) -> WorkbenchApp:
    fakes.write_environments(project)
    remembered = Remembered(project.root / ".remembered.json")
    remembered.keep("app", "theme", look)
    return fakes.make_app(project, remembered=remembered, **options)


def spoilt(settle: Settle) -> Callable[[Pilot[None]], Any]:
    async def act(pilot: Pilot[None]) -> None:
        form = await opened(pilot, settle)
        base = form.draft.base()
        for key, text in (("n_envs", "7"), ("ppo.learning_rate", "0.01")):
            form.draft = form.draft.edited(key, text, base)
        form.draft = replace(form.draft, seeds="1-3")
        await form._fill()
        # The cursor of a text field blinks, and is in a picture or not.
        form._line("algorithm").editor.focus()
        form.check_soon(wait=False)
        await checked(pilot)

    return act


async def checked(pilot: Pilot[None]) -> None:
    for _ in range(3):
        await workers_done(pilot)
        await pilot.pause()


async def opened(pilot: Pilot[None], settle: Settle) -> NewRunForm:
    app = pilot.app
    assert isinstance(app, WorkbenchApp)
    await settle(pilot)
    app.new_run_of("cart_pole")
    await pilot.pause()
    await checked(pilot)
    assert isinstance(app.screen, NewRunForm)
    return app.screen


@LOOKS
def test_form(project: Project, settle: Settle, snap_compare: Snap, look: str, size: tuple[int, int]) -> None:
    async def act(pilot: Pilot[None]) -> None:
        await opened(pilot, settle)

    assert snap_compare(made(project, look), terminal_size=size, run_before=act)


@LOOKS
def test_problems(project: Project, settle: Settle, snap_compare: Snap, look: str, size: tuple[int, int]) -> None:
    assert snap_compare(made(project, look), terminal_size=size, run_before=spoilt(settle))


def test_in_ascii(project: Project, settle: Settle, snap_compare: Snap) -> None:
    app = made(project, theme.DARK, plain=True)
    assert snap_compare(app, terminal_size=(80, 24), run_before=spoilt(settle))


def test_a_fork(project: Project, settle: Settle, snap_compare: Snap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.runs.directory.secrets.token_hex", lambda size: "7f3a")
    monkeypatch.setattr("workbench.runs.directory._STAMP", "20261128-102600")
    run = parent_of(project.runs)

    async def act(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, WorkbenchApp)
        await settle(pilot)
        app.fork_form(run.checkpoints()[-1].path, changes={"ppo.learning_rate": "1e-4"})
        await pilot.pause()
        await checked(pilot)

    assert snap_compare(made(project, theme.DARK), terminal_size=(120, 34), run_before=act)
