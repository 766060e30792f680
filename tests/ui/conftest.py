"""Where the app's tests run: a fixed time zone, no shipped catalogue, and a cache of their own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.ui import fakes
from workbench.project import CACHE_VARIABLE, Project
from workbench.ui.app import WorkbenchApp

# A place that is imported already is opened at once; tests of what comes before it put that off themselves.
from workbench.ui.screens import environments, runs  # noqa: F401

Settle = Callable[[Pilot[None]], Awaitable[None]]


@pytest.fixture(autouse=True)
def fixed_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """UTC, a display that is always there, and environments of the test's own making only."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv("DISPLAY", ":0")
    # What colours a terminal has decides how bands are drawn.
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    for name in ("NO_COLOR", "EDITOR", "VISUAL", "TEXTUAL_ANIMATIONS"):
        monkeypatch.delenv(name, raising=False)
    shipped = Project(tmp_path / "shipped")
    monkeypatch.setattr("workbench.ui.pictures.REST_S", 0.0)
    monkeypatch.setattr("workbench.catalog.sources.shipped_project", lambda: shipped)
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def app(project: Project) -> WorkbenchApp:
    """An app on a project with two environments, a variant and a recipe."""
    fakes.write_environments(project)
    return fakes.make_app(project)


@pytest.fixture
def settle() -> Settle:
    """Wait until workers have ended and what they told is on the screen."""

    async def wait(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, WorkbenchApp)
        for _ in range(3):
            # Again each time: what a worker did to a run is read only after it.
            await app.runs.settle()
            await workers_done(pilot)
            await pilot.pause()

    return wait


async def workers_done(pilot: Pilot[None]) -> None:
    """Wait for every worker that ends by itself: not for the reader of runs, nor for an open form."""
    endless = {"watch", "form"}
    async with asyncio.timeout(20):
        while any(worker.group not in endless and not worker.is_finished for worker in pilot.app.workers):
            await pilot.pause(0.005)
