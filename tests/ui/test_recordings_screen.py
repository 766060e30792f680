"""The list of recordings: files, jobs that make them, and their commands."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot

from tests.ui import fakes, seen
from tests.ui.conftest import Settle
from workbench.project import Project
from workbench.runs import ProcessIdentity
from workbench.runs.recordings import EpisodeResult, Job, Sidecar, write_sidecar
from workbench.ui.app import WorkbenchApp
from workbench.ui.screens.error import ErrorCard
from workbench.ui.screens.montage import MontageTask
from workbench.ui.screens.recordings import EMPTY, RecordingsScreen
from workbench.ui.screens.report import ReportTask
from workbench.ui.widgets.preview import Preview


def film(project: Project, name: str, *, age_s: float = 60, size: int = 1_900_000, **fields: Any) -> None:
    project.recordings.mkdir(exist_ok=True)
    path = project.recordings / name
    job: Job | None = fields.get("job")
    if job is None or job.state == "done":
        path.write_bytes(b"x" * size)
    known = {
        "command": ("workbench", "record", "7f3a:8519680", "--seed", "10002"),
        "checkpoint": str(project.runs / "PPO" / "ant_20261128-102626_7f3a" / "checkpoint_000008519680"),
        "environment": "workbench/Ant-v0",
        "seed": 10_002,
        "episodes": (EpisodeResult(1702.0, 1000, "time_limit"),),
        "size": (640, 480),
        "fps": 20.0,
        "duration_s": 20.6,
        "created": fakes.NOW - age_s,
    }
    write_sidecar(path, Sidecar(**{**known, **fields}))


async def opened(pilot: Pilot[None], settle: Settle) -> RecordingsScreen:
    await settle(pilot)
    await pilot.press("4")
    await settle(pilot)
    screen = pilot.app.screen
    assert isinstance(screen, RecordingsScreen)
    return screen


async def test_without_films_it_says_what_to_press(app: WorkbenchApp, settle: Settle) -> None:
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        assert EMPTY in seen.words(app)


async def test_a_film_is_listed_with_how_it_was_made(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    film(project, "ant_7f3a_8519680.mp4")
    film(project, "grid.mp4", age_s=7200, kind="montage", duration_s=75.0)
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        row = seen.line_with(app, "✓ ant_7f3a_8519680.mp4")
        assert "recording" in row and "20.6 s" in row and "1.9 MB" in row and "1m" in row
        assert "1m 15s" in seen.line_with(app, "grid.mp4") and "2h" in seen.line_with(app, "grid.mp4")
        shown = seen.words(app)
        assert "workbench record 7f3a:8519680 --seed 10002" in shown
        assert "seed 10002 · return 1 702 · 640×480 · 20 fps" in shown


async def test_a_job_shows_how_far_it_is_and_can_be_cancelled(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    running = Job.here(message="frame 61 of 100")
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        app.start_film(["record", "7f3a"], "recording of ant 7f3a")
        await settle(pilot)
        assert "recording of ant 7f3a" in seen.text(app) and "starting" in seen.text(app)
        film(project, "new.mp4", command=("workbench", "record", "7f3a"), job=running)
        screen._read()
        await settle(pilot)
        assert "◒ new.mp4" in seen.text(app) and "frame 61 of 100" in seen.text(app)
        await pilot.press("S")
        await settle(pilot)
        assert app.launcher.jobs[0].state == "stopped"


async def test_a_job_whose_process_is_gone_failed_and_says_why(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    film(project, "gone.mp4", job=Job(2**22 + 1, 1.0, ProcessIdentity.current().host))
    film(project, "bad.mp4", age_s=90, job=Job(1, 1.0, "", state="failed", message="no EGL device was found"))
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        assert "✗ gone.mp4" in seen.text(app)
        await pilot.press("j", "enter")
        assert isinstance(app.screen, ErrorCard)
        assert "no EGL device was found" in seen.text(app)


async def test_enter_plays_y_copies_and_m_asks_for_a_montage(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: Any
) -> None:
    played: list[str] = []
    monkeypatch.setattr(WorkbenchApp, "open_outside", lambda _, path: played.append(path.name))
    film(project, "ant.mp4")
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("enter", "O", "Y")
        assert played == ["ant.mp4", "ant.mp4"]
        assert app.clipboard == "workbench record 7f3a:8519680 --seed 10002"
        await pilot.press("m")
        assert isinstance(app.screen, MontageTask)
        await pilot.press("escape")


async def test_sorting_and_filtering(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    film(project, "b.mp4", age_s=10, size=100)
    film(project, "a.mp4", age_s=20, size=300)
    film(project, "c.mp4", age_s=30, size=200, environment="workbench/CartPole-v0")
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)

        def names() -> list[str]:
            return [item.path.stem for item in screen._shown]

        assert names() == ["b", "a", "c"]
        await pilot.press("greater_than_sign")
        assert names() == ["a", "b", "c"]
        await pilot.press("less_than_sign", "less_than_sign")
        assert names() == ["a", "c", "b"]
        await pilot.press("exclamation_mark")
        assert names() == ["b", "c", "a"]
        await pilot.press("slash", *"cartpole", "enter")
        assert names() == ["c"]
        await pilot.press("escape")
        assert len(names()) == 3


async def test_films_of_other_origin_and_damaged_sidecars_are_listed(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    film(project, "ours.mp4")
    (project.recordings / "theirs.mp4").write_bytes(b"x")
    (project.recordings / "torn.mp4").write_bytes(b"x")
    (project.recordings / "torn.mp4.json").write_text('{"kind": ')
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        assert {item.path.name for item in screen._shown} == {"ours.mp4", "theirs.mp4", "torn.mp4"}
        screen.table.move_to("theirs.mp4")
        await pilot.pause()
        assert "Nothing is written of how it was made." in seen.text(app)
        await pilot.press("Y", "m", "S")
        assert app.screen is screen


async def test_a_film_goes_to_the_trash_and_comes_back(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    film(project, "ant.mp4")
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        await pilot.press("D")
        await pilot.pause()
        assert "Delete ant.mp4?" in seen.text(app)
        await pilot.press("enter")
        await settle(pilot)
        assert (project.recordings / "ant.mp4").exists()
        await pilot.press("D")
        await pilot.pause()
        await pilot.press("D")
        await settle(pilot)
        assert not (project.recordings / "ant.mp4").exists() and EMPTY in seen.words(app)
        screen.action_run_undelete()
        await settle(pilot)
        assert "✓ ant.mp4" in seen.text(app)


async def test_a_job_of_another_app_is_cancelled_by_its_sidecar(
    project: Project, app: WorkbenchApp, settle: Settle, monkeypatch: Any
) -> None:
    cancelled: list[Job] = []
    monkeypatch.setattr("workbench.ui.screens.recordings.cancel_job", cancelled.append)
    job = Job.here()
    film(project, "theirs.mp4", job=job)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        await pilot.press("S")
        assert cancelled == [job]
        await pilot.pause()
        assert "theirs.mp4 is cancelled." in seen.notices(app)
        await pilot.press("D")
        await pilot.pause()
        assert app.screen is screen


async def test_a_failed_job_is_started_again_by_its_command(
    project: Project, app: WorkbenchApp, settle: Settle
) -> None:
    film(project, "bad.mp4", job=Job(1, 1.0, "", state="failed", message="no EGL device was found"))
    film(project, "good.mp4", age_s=90)
    launcher = app.launcher
    assert isinstance(launcher, fakes.FakeLauncher)
    async with app.run_test() as pilot:
        screen = await opened(pilot, settle)
        await pilot.press("A")
        await settle(pilot)
        screen.table.move_to("good.mp4")
        await pilot.press("A")
        assert launcher.commands == ["workbench record 7f3a:8519680 --seed 10002"]


async def test_a_wide_terminal_shows_a_picture_of_the_film(project: Project, app: WorkbenchApp, settle: Settle) -> None:
    from PIL import Image

    project.recordings.mkdir()
    Image.new("RGB", (40, 30), (200, 40, 40)).save(project.recordings / "poster.png")
    async with app.run_test(size=(160, 48)) as pilot:
        screen = await opened(pilot, settle)
        await settle(pilot)
        still = screen.query_one("#still", Preview)
        assert still.display and still.drawn >= 1
        assert seen.text(app).count("▀") > 200
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert not still.display


async def test_r_asks_for_a_report_on_the_runs_of_a_film(project: Project, settle: Settle) -> None:
    run = fakes.fake_run(project, "ant", "7f3a", state="finished")
    film(project, "grid.mp4", kind="montage", runs=(str(run.path),))
    app = fakes.make_app(project)
    async with app.run_test() as pilot:
        await opened(pilot, settle)
        await pilot.press("r")
        await pilot.pause()
        assert isinstance(app.screen, ReportTask)
        assert "workbench report 7f3a" in seen.words(app)
