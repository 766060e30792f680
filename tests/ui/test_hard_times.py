"""A full disk, a clock that is set, terminals of few colours: the app says what is so and goes on."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench import durable
from workbench.project import Project
from workbench.runs import EventWriter, RunState, StoredState
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.quit import QuitCard
from workbench.ui.screens.runs import RunsScreen

RISING = [float(value) for value in range(0, 3000, 150)]
HOUR_S = 3600.0


async def on_runs(pilot: Pilot[None], settle: Settle) -> RunsScreen:
    await settle(pilot)
    await pilot.press("2")
    await settle(pilot)
    assert isinstance(pilot.app.screen, RunsScreen)
    return pilot.app.screen


# A full disk.


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing can be written any more, once a test asks for it."""

    def fail(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(durable, "write_bytes", fail)
    monkeypatch.setattr(EventWriter, "_write", lambda writer, line: fail(writer.path))
    yield


@pytest.mark.parametrize("key", ["asterisk", "T", "P", "S", "W"])
async def test_on_a_full_disk_every_act_says_so(
    project: Project, settle: Settle, key: str, request: pytest.FixtureRequest
) -> None:
    run = fakes.fake_run(project, "ant", "7f3a", returns=RISING)
    durable.write_json(run.path / "checkpoint_000000100000" / "policy.json", {"steps": 100_000})
    app = fakes.make_app(project)
    async with app.run_test(size=(100, 30)) as pilot:
        await on_runs(pilot, settle)
        request.getfixturevalue("full_disk")
        await pilot.press(key)
        await settle(pilot)
        if key == "T":
            app.screen.query_one("#tags", Input).value = "mine"
            await pilot.press("ctrl+g")
            await settle(pilot)
        said = seen.text(app) + seen.notices(app)
        assert "No space left on device" in said and "Something went wrong" not in said
        await pilot.press("escape", "escape")
        assert app.is_running and "7f3a" in seen.text(app)


async def test_on_a_full_disk_the_app_is_left_at_once_and_starts_anew(
    project: Project, settle: Settle, full_disk: None
) -> None:
    for _ in range(2):
        app = fakes.make_app(project)
        async with app.run_test(size=(100, 30)) as pilot:
            await on_runs(pilot, settle)
            await pilot.press("1", "4", "2", "ctrl+q")
            while app.is_running:
                await pilot.pause()
        assert app.return_code == 0


# A clock that is set.


class Clock:
    def __init__(self) -> None:
        self.now = fakes.NOW

    def __call__(self) -> float:
        return self.now


async def test_a_clock_set_forth_and_back_an_hour_leaves_live_runs_live(project: Project, settle: Settle) -> None:
    clock = Clock()
    run = fakes.fake_run(project, "ant", "7f3a", returns=RISING, started=fakes.NOW - 600)
    fakes.fake_run(project, "ant", "63f1", state="finished", reason="steps", returns=RISING)
    app = fakes.make_app(project, clock=clock)
    async with app.run_test(size=(160, 40)) as pilot:
        await on_runs(pilot, settle)
        for shift, age in ((HOUR_S, "1h"), (0.0, "10m"), (-HOUR_S, "0s"), (0.0, "10m")):
            clock.now = fakes.NOW + shift
            with EventWriter(run.events_path) as stream:
                stream.append("metrics", steps=10**6, wall_s=700.0, values={"rollout/ep_rew_mean": 3000.0})
            await settle(pilot)
            row = app.runs.snapshot.row(run.path)
            assert row is not None and row.state is RunState.RUNNING and row.trend[-1] == 3000.0
            line = seen.line_with(app, "7f3a")
            assert "running" in line and age in line.split(), line
            assert "finished" in seen.line_with(app, "63f1")


async def test_a_run_of_another_host_is_back_once_the_clock_is_right_again(project: Project, settle: Settle) -> None:
    clock = Clock()
    run = fakes.fake_run(project, "ant", "7f3a", returns=RISING)

    def beat(moment: float) -> None:
        far = StoredState(RunState.RUNNING, "", 1, 1.0, "far-away", heartbeat=moment, updated=fakes.NOW)
        durable.write_json(run.state_path, far.to_json())

    beat(fakes.NOW)
    app = fakes.make_app(project, clock=clock)
    async with app.run_test(size=(160, 40)) as pilot:
        await on_runs(pilot, settle)
        assert app.runs.snapshot.live == 1
        clock.now = fakes.NOW + HOUR_S
        await settle(pilot)
        assert app.runs.snapshot.live == 0
        clock.now = fakes.NOW + 10
        beat(fakes.NOW + 10)
        await settle(pilot)
        assert app.runs.snapshot.live == 1


# Few colours, or none.


@pytest.mark.parametrize(
    ("surroundings", "colours"),
    [
        ({"TERM": "linux"}, "standard"),
        ({"TERM": "xterm-16color"}, "standard"),
        ({"TERM": "xterm-256color"}, "256"),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"}, None),
    ],
    ids=["linux", "16", "256", "none"],
)
async def test_bands_are_dotted_where_a_tint_cannot_be_shown(
    project: Project,
    settle: Settle,
    monkeypatch: pytest.MonkeyPatch,
    surroundings: dict[str, str],
    colours: str | None,
) -> None:
    monkeypatch.delenv("COLORTERM")
    for name, value in surroundings.items():
        monkeypatch.setenv(name, value)
    for seed in (1, 2, 3):
        fakes.fake_run(project, "ant", f"000{seed}", seed=seed, group="g", returns=[value * seed for value in RISING])
    app = fakes.make_app(project)
    async with app.run_test(size=(120, 36)) as pilot:
        screen = await on_runs(pilot, settle)
        await settle(pilot)
        assert not screen.chart._has_tints
        assert "·" in "".join(seen.lines(app)[18:30])
        assert "▌" in seen.line_with(app, "ant ×3")
        shades = {
            segment.style.color.triplet
            for strip in screen._compositor.render_strips()
            for segment in strip
            if segment.style is not None and segment.style.color is not None and segment.style.color.triplet
        }
        is_grey = all(max(shade) - min(shade) <= 2 for shade in shades)
        assert is_grey == (colours is None)


# Leaving.


async def test_with_live_runs_quitting_asks_and_then_takes_less_than_a_second(project: Project, settle: Settle) -> None:
    for number in range(16):
        fakes.fake_run(project, "ant", f"{number:04x}", returns=RISING, seed=number)
    app = fakes.make_app(project)
    async with app.run_test(size=(120, 36)) as pilot:
        await on_runs(pilot, settle)
        await pilot.press("ctrl+q")
        assert isinstance(app.screen, QuitCard)
        began = time.process_time()
        await pilot.press("enter")
        while app.is_running:
            await pilot.pause()
        assert time.process_time() - began < 1.0


async def test_a_form_that_was_filled_in_and_not_sent_is_a_reason_to_ask(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("1", "n")
        await settle(pilot)
        await pilot.press("ctrl+f", *"total_steps", "enter")
        await pilot.press(*"5000")
        await settle(pilot)
        await pilot.press("ctrl+q")
        await settle(pilot)
        assert isinstance(app.screen, QuitCard)
        assert "1 form of a new run is filled in and not launched" in seen.words(app)
        await pilot.press("enter")
        await settle(pilot)
        assert app.is_running and not isinstance(app.screen, QuitCard)
        await pilot.press("escape", "ctrl+q")
        await settle(pilot)
        assert isinstance(app.screen, QuitCard)
