"""The forms of recordings and montages: the command they show is the one they start."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench.project import Project
from workbench.runs import EventWriter, RunDirectory
from workbench.runs.recordings import EpisodeResult, Sidecar, write_sidecar
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.filming import FilmTask
from workbench.ui.screens.montage import MontageTask
from workbench.ui.screens.record import RecordTask
from workbench.ui.screens.report import ReportTask
from workbench.ui.widgets.chart import Chart
from workbench.ui.widgets.choice import Choice


async def fill(pilot: Pilot[None], task: FilmTask, **fields: str) -> None:
    for name, value in fields.items():
        widget: Any = task.query_one(f"#{name}")
        assert isinstance(widget, Input | Choice)
        widget.value = value
    await pilot.pause()


@pytest.mark.parametrize(
    ("task", "fields", "command"),
    [
        (RecordTask("7f3a:500000", "ant"), {}, "record 7f3a:500000"),
        (
            RecordTask("7f3a", "ant"),
            {"episodes": "3", "seed": "10 002", "acts": "stochastic", "size": "1280×720"},
            "record 7f3a --episodes 3 --seed 10002 --preset hd --stochastic",
        ),
        (RecordTask("ant", "ant", "ant"), {"agent": "zero"}, "record ant --agent zero"),
        (
            RecordTask("ant", "ant", "ant"),
            {"size": "480×360", "theme": "dark"},
            "record ant --preset draft --theme dark",
        ),
        (
            RecordTask("7f3a", "ant"),
            {"episodes": "5", "keep": "worst", "fps": "12.5", "camera": "track"},
            "record 7f3a --episodes 5 --keep worst --fps 12.5 --camera track",
        ),
        (
            RecordTask("7f3a", "ant"),
            {"still": "2.5S", "camera": "-90,-20,3"},
            "record 7f3a --still 2.5s --camera=-90,-20,3",
        ),
        (
            MontageTask(["7f3a"], "ant 7f3a", 18),
            {},
            "montage 7f3a --layout grid",
        ),
        (
            MontageTask(["7f3a", "b19e"], "2 runs"),
            {"layout": "film", "clips": "4", "schedule": "exponential", "columns": "3"},
            "montage 7f3a b19e --num-videos 4 --schedule exponential",
        ),
        (
            MontageTask(["7f3a"], "ant 7f3a", 3),
            {"layout": "poster", "columns": "2", "curve": "on", "seed": "10 002"},
            "montage 7f3a --layout poster --num-videos 3 --columns 2 --seed 10002 --curve",
        ),
        (
            MontageTask(["7f3a"], "ant 7f3a"),
            {"layout": "film", "labels": "top-left"},
            "montage 7f3a --text-location top-left",
        ),
    ],
)
async def test_the_command_says_what_was_filled_in(
    app: WorkbenchApp, settle: Settle, task: FilmTask, fields: dict[str, str], command: str
) -> None:
    answers: list[Any] = []
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(pilot)
        await app.push_screen(task, answers.append)
        await fill(pilot, task, **fields)
        assert f"workbench {command}" in seen.words(app)
        await pilot.press("ctrl+y")
        assert app.clipboard == f"workbench {command}"
        await pilot.press("ctrl+g")
        assert answers == [command.split()]


async def test_wrong_numbers_are_told_all_at_once_and_nothing_starts(app: WorkbenchApp, settle: Settle) -> None:
    answers: list[Any] = []
    task = RecordTask("7f3a", "ant 7f3a")
    async with app.run_test() as pilot:
        await settle(pilot)
        await app.push_screen(task, answers.append)
        await fill(pilot, task, episodes="0", seed="none")
        shown = seen.words(app)
        assert "Episodes must be a whole number from 1 to 1000, got 0." in shown
        assert "Seed must be a whole number" in shown and "got none" in shown
        await pilot.press("ctrl+g")
        assert app.screen is task
        await pilot.press("escape")
        assert answers == [None] and not app.launcher.jobs


async def test_a_choice_is_changed_by_keys_and_clicks(app: WorkbenchApp, settle: Settle) -> None:
    task = RecordTask("7f3a", "ant 7f3a")
    async with app.run_test() as pilot:
        await settle(pilot)
        await app.push_screen(task)
        task.query_one("#size").focus()
        await pilot.press("right")
        assert task.chosen("size") == "1280×720"
        await pilot.press("l", "h", "left")
        assert task.chosen("size") == "640×480"
        await pilot.click("#size", offset=(2, 0))
        assert task.chosen("size") == "480×360"


def filmed(project: Project, checkpoint: Path, *, seed: int, took_s: float) -> None:
    """A recording of a checkpoint as a montage wants it, that took so long to make."""
    project.recordings.mkdir(exist_ok=True)
    path = project.recordings / f"{checkpoint.name}.mp4"
    path.write_bytes(bytes(400_000))
    fields: dict[str, Any] = {
        "checkpoint": str(checkpoint), "seed": seed, "size": (480, 360), "theme": "light",
        "episodes": (EpisodeResult(1.0, 100),), "created": time.time() - took_s, "duration_s": 5.0,
    }  # fmt: skip
    write_sidecar(path, Sidecar(**fields))


def with_checkpoints(project: Project) -> RunDirectory:
    spec = {"env_id": "workbench/Ant-v0", "algorithm": "ppo", "seed": 1, "total_steps": 900, "eval_seed": 77}
    run = fakes.fake_run(project, "ant", "7f3a", state="finished", spec=spec)
    for steps in range(0, 1000, 100):
        folder = run.path / f"checkpoint_{steps:012d}"
        folder.mkdir()
        (folder / "policy.json").write_text("{}")
    return run


async def test_a_montage_shows_its_clips_and_what_is_missing(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = with_checkpoints(project)
    for steps in (0, 900):
        filmed(project, run.path / f"checkpoint_{steps:012d}", seed=77, took_s=20)
    task = MontageTask(["7f3a"], "ant 7f3a")
    async with app.run_test(size=(120, 34)) as pilot:
        await settle(pilot)
        await app.push_screen(task)
        await fill(pilot, task, clips="4")
        await settle(pilot)
        assert [tile.shown.steps for tile in task.board.tiles] == [0, 300, 600, 900]
        shown = seen.words(app)
        assert "2 clips exist, 2 to record, about 40s" in shown
        assert "4 clips of 10 checkpoints · 2×2, 998×" in shown and "seed 77" in shown
        task.query_one("#tiles").focus()
        await pilot.press("l", "right_square_bracket")
        await settle(pilot)
        assert "--num-videos 4 --checkpoint 2=400" in seen.words(app)
        assert [tile.shown.steps for tile in task.board.tiles] == [0, 400, 600, 900]
        assert "✎ ◇ 400" in seen.text(app)
        await pilot.press("h", "left_square_bracket")
        await pilot.pause()
        assert "There is no other checkpoint in that direction." in seen.notices(app)
        await pilot.press("ctrl+t")
        assert app.screen is task
        launcher = app.launcher
        assert isinstance(launcher, fakes.FakeLauncher)
        assert launcher.commands == ["workbench montage 7f3a --layout poster --num-videos 4 --checkpoint 2=400"]


async def test_a_montage_of_nothing_says_so(app: WorkbenchApp, settle: Settle) -> None:
    task = MontageTask(["gone"], "gone")
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await app.push_screen(task)
        await settle(pilot)
        assert "no run `gone`" in task.board.problem and "no run `gone`" in seen.words(app)


async def test_a_form_that_was_closed_is_as_it_was_left(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        first = MontageTask(["7f3a"], "ant 7f3a")
        await app.push_screen(first)
        await fill(pilot, first, clips="9", layout="film")
        await pilot.press("escape")
        again = MontageTask(["7f3a"], "ant 7f3a")
        await app.push_screen(again)
        await pilot.pause()
        assert "montage 7f3a --num-videos 9" in seen.words(app)
        await pilot.press("ctrl+g")
        third = MontageTask(["7f3a"], "ant 7f3a")
        await app.push_screen(third)
        await pilot.pause()
        assert "montage 7f3a --layout grid" in seen.words(app)


async def test_a_report_names_its_runs_and_says_which_still_run(project: Project, settle: Settle) -> None:
    one = fakes.fake_run(project, "ant", "7f3a", state="finished", returns=[1.0], seed=1, group="g1")
    two = fakes.fake_run(project, "ant", "b19e", returns=[2.0], seed=2, group="g1")
    app = fakes.make_app(project)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        app.report([one.path, two.path, project.root / "gone"])
        await pilot.pause()
        task = app.screen
        assert isinstance(task, ReportTask)
        # Two seeds ended at 1 and 2: neither stands for both.
        assert "ant PPO ×2                         2       1.5" in seen.line_with(app, "ant PPO")
        assert "! ant b19e at 10 % still runs: the report says so." in seen.words(app)
        await fill(pilot, task, format="Markdown", title="Week 48", montage="film it", group="whole groups")
        await pilot.press("ctrl+g")
        launcher = app.launcher
        assert isinstance(launcher, fakes.FakeLauncher)
        assert launcher.commands == ["workbench report 7f3a b19e --format md --title 'Week 48' --group --montage"]


async def test_another_format_gets_a_name_that_nobody_has(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    project.recordings.mkdir()
    (project.recordings / "7f3a_500.gif").write_bytes(b"")
    task = RecordTask("7f3a:500", "ant")
    async with app.run_test(size=(120, 30)) as pilot:
        await settle(pilot)
        await app.push_screen(task)
        await fill(pilot, task, format="GIF")
        assert task.words()[-2:] == ["--output", str(project.recordings / "7f3a_500-2.gif")]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"keep": "best"}, "Keep best chooses from several episodes: give 2 or more."),
        ({"still": "soon"}, "Still takes a time such as 2.5s or a step such as 120, got soon."),
        ({"still": "12", "episodes": "3"}, "Still shows one episode: keep the worst or the best of several."),
        ({"fps": "0"}, "Frames/s must be a number from 1 to 240, got 0."),
        ({"fps": "many"}, "Frames/s must be a number from 1 to 240, got many."),
    ],
)
async def test_what_a_recording_cannot_be_is_told_before_it_starts(
    app: WorkbenchApp, settle: Settle, fields: dict[str, str], sentence: str
) -> None:
    task = RecordTask("7f3a", "ant 7f3a")
    async with app.run_test() as pilot:
        await settle(pilot)
        await app.push_screen(task)
        await fill(pilot, task, **fields)
        assert sentence in seen.words(app)
        await pilot.press("ctrl+g")
        assert app.screen is task


async def test_states_are_kept_in_a_file_of_their_own(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    task = RecordTask("7f3a:500", "ant")
    async with app.run_test() as pilot:
        await settle(pilot)
        await app.push_screen(task)
        await fill(pilot, task, states="on")
        assert task.words() == ["record", "7f3a:500", "--states", str(project.recordings / "7f3a_500.npz")]


async def test_a_montage_is_written_in_the_format_that_was_chosen(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    task = MontageTask(["7f3a", "b19e"], "2 runs")
    async with app.run_test(size=(120, 34)) as pilot:
        await settle(pilot)
        await app.push_screen(task)
        await fill(pilot, task, format="GIF")
        assert task.words()[-2:] == ["--output", str(project.recordings / "7f3a_b19e_grid.gif")]
        await fill(pilot, task, layout="poster")
        await pilot.pause()
        # A poster is no film: its usual format needs no name.
        assert task.chosen("format") == "PNG" and "--output" not in task.words()
        await fill(pilot, task, format="PDF")
        assert task.words()[-1].endswith("7f3a_b19e_poster.pdf")
        await pilot.press("ctrl+t")
        launcher = app.launcher
        assert isinstance(launcher, fakes.FakeLauncher) and launcher.commands[0].endswith("7f3a_b19e_poster.pdf")
        await fill(pilot, task, layout="film")
        await pilot.pause()
        assert task.chosen("format") == "MP4"


async def test_swapped_clips_are_in_the_draft(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    with_checkpoints(project)
    async with app.run_test(size=(120, 34)) as pilot:
        await settle(pilot)
        task = MontageTask(["7f3a"], "ant 7f3a")
        await app.push_screen(task)
        await fill(pilot, task, clips="4")
        await settle(pilot)
        task.query_one("#tiles").focus()
        await pilot.press("l", "right_square_bracket")
        await settle(pilot)
        await pilot.press("escape")
        again = MontageTask(["7f3a"], "ant 7f3a")
        await app.push_screen(again)
        await settle(pilot)
        assert again.words() == ["montage", "7f3a", "--layout", "grid", "--num-videos", "4", "--checkpoint", "2=400"]
        assert [tile.shown.steps for tile in again.board.tiles] == [0, 400, 600, 900]


async def test_several_runs_stand_below_each_other_as_they_will(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    with_checkpoints(project)
    other = fakes.fake_run(project, "ant", "b19e", state="finished", seed=2)
    for steps in (0, 500, 900):
        (other.path / f"checkpoint_{steps:012d}").mkdir()
    task = MontageTask(["7f3a", "b19e"], "2 runs")
    async with app.run_test(size=(120, 34)) as pilot:
        await settle(pilot)
        await app.push_screen(task)
        await fill(pilot, task, clips="3")
        await settle(pilot)
        # Three checkpoints across, a row a run.
        assert (task.board.columns, task.board.rows) == (3, 2)
        await fill(pilot, task, columns="2")
        await settle(pilot)
        assert (task.board.columns, task.board.rows) == (2, 3)
        film = task.board.size
        await fill(pilot, task, layout="poster")
        await settle(pilot)
        # Pictures may be larger than films; these are small enough for either.
        assert task.board.size == film and task.board.length_s is None


async def test_how_long_a_montage_plays_and_how_large_it_is_comes_from_what_was_made_here(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = with_checkpoints(project)
    for steps in (0, 900):
        filmed(project, run.path / f"checkpoint_{steps:012d}", seed=77, took_s=20)
    for film in project.recordings.glob("*.mp4"):
        film.write_bytes(bytes(864_000))
    task = MontageTask(["7f3a"], "ant 7f3a")
    async with app.run_test(size=(120, 34)) as pilot:
        await settle(pilot)
        await app.push_screen(task)
        await fill(pilot, task, clips="4")
        await settle(pilot)
        # The longest clip, 5 s, between a second of rest at each end; a byte a pixel and second as its clips have.
        assert task.board.length_s == 7.0
        assert task.board.size_bytes == pytest.approx(task.board.size[0] * task.board.size[1] * 7.0)
        assert "7s · about" in seen.words(app)
        await fill(pilot, task, layout="film")
        await settle(pilot)
        assert task.board.length_s == 4 * 7.0 - 3 * 0.5
        await fill(pilot, task, format="WebP")
        await settle(pilot)
        assert task.board.size_bytes is None


async def test_the_curve_under_a_montage_is_shown_with_its_clips(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    run = with_checkpoints(project)
    with EventWriter(run.events_path) as stream:
        for steps in range(0, 1000, 100):
            stream.append("evaluation", steps=steps, mean_return=2.0 * steps, std_return=0.0, returns=[1.0])
    task = MontageTask(["7f3a"], "ant 7f3a")
    async with app.run_test(size=(170, 48)) as pilot:
        await settle(pilot)
        await app.push_screen(task)
        await fill(pilot, task, clips="3", curve="on")
        await settle(pilot)
        strip = task.query_one("#strip", Chart)
        assert strip.display and [point.value for point in strip.data.points] == [0.0, 800.0, 1800.0]
        assert "--curve" in task.words()
