"""Pictures of runs: empty, live and failed, dark and light, narrow and wide."""

from __future__ import annotations

import math
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.ui import fakes
from tests.ui.conftest import workers_done
from workbench import durable
from workbench.project import Project
from workbench.runs import EventWriter, RunDirectory
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.run import RunScreen
from workbench.ui.theme import LIGHT

Compare = Callable[..., bool]
Before = Callable[[Pilot[None]], Awaitable[None]]

SMALL, LARGE = (80, 24), (160, 48)
LOG = (
    "10:41:50 iteration 277  9 076 736 steps  return 1 398\n"
    "10:41:51 WARNING mujoco: nan in qacc of copy 17, episode reset\n"
    "10:41:52 iteration 279  9 142 272 steps  return 1 402\n"
)
LAST_WORDS = (
    "09:57:03 iteration 101  3 309 568 steps  return 118  kl 1.91\n"
    "09:57:03 ERROR NonFiniteLoss: value_loss is nan, update 101, epoch 3 of 10\n"
)


def rising(count: int, top: float) -> list[float]:
    """A curve that climbs and wobbles, the same on every machine."""
    return [top * (1 - math.exp(-3 * place / count)) + 40 * math.sin(place * 1.7) for place in range(count)]


def live_run(project: Project) -> RunDirectory:
    spec = {
        "env_id": "workbench/Ant-v0", "algorithm": "ppo", "seed": 1, "total_steps": 15_000_000, "tags": ["baseline"],
        "stop_criteria": {"episode_return_mean": 2000}, "ppo": {"learning_rate": 0.001, "n_steps": 512, "gamma": 0.99},
    }  # fmt: skip
    run = fakes.fake_run(project, "ant", "7f3a", spec=spec, log=LOG)
    durable.write_json(run.spec_path, {**run.record(), "host": "lab-arm"})
    started = fakes.NOW - 934
    with EventWriter(run.events_path) as stream:
        stream.append("state", state="running", steps=0, time=started)
        for place, value in enumerate(rising(120, 1500), start=1):
            steps, wall_s = place * 76_250, place * 7.78
            stream.append(
                "metrics",
                steps=steps,
                time=started + wall_s,
                wall_s=wall_s,
                episodes=place * 20,
                iteration=place,
                values={
                    "rollout/ep_rew_mean": value,
                    "rollout/ep_len_mean": 1000 * (1 - math.exp(-place / 40)),
                    "reward/forward_sum": 7.0 * place,
                    "reward/ctrl_sum": -1.2 * place,
                    "terminated/unhealthy": 1 - place / 200,
                    "truncated/time_limit": place / 200,
                    "train/approx_kl": 0.02 + 0.01 * math.sin(place),
                    "train/value_loss": 1000 / place,
                    "time/fps": 9800.0,
                },
            )
        for place in range(1, 9):
            score = {"mean_return": 200.0 * place, "std_return": 70.0, "returns": [1.0] * 20}
            stream.append("evaluation", steps=place * 1_000_000, time=started + place * 100, **score)
        stream.append("anomaly", steps=7_110_000, time=started + 700, message="explained variance −0.42")
    for place in range(9):
        folder = run.path / f"checkpoint_{place * 1_000_000:012d}"
        folder.mkdir()
        (folder / "policy.safetensors").write_bytes(b"x" * 1_400_000)
        written = started + place * 100
        os.utime(folder / "policy.safetensors", (written, written))
    run.set_best("checkpoint_000008000000")
    run.set_latest("checkpoint_000008000000")
    return run


def bad_run(project: Project) -> RunDirectory:
    return fakes.fake_run(
        project,
        "ant",
        "2b60",
        state="failed",
        reason="loss not finite",
        returns=rising(33, 118),
        total_steps=10_000_000,
        started=fakes.NOW - 3060,
        log=LAST_WORDS,
    )


def many_runs(project: Project) -> None:
    live_run(project)
    bad_run(project)
    fakes.fake_run(
        project, "cart_pole", "b19e", algorithm="sac", returns=rising(8, 800), total_steps=1_000_000,
        started=fakes.NOW - 1700,
    )  # fmt: skip
    fakes.fake_run(project, "cart_pole", "63f1", algorithm="td3", state="queued", seed=2, total_steps=1_000_000)
    fakes.fake_run(
        project, "ant", "40ac", algorithm="td3", alive=False, returns=rising(18, 2950), total_steps=1_000_000,
        started=fakes.NOW - 3700, log="Killed\n",
    )  # fmt: skip
    fakes.fake_run(
        project, "cart_pole", "0b72", state="finished", reason="goal", returns=rising(30, 990), total_steps=1_000_000,
        started=fakes.NOW - 3 * 86400,
    )  # fmt: skip


def shown(*keys: str, light: bool = False, screen: Callable[[Project], Any] | None = None) -> Before:
    """Return what to do before the picture: read everything, open a screen, press keys, read again."""

    async def before(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, WorkbenchApp)
        if light:
            app.theme = LIGHT
        await _read(pilot)
        if screen is not None:
            await app.push_screen(screen(app.project))
            await _read(pilot)
        for key in keys:
            await pilot.press(key)
            await _read(pilot)
        for field in app.screen.query(Input):
            # A cursor that blinks is in a picture or not.
            field.cursor_blink = False
        await pilot.pause()

    return before


async def _read(pilot: Pilot[None]) -> None:
    app = pilot.app
    assert isinstance(app, WorkbenchApp)
    for _ in range(2):
        await app.runs.settle()
        for _ in range(3):
            await workers_done(pilot)
            await pilot.pause()


def run_screen(section: str = "Return", short_id: str = "7f3a") -> Callable[[Project], RunScreen]:
    return lambda project: RunScreen(next(project.runs.glob(f"*/*_{short_id}")), section)


def _prepare(project: Project, *makers: Callable[[Project], Any]) -> WorkbenchApp:
    fakes.write_environments(project)
    for make in makers:
        make(project)
    return fakes.make_app(project)


@pytest.mark.parametrize(
    ("size", "light"), [(SMALL, False), (SMALL, True), (LARGE, False)], ids=["dark", "light", "large"]
)
@pytest.mark.parametrize("state", ["empty", "live"])
def test_runs(snap_compare: Compare, project: Project, size: tuple[int, int], light: bool, state: str) -> None:
    app = _prepare(project, *([many_runs] if state == "live" else []))
    assert snap_compare(app, terminal_size=size, run_before=shown("2", light=light))


def test_runs_in_ascii(snap_compare: Compare, project: Project) -> None:
    many_runs(project)
    app = fakes.make_app(project, plain=True)
    assert snap_compare(app, terminal_size=SMALL, run_before=shown("2"))


def test_runs_with_a_crosshair(snap_compare: Compare, project: Project) -> None:
    def told(project: Project) -> None:
        with EventWriter(live_run(project).events_path) as stream:
            for steps in range(0, 9_000_000, 1_000_000):
                stream.append("checkpoint", steps=steps, path=f"checkpoint_{steps:012d}")

    keys = ("tab", "left_square_bracket", "left_square_bracket")
    assert snap_compare(_prepare(project, told), terminal_size=SMALL, run_before=shown(*keys))


@pytest.mark.parametrize("light", [False, True], ids=["dark", "light"])
def test_what_ended_a_run(snap_compare: Compare, project: Project, light: bool) -> None:
    app = _prepare(project, bad_run)
    assert snap_compare(app, terminal_size=SMALL, run_before=shown("enter", light=light))


@pytest.mark.parametrize("light", [False, True], ids=["dark", "light"])
def test_run(snap_compare: Compare, project: Project, light: bool) -> None:
    app = _prepare(project, live_run)
    assert snap_compare(app, terminal_size=SMALL, run_before=shown(screen=run_screen(), light=light))


def test_failed_run_in_a_large_terminal(snap_compare: Compare, project: Project) -> None:
    app = _prepare(project, bad_run)
    assert snap_compare(app, terminal_size=LARGE, run_before=shown(screen=run_screen(short_id="2b60")))


def test_run_that_has_not_begun(snap_compare: Compare, project: Project) -> None:
    app = _prepare(project, lambda project: fakes.fake_run(project, "cart_pole", "63f1", state="queued"))
    assert snap_compare(app, terminal_size=SMALL, run_before=shown(screen=run_screen(short_id="63f1")))


@pytest.mark.parametrize("section", ["Terms", "Log", "Config", "Checkpoints", "Events"])
def test_sections_of_a_run(snap_compare: Compare, project: Project, section: str) -> None:
    app = _prepare(project, live_run)
    assert snap_compare(app, terminal_size=SMALL, run_before=shown(screen=run_screen(section)))


def test_killing_asks(snap_compare: Compare, project: Project) -> None:
    app = _prepare(project, live_run)
    assert snap_compare(app, terminal_size=SMALL, run_before=shown("K"))


def test_pictures_hold_nothing_of_this_machine() -> None:
    import socket

    host, here = socket.gethostname(), str(Path.cwd())
    for picture in Path(__file__).parent.glob("__snapshots__/test_run_snapshots/*.svg"):
        text = picture.read_text()
        assert here not in text and "/tmp/" not in text
        assert len(host) < 4 or host not in text
