"""Pictures of the Viewer place: empty, with the window, with the preview, in the past, closed, and its form."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable

import numpy as np
import pytest
from textual.pilot import Pilot

from tests.ui import fakes
from workbench import durable
from workbench.project import Project
from workbench.remote.frames import Frame
from workbench.runs import RunDirectory
from workbench.ui.app import WorkbenchApp
from workbench.ui.theme import DARK, LIGHT
from workbench.ui.widgets.preview import Preview

Settle = Callable[[Pilot[None]], Awaitable[None]]
Snap = Callable[..., bool]
SMALL, LARGE = (80, 24), (160, 48)
SIZES = pytest.mark.parametrize("size", [SMALL, LARGE], ids=["small", "large"])
THEMES = pytest.mark.parametrize("look", [DARK, LIGHT])
SCORES = {500_000 * place: 1700 * (1 - math.exp(-place / 6)) for place in range(17)} | {
    8_500_000: 1688.0,
    9_000_000: 1512.0,
}


def make_run(project: Project) -> RunDirectory:
    run = fakes.fake_run(
        project,
        events=[
            {"kind": "evaluation", "steps": steps, "mean_return": mean, "std_return": 74.0, "returns": [mean] * 20}
            for steps, mean in SCORES.items()
        ],
    )
    for steps in SCORES:
        durable.write_json(run.path / f"checkpoint_{steps:012d}" / "policy.json", {})
    run.set_best("checkpoint_000008500000")
    run.set_latest("checkpoint_000009000000")
    return run


def picture(width: int, height: int) -> Frame:
    """A ball over a floor."""
    y, x = np.mgrid[0:height, 0:width]
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[...] = (36, 40, 48)
    pixels[y > 0.7 * height] = (60, 66, 78)
    pixels[(x - width / 2) ** 2 + (y - height / 2) ** 2 < (0.2 * height) ** 2] = (214, 98, 47)
    return Frame(width, height, 0, 412, pixels.tobytes())


async def play(pilot: Pilot[None], run: RunDirectory, settle: Settle) -> fakes.FakePlayer:
    """Play a run for a while: two episodes, and 412 steps of the third."""
    app = pilot.app
    assert isinstance(app, WorkbenchApp)
    app.start_play(["play", "7f3a", "--seed", "10000"], "ant 7f3a", {"target": "7f3a", "run": str(run.path)})
    player = app.start_player.last
    player.ready(run=run, agent="policy", checkpoint=8_500_000, age_s=70.0, seed=10_002, episode=3)
    for number, (length, reason, total) in enumerate(
        [(387, "unhealthy", 431.2), (1000, "time_limit", 1702.4)], start=1
    ):
        player.tell(
            "episode", episode=number, seed=9_999 + number, length=length, reason=reason, agent="policy",
            checkpoint=8_500_000, **{"return": total},
        )  # fmt: skip
    for step in range(4, 413, 4):
        terms = {
            "forward": 1.1 + 0.3 * math.sin(step / 9), "survive": 1.0, "ctrl": -0.14 - 0.05 * math.sin(step / 5),
            "contact": -0.01,
        }  # fmt: skip
        player.state(step=step, last=step, time_s=0.05 * step, return_=1.7 * step, reward=2.05, terms=terms)
    await pilot.press("3")
    await settle(pilot)
    return player


async def show(pilot: Pilot[None], player: fakes.FakePlayer, settle: Settle) -> None:
    """Show the preview, with a picture in it."""
    await pilot.press("p")
    await settle(pilot)
    player.frame(picture(*pilot.app.screen.query_one(Preview).pixels))
    await settle(pilot)


def app_of(project: Project, look: str = DARK) -> WorkbenchApp:
    fakes.write_environments(project)
    app = fakes.make_app(project)
    app.remembered.keep("app", "theme", look)
    return app


@SIZES
@THEMES
def test_preview(project: Project, settle: Settle, snap_compare: Snap, size: tuple[int, int], look: str) -> None:
    run = make_run(project)

    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await show(pilot, await play(pilot, run, settle), settle)
        pilot.app.clear_notifications()
        await pilot.pause()

    assert snap_compare(app_of(project, look), terminal_size=size, run_before=before)


@SIZES
def test_window_in_the_past(project: Project, settle: Settle, snap_compare: Snap, size: tuple[int, int]) -> None:
    run = make_run(project)

    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        player = await play(pilot, run, settle)
        player.state(step=100, time_s=5.0, playing=False, follow=True, speed=0.5, stochastic=True)
        pilot.app.clear_notifications()
        await settle(pilot)

    assert snap_compare(app_of(project), terminal_size=size, run_before=before)


@pytest.mark.parametrize("state", ["empty", "closed", "failed", "agent", "form"])
def test_other_states(project: Project, settle: Settle, snap_compare: Snap, state: str) -> None:
    run = make_run(project)

    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        if state == "empty":
            await pilot.press("3")
        else:
            player = await play(pilot, run, settle)
            if state == "closed":
                player.tell("closed", reason="window")
            elif state == "failed":
                player.error("playing", "the checkpoint is torn.", "Choose another.", fatal=True)
                player.finish(2)
                await pilot.pause()
                await pilot.press("escape")
            elif state == "agent":
                player.state(agent="sweep", checkpoint=None, age_s=None)
            elif state == "form":
                await pilot.press("enter")
        pilot.app.clear_notifications()
        await settle(pilot)

    assert snap_compare(app_of(project), terminal_size=SMALL, run_before=before)


def test_plain(project: Project, settle: Settle, snap_compare: Snap) -> None:
    run = make_run(project)
    fakes.write_environments(project)

    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await play(pilot, run, settle)
        pilot.app.clear_notifications()
        await settle(pilot)

    assert snap_compare(fakes.make_app(project, plain=True), terminal_size=SMALL, run_before=before)
