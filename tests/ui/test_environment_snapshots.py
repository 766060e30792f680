"""Pictures of the place of environments: small, large, light, plain, searched, and with something broken."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.ui import fakes
from tests.ui.conftest import Settle
from workbench.catalog import discover
from workbench.project import Project
from workbench.ui import theme
from workbench.ui.app import WorkbenchApp
from workbench.ui.state import Remembered

Snap = Callable[..., bool]
Before = Callable[[Pilot[None]], Awaitable[None]]

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


@pytest.fixture
def described(project: Project) -> Project:
    """A project whose environments are described, with two runs."""
    fakes.write_environments(project, broken=True)
    for entry in discover(project).entries:
        if not entry.broken:
            fakes.describe(entry)
    fakes.fake_run(project, "cart_pole", "7f3a", returns=[90.0 * place for place in range(10)], total_steps=1_000_000)
    fakes.fake_run(project, "cart_pole", "63f1", state="finished", returns=[100.0 * place for place in range(11)])
    return project


def made(project: Project, look: str = theme.DARK, **options: Any) -> WorkbenchApp:
    remembered = Remembered(project.root / ".remembered.json")
    remembered.keep("app", "theme", look)
    return fakes.make_app(project, remembered=remembered, **options)


def before(settle: Settle, *keys: str) -> Before:
    async def act(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await pilot.press("1")
        await settle(pilot)
        await pilot.press(*keys)
        await settle(pilot)

    return act


@LOOKS
def test_environments(described: Project, settle: Settle, snap_compare: Snap, look: str, size: tuple[int, int]) -> None:
    assert snap_compare(made(described, look), terminal_size=size, run_before=before(settle, "G"))


def test_with_a_picture(described: Project, settle: Settle, snap_compare: Snap) -> None:
    app = made(described, painter=fakes.FakePainter((200, 120, 30)))
    assert snap_compare(app, terminal_size=(160, 48), run_before=before(settle, "G"))


def test_in_ascii(described: Project, settle: Settle, snap_compare: Snap) -> None:
    assert snap_compare(made(described, plain=True), terminal_size=(80, 24), run_before=before(settle, "G"))


def test_searched(described: Project, settle: Settle, snap_compare: Snap) -> None:
    assert snap_compare(made(described), terminal_size=(120, 34), run_before=before(settle, "slash", *"anc"))


def test_broken(described: Project, settle: Settle, snap_compare: Snap) -> None:
    assert snap_compare(made(described), terminal_size=(80, 24), run_before=before(settle, "slash", *"is:b"))
