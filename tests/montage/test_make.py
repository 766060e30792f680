from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from PIL import Image

from tests.montage.fakes import (
    ROOT,
    SIZE,
    fake_recorder,
    film_checkpoint,
    make_clip,
    make_run,
    scripted_recorder,
    shown_of,
)
from workbench.errors import NotFoundError, RequestError, WorkFailedError
from workbench.montage import MontageRequest, make_montage
from workbench.montage.clips import film_clips
from workbench.montage.ffmpeg import probe
from workbench.montage.ffmpeg import run as run_ffmpeg
from workbench.montage.timing import Pace
from workbench.project import Project
from workbench.runs import RunDirectory
from workbench.runs.recordings import Job, Sidecar, list_recordings, read_sidecar, write_sidecar
from workbench.storyboard.arrangement import Take
from workbench.storyboard.finding import Wanted
from workbench.storyboard.selection import Choice

QUICK = Pace(head_s=0.2, tail_s=0.2, transition_s=0.2)


@pytest.fixture
def directory(project: Project) -> RunDirectory:
    return make_run(project.runs, [0, 1000, 2000])


def request(directory: RunDirectory, **more: object) -> MontageRequest:
    fields = {"runs": (directory,), "pace": QUICK, "size": SIZE, "choice": Choice(wanted=2), **more}
    return MontageRequest(**fields)  # type: ignore[arg-type]


def leftovers(project: Project) -> list[str]:
    return [path.name for path in project.recordings.rglob("*") if "part" in path.name]


def test_missing_clips_are_filmed_once_and_used_again(project: Project, directory: RunDirectory) -> None:
    told: list[tuple[float, str]] = []
    montage = make_montage(
        request(directory, command=("workbench", "montage", "7f3a")),
        project,
        record=fake_recorder(),
        on_progress=lambda share, message: told.append((share, message)),
    )
    assert montage.path == project.recordings / "ant_7f3a_film.mp4"
    assert probe(montage.path).frames == 2 * (2 + 10 + 2) - 2
    assert [clip.made for clip in montage.clips] == [True, True]
    shares = [share for share, _ in told]
    assert shares == sorted(shares) and shares[-1] == pytest.approx(1.0)
    assert told[0][1] == "filming clip 1 of 2: step 0"
    assert told[-1][1] == "encoding ant_7f3a_film.mp4"
    assert leftovers(project) == []

    sidecar = read_sidecar(montage.path)
    assert sidecar is not None and sidecar.job is not None
    assert (sidecar.kind, sidecar.job.state, sidecar.job.progress) == ("montage", "done", 1.0)
    assert sidecar.command == ("workbench", "montage", "7f3a")
    assert sidecar.runs == (str(directory.path),)
    assert [Path(path).name for path in sidecar.checkpoints] == ["checkpoint_000000000000", "checkpoint_000000002000"]
    assert [(item.return_, item.seed) for item in sidecar.episodes] == [(12.5, 77), (12.5, 77)]
    assert (sidecar.size, sidecar.fps, sidecar.frames, sidecar.duration_s) == (SIZE, 10.0, 26, 2.6)

    again = make_montage(request(directory, layout="grid"), project, record=scripted_recorder("raise SystemExit(1)"))
    assert [clip.made for clip in again.clips] == [False, False]
    assert again.path.name == "ant_7f3a_grid.mp4"
    assert {item.kind for item in list_recordings(project.recordings)} == {"montage"}


def test_every_seed_is_a_column(project: Project, directory: RunDirectory) -> None:
    montage = make_montage(request(directory, layout="grid", seeds=(3, 4, 5)), project, record=fake_recorder())
    assert [(clip.shown.steps, clip.sidecar and clip.sidecar.seed) for clip in montage.clips] == [
        (steps, seed) for steps in (0, 2000) for seed in (3, 4, 5)
    ]
    width, height = montage.sidecar.size or (0, 0)
    assert 3 * SIZE[0] < width < 4 * SIZE[0] and 2 * SIZE[1] < height < 3 * SIZE[1]
    assert montage.sidecar.seed is None
    assert [Path(path).name for path in montage.sidecar.checkpoints] == [
        "checkpoint_000000000000",
        "checkpoint_000000002000",
    ]


def test_a_checkpoint_that_is_shown_twice_is_filmed_once(project: Project, directory: RunDirectory) -> None:
    choice = Choice(wanted=2, swaps=((1, "2000"),))
    montage = make_montage(request(directory, layout="poster", choice=choice), project, record=fake_recorder())
    assert len({clip.film for clip in montage.clips}) == 1 and len(montage.clips) == 2


def test_pinned_checkpoints_are_shown_even_when_only_their_clips_are_left(
    project: Project, directory: RunDirectory
) -> None:
    first, *_, last = (item.path for item in directory.checkpoints())
    make_montage(request(directory), project, record=fake_recorder())
    shutil.rmtree(first)
    (directory.path / "checkpoint_000000003000").mkdir()
    montage = make_montage(request(directory, pinned=(first, last), layout="grid"), project)
    assert [clip.shown.path for clip in montage.clips] == [first, last]
    with pytest.raises(NotFoundError, match=r"checkpoint_000000000000 is gone, and no recording shows"):
        make_montage(request(directory, pinned=(first, last), seeds=(5,)), project)


def test_the_film_that_was_named_goes_first(project: Project, directory: RunDirectory) -> None:
    for checkpoint in directory.checkpoints():
        make_clip(checkpoint.path / "video_001.mp4", seconds=0.5)
    montage = make_montage(request(directory, own_film="video_001.mp4"), project)
    assert {clip.film.name for clip in montage.clips} == {"video_001.mp4"}


@pytest.mark.parametrize(("layout", "suffix"), [("film", ".gif"), ("film", ".webp"), ("grid", ".gif")])
def test_films_are_written_in_the_format_of_their_name(
    project: Project, directory: RunDirectory, layout: str, suffix: str
) -> None:
    output = project.root / f"film{suffix}"
    wanted = request(directory, layout=layout, output=output)
    montage = make_montage(wanted, project, record=fake_recorder(seconds=0.5))
    with Image.open(output) as image:
        frames = getattr(image, "n_frames", 1)
        assert image.size == montage.sidecar.size
        durations = 0.0
        for frame in range(frames):
            image.seek(frame)
            image.load()
            durations += float(image.info["duration"])
    # Frames that do not differ are put together, so what counts is how long they show.
    expected = {"film": 2 * (2 + 5 + 2) - 2, "grid": 2 + 5 + 2}[layout]
    assert montage.sidecar.frames == expected
    assert durations == pytest.approx(100 * expected, abs=100)
    assert leftovers(project) == []


def test_a_poster_is_a_page_too(project: Project, directory: RunDirectory) -> None:
    wanted = request(directory, layout="poster", output=project.root / "poster.pdf", title="Ant learns")
    make_montage(wanted, project, record=fake_recorder(seconds=0.5))
    page = (project.root / "poster.pdf").read_bytes()
    assert page.startswith(b"%PDF-") and page.rstrip().endswith(b"%%EOF")
    assert len(re.findall(rb"/Type /Page\b", page)) == 1
    assert "Ant learns".encode("utf-16-be") in page


def test_a_second_montage_gets_another_name(project: Project, directory: RunDirectory) -> None:
    first, second = (
        make_montage(request(directory, layout="poster"), project, record=fake_recorder()).path.name for _ in range(2)
    )
    assert (first, second) == ("ant_7f3a_poster.png", "ant_7f3a_poster-2.png")


def test_a_recording_made_alike_is_taken(project: Project, directory: RunDirectory) -> None:
    first, last = directory.checkpoints()[0], directory.checkpoints()[-1]
    film_checkpoint(str(first.path), project.recordings / "mine.mp4", Wanted(77, SIZE), seconds=0.5, fps=10)
    film_checkpoint(str(last.path), project.recordings / "other seed.mp4", Wanted(5, SIZE), seconds=0.5, fps=10)
    montage = make_montage(request(directory), project, record=fake_recorder())
    assert [(clip.film.name, clip.made) for clip in montage.clips] == [
        ("mine.mp4", False),
        ("000000002000_seed77_160x120_light.mp4", True),
    ]


def test_films_that_training_left_are_taken_when_nothing_else_is_asked_for(
    project: Project, directory: RunDirectory
) -> None:
    for checkpoint in directory.checkpoints():
        make_clip(checkpoint.path / "video_000.mp4", seconds=0.5)
    never = scripted_recorder("raise SystemExit(1)")
    montage = make_montage(MontageRequest(runs=(directory,), pace=QUICK), project, record=never)
    assert {clip.film.name for clip in montage.clips} == {"video_000.mp4"}
    filmed = make_montage(MontageRequest(runs=(directory,), pace=QUICK, seeds=(3,)), project, record=fake_recorder())
    assert all(clip.made for clip in filmed.clips)


def test_a_film_that_training_left_broken_is_filmed_again(project: Project, directory: RunDirectory) -> None:
    for checkpoint in directory.checkpoints():
        (checkpoint.path / "video_000.mp4").write_bytes(b"torn")
    request = MontageRequest(runs=(directory,), layout="poster", choice=Choice(wanted=1))
    montage = make_montage(request, project, record=fake_recorder(seconds=0.5))
    assert [clip.made for clip in montage.clips] == [True]


@pytest.mark.parametrize("layout", ["film", "grid"])
def test_odd_sides_lose_a_pixel(project: Project, directory: RunDirectory, layout: str) -> None:
    for checkpoint in directory.checkpoints():
        source = ["-f", "lavfi", "-i", "color=c=red:size=161x121:rate=10:duration=0.5", "-pix_fmt", "yuv444p"]
        run_ffmpeg([*source, str(checkpoint.path / "video_000.mp4")], doing="making a clip")
    request = MontageRequest(runs=(directory,), layout=layout, choice=Choice(wanted=2), pace=QUICK)  # type: ignore[arg-type]
    width, height = make_montage(request, project).sidecar.size or (1, 1)
    assert (width % 2, height % 2) == (0, 0)


def test_a_place_that_cannot_be_written_is_told(project: Project, directory: RunDirectory) -> None:
    (project.root / "file").write_text("no folder")
    output = project.root / "file" / "film.mp4"
    with pytest.raises(WorkFailedError, match="the montage cannot be written"):
        make_montage(request(directory, output=output), project, record=fake_recorder())


def test_without_filming_a_missing_film_is_named(project: Project, directory: RunDirectory) -> None:
    make_clip(directory.checkpoints()[0].path / "video_000.mp4", seconds=0.5)
    with pytest.raises(NotFoundError, match=r"checkpoint_000000002000/video_000.mp4 is missing.* at 2 000 steps"):
        make_montage(request(directory, generate_missing=False), project)
    assert not project.recordings.exists()


def test_unequal_sizes_are_refused_before_a_name_is_taken(project: Project, directory: RunDirectory) -> None:
    for checkpoint, size in zip(directory.checkpoints(), ((160, 120), (160, 120), (200, 120)), strict=True):
        make_clip(checkpoint.path / "video_000.mp4", seconds=0.5, size=size)
    with pytest.raises(RequestError, match=r"differ in size: .*160x120, .*200x120"):
        make_montage(request(directory, generate_missing=False), project)
    assert not project.recordings.exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"episodes": 0}, "--episodes"),
        ({"columns": 0}, "--columns"),
        ({"moment": 1.5}, "--moment"),
        ({"output": Path("a.avi")}, r"written as .mp4 or .webp or .gif"),
        ({"layout": "poster", "output": Path("a.mp4")}, r"written as .png or .pdf"),
        ({"output": Path("a.gif"), "pace": Pace(fps=60)}, r"at most 50"),
        ({"by": "seed", "columns": 2}, "--columns 2 says how many"),
        ({"pace": Pace(tail_s=0.1)}, "longer than --tail-seconds"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_work(
    project: Project, directory: RunDirectory, more: dict[str, object], said: str
) -> None:
    with pytest.raises(RequestError, match=said):
        make_montage(request(directory, **more), project, record=scripted_recorder("raise SystemExit(1)"))
    assert not project.recordings.exists()


def test_one_clip_fades_into_nothing(project: Project, directory: RunDirectory) -> None:
    pace = Pace(head_s=0, tail_s=0, transition_s=0.5)
    montage = make_montage(
        request(directory, pace=pace, choice=Choice(wanted=1)), project, record=fake_recorder(seconds=0.5)
    )
    assert montage.sidecar.frames == 5


def test_a_recorder_that_fails_is_quoted_and_shows_as_failed(project: Project, directory: RunDirectory) -> None:
    broken = scripted_recorder(
        "open(FILM, 'w').write('half'); raise SystemExit('workbench: no EGL device here.\\nInstall libegl1.')"
    )
    with pytest.raises(WorkFailedError, match=r"could not be filmed: no EGL device here\. / Install libegl1\."):
        make_montage(request(directory), project, record=broken)
    (listed,) = list_recordings(project.recordings)
    assert listed.state == "failed"
    assert "no EGL device" in listed.message
    assert [path for path in project.recordings.rglob("*.mp4*") if path.is_file()] == [
        project.recordings / "ant_7f3a_film.mp4.json"
    ]


def test_several_runs_get_a_row_each(project: Project, directory: RunDirectory) -> None:
    other = make_run(project.runs, [0, 500], name="ant_20260101-130000_b19e")
    montage = make_montage(
        request(directory, runs=(directory, other), layout="grid"), project, record=fake_recorder(seconds=0.5)
    )
    assert montage.path.name == "ant_7f3a_b19e_grid.mp4"
    assert [clip.shown.steps for clip in montage.clips] == [0, 2000, 0, 500]
    width, height = montage.sidecar.size or (0, 0)
    assert 2 * SIZE[0] < width < 3 * SIZE[0] and 2 * SIZE[1] < height < 3 * SIZE[1]


def test_ctrl_c_ends_the_recorder_and_leaves_nothing_half(project: Project, directory: RunDirectory) -> None:
    started = project.root / "started"
    slow = scripted_recorder(
        "import os, time\nfrom pathlib import Path\nPath(FILM).write_bytes(b'half')\n"
        f"Path({str(started)!r}).write_text(str(os.getpid()))\ntime.sleep(60)"
    )

    def interrupt() -> None:
        deadline = time.monotonic() + 20
        while not (started.is_file() and started.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        make_montage(request(directory), project, record=slow)
    thread.join()
    assert not psutil.pid_exists(int(started.read_text()))
    (listed,) = list_recordings(project.recordings)
    assert listed.state == "stopped"
    assert not list(project.recordings.rglob("*.mp4"))


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_ctrl_c_while_encoding_leaves_nothing_half(project: Project, directory: RunDirectory, suffix: str) -> None:
    told: list[str] = []

    def interrupt(_share: float, message: str) -> None:
        told.append(message)
        # The second of these comes from the encoder at work.
        if sum(item.startswith("encoding") for item in told) == 2:
            raise KeyboardInterrupt

    output = project.root / f"film{suffix}"
    before = set(psutil.Process().children(recursive=True))
    with pytest.raises(KeyboardInterrupt):
        make_montage(request(directory, output=output), project, record=fake_recorder(), on_progress=interrupt)
    assert sorted(path.name for path in project.root.glob("*film*")) == [f"film{suffix}.json"]
    assert set(psutil.Process().children(recursive=True)) <= before
    sidecar = read_sidecar(output)
    assert sidecar is not None and sidecar.job is not None and sidecar.job.state == "stopped"


def test_memory_does_not_grow_with_the_length(tmp_path: Path) -> None:
    """Put together films of 20 and of 400 seconds in processes of their own, and compare what they took at most."""
    peaks = []
    for seconds in (20, 400):
        film = make_clip(tmp_path / f"{seconds}.mp4", seconds=seconds, fps=20)
        script = (
            f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
            "import resource\nfrom pathlib import Path\n"
            "from tests.montage.fakes import clip_of, make_run, shown_of\n"
            "from workbench.montage.film import write_film\nfrom workbench.montage.plan import Plan\n"
            "from workbench.montage.timing import Pace, work_out\n"
            f"folder = Path({str(tmp_path / f'scratch-{seconds}')!r})\n"
            "shown = shown_of(make_run(folder / 'runs', [0, 1, 2]))\n"
            f"clips = [clip_of(item, Path({str(film)!r})) for item in shown]\n"
            "plan = Plan(tuple(clips), work_out(Pace(speed=4), clips))\n"
            "write_film(plan, folder / 'film.mp4', scratch=folder)\n"
            "whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)\n"
            "print(max(resource.getrusage(who).ru_maxrss for who in whose))\n"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert peaks[1] < 1.25 * peaks[0], f"kilobytes {peaks}"


def test_the_sidecar_says_how_far_the_work_is(project: Project, directory: RunDirectory) -> None:
    seen: list[tuple[str, float]] = []

    def look(share: float, message: str) -> None:
        for path in project.recordings.glob("*.json"):
            job = json.loads(path.read_text())["job"]
            seen.append((job["state"], job["progress"]))

    make_montage(request(directory), project, record=fake_recorder(), on_progress=look)
    assert {state for state, _ in seen} == {"running"}
    assert max(progress for _, progress in seen) > 0


def test_a_clip_that_another_montage_films_is_waited_for_and_taken(project: Project, directory: RunDirectory) -> None:
    (shown, *_) = shown_of(directory)
    take = Take(shown, 77, 0)
    film = project.recordings / "clips" / directory.name / "clip.mp4"
    film.parent.mkdir(parents=True)
    ours = Job.here()
    write_sidecar(film, Sidecar(job=ours))

    def another_ends() -> None:
        film.write_bytes(b"theirs")
        write_sidecar(film, Sidecar(job=dataclasses.replace(ours, state="done")))

    thread = threading.Timer(0.2, another_ends)
    thread.start()
    told: list[int] = []
    film_clips(
        [(take, film)],
        lambda _take, _film: pytest.fail("it is filmed twice"),
        on_progress=lambda _done, finished: told.append(finished),
    )
    thread.join()
    assert film.read_bytes() == b"theirs"
    assert told[0] == 0 and told[-1] == 1


@pytest.mark.parametrize(("theme", "is_light"), [(None, True), ("light", True), ("dark", False)])
def test_a_poster_is_a_page_as_light_as_its_pictures(
    project: Project, directory: RunDirectory, theme: str | None, is_light: bool
) -> None:
    montage = make_montage(request(directory, layout="poster", theme=theme), project, record=fake_recorder())
    with Image.open(montage.path) as image:
        assert (image.convert("L").getpixel((1, 1)) > 250) is is_light  # type: ignore[operator]


def test_a_poster_on_paper_is_as_large_and_twice_as_fine(
    project: Project, directory: RunDirectory, tmp_path: Path
) -> None:
    pages = [tmp_path / "page.png", tmp_path / "page.pdf"]
    for page in pages:
        make_montage(request(directory, layout="poster", output=page), project, record=fake_recorder())
    with Image.open(pages[0]) as image:
        width, height = image.size
    content = pages[1].read_bytes()
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", content)
    pixels = re.search(rb"/Width (\d+)", content)
    assert box and pixels
    # 144 pixels of the PNG are an inch, which is 72 points; margins are rounded to even pixels.
    assert [float(side) for side in box.groups()] == pytest.approx([width / 2, height / 2], abs=6)
    assert int(pixels[1]) == pytest.approx(2 * width, abs=12)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"columns": 2}, "--columns means nothing to a film"),
        ({"by": "seed"}, "--by means nothing to a film"),
        ({"layout": "grid", "moment": 0.2}, "--moment means nothing to a grid"),
        ({"layout": "poster", "end_card": True}, "--end-card means nothing to a poster"),
        ({"choice": Choice(base=3.0)}, "--base 3 is of the exponential schedule"),
    ],
)
def test_what_would_have_no_say_is_refused(directory: RunDirectory, more: dict[str, object], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        request(directory, **more).check()


def test_a_film_that_is_named_is_shown_and_no_other(project: Project, directory: RunDirectory) -> None:
    make_montage(request(directory), project, record=fake_recorder())
    with pytest.raises(NotFoundError, match=r"checkpoint_000000000000/mine\.mp4 is missing"):
        make_montage(request(directory, own_film="mine.mp4", generate_missing=False), project)
    mine = [make_clip(path / "mine.mp4") for path in sorted(directory.path.glob("checkpoint_*"))]
    shown = make_montage(request(directory, own_film="mine.mp4", generate_missing=False), project)
    assert [clip.film for clip in shown.clips] == [mine[0], mine[-1]]
    mine[0].unlink()
    made = make_montage(request(directory, own_film="mine.mp4"), project, record=fake_recorder())
    assert made.notes == ("mine.mp4 is missing in 1 of 2 checkpoints; they were filmed.",)


def test_films_of_checkpoints_that_cannot_be_filmed_are_taken_as_they_are(project: Project, tmp_path: Path) -> None:
    trial = tmp_path / "trial"
    for number, fps in enumerate((10, 20)):
        checkpoint = trial / f"checkpoint_{number:06d}"
        make_clip(checkpoint / "video_000.mp4", fps=fps)
        (checkpoint / "rllib_checkpoint.json").write_text("{}")
        label = {"training_iteration": number, "num_env_steps_sampled_lifetime": 100 * number}
        (checkpoint / "video_labels.json").write_text(json.dumps(label))
    asked = dataclasses.replace(request(RunDirectory(trial)), size=None)
    assert probe(make_montage(asked, project).path).fps == 20
    (trial / "checkpoint_000001" / "video_000.mp4").unlink()
    with pytest.raises(NotFoundError, match="the checkpoint is RLlib's, which cannot be filmed here"):
        make_montage(asked, project)
