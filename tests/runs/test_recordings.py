from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workbench.errors import WorkFailedError
from workbench.runs.recordings import (
    EpisodeResult,
    Job,
    JobReport,
    Sidecar,
    list_recordings,
    part_path,
    read_sidecar,
    recording_path,
    sidecar_path,
    write_sidecar,
)

WHOLE = Sidecar(
    kind="recording",
    command=("workbench", "record", "cart_pole"),
    checkpoint="/runs/PPO/x/checkpoint_000000010000",
    environment="workbench/CartPole-v0",
    seed=10_000,
    episodes=(EpisodeResult(return_=991.5, length=1000, reason="time_limit", seed=10_000),),
    size=(640, 480),
    fps=20.0,
    frames=1001,
    duration_s=50.05,
    theme="light",
    created=1_790_000_000.25,
)


def film(folder: Path, name: str = "a.mp4") -> Path:
    path = folder / name
    path.write_bytes(b"film")
    return path


def dead_job() -> Job:
    child = subprocess.Popen([sys.executable, "-c", ""])
    job = dataclasses.replace(Job.here(), pid=child.pid)
    child.wait()
    return job


def test_a_sidecar_reads_back_as_it_was_written(tmp_path: Path) -> None:
    sidecar = dataclasses.replace(WHOLE, job=Job.here(message="drawing"), extra={"later": [1]})
    path = write_sidecar(tmp_path / "a.mp4", sidecar)
    assert path.name == "a.mp4.json"
    assert read_sidecar(tmp_path / "a.mp4") == sidecar
    data = json.loads(path.read_text())
    assert data["episodes"] == [{"return": 991.5, "length": 1000, "reason": "time_limit", "seed": 10_000}]
    assert data["later"] == [1]
    assert data["job"]["pid"] == os.getpid()


def test_a_return_that_is_not_finite_is_written_as_null(tmp_path: Path) -> None:
    write_sidecar(tmp_path / "a.mp4", dataclasses.replace(WHOLE, episodes=(EpisodeResult(return_=float("nan")),)))
    read = read_sidecar(tmp_path / "a.mp4")
    assert read is not None
    assert read.episodes[0].return_ is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"kind": "recor',
        b"\xff\xfe\x00",
        b"[]",
        b"7",
        b"{}",
        b'{"kind": 3}',
        b'{"training_iteration": 4}',
    ],
)
def test_a_torn_or_foreign_sidecar_is_none_and_its_film_is_still_listed(tmp_path: Path, content: bytes) -> None:
    path = film(tmp_path)
    sidecar_path(path).write_bytes(content)
    assert read_sidecar(path) is None
    (listed,) = list_recordings(tmp_path)
    assert (listed.path, listed.sidecar, listed.state, listed.kind) == (path, None, "done", "film")


def test_fields_that_make_no_sense_are_left_out(tmp_path: Path) -> None:
    path = film(tmp_path)
    odd = {
        "kind": "recording",
        "command": "record",
        "seed": True,
        "episodes": [4, {"return": "high", "length": 2.5}],
        "size": [640, "480"],
        "fps": 10**400,
        "frames": None,
        "environment": {"env_id": "workbench/Ant-v0", "name": "ant"},
        "job": {"pid": "1", "pid_started": 0, "state": "running"},
    }
    sidecar_path(path).write_text(json.dumps(odd))
    read = read_sidecar(path)
    assert read == Sidecar(environment="workbench/Ant-v0", episodes=(EpisodeResult(), EpisodeResult()))


@pytest.mark.parametrize("pid", [-1, 10**30])
def test_a_job_with_an_impossible_pid_is_gone(tmp_path: Path, pid: int) -> None:
    write_sidecar(film(tmp_path), dataclasses.replace(WHOLE, job=dataclasses.replace(Job.here(), pid=pid)))
    assert list_recordings(tmp_path)[0].state == "failed"


def test_newest_first_with_those_in_progress_and_without_a_sidecar(tmp_path: Path) -> None:
    old = film(tmp_path, "old.mp4")
    write_sidecar(old, dataclasses.replace(WHOLE, created=100.0))
    foreign = film(tmp_path, "foreign.gif")
    os.utime(foreign, (200.0, 200.0))
    job = dataclasses.replace(Job.here(message="clip 2 of 5"), progress=0.25)
    write_sidecar(tmp_path / "new.mp4", dataclasses.replace(WHOLE, kind="montage", created=300.0, job=job))
    (tmp_path / ".new.part.mp4").write_bytes(b"half")
    (tmp_path / "clips").mkdir()
    (tmp_path / "notes.txt").write_text("no film")
    listed = list_recordings(tmp_path)
    assert [(item.path.name, item.kind, item.state, item.progress) for item in listed] == [
        ("new.mp4", "montage", "running", 0.25),
        ("foreign.gif", "image", "done", 1.0),
        ("old.mp4", "recording", "done", 1.0),
    ]
    assert listed[0].message == "clip 2 of 5"
    assert listed[2].size_bytes == 4


def test_a_folder_that_is_not_there_lists_nothing(tmp_path: Path) -> None:
    assert list_recordings(tmp_path / "none") == []


def test_a_job_whose_process_is_gone_has_failed(tmp_path: Path) -> None:
    write_sidecar(tmp_path / "a.mp4", dataclasses.replace(WHOLE, job=dead_job()))
    (listed,) = list_recordings(tmp_path)
    assert listed.state == "failed"
    assert "ended without finishing" in listed.message


def test_a_reused_pid_is_told_by_its_start_time(tmp_path: Path) -> None:
    mine = Job.here()
    write_sidecar(tmp_path / "a.mp4", dataclasses.replace(WHOLE, job=mine))
    write_sidecar(
        tmp_path / "b.mp4",
        dataclasses.replace(WHOLE, job=dataclasses.replace(mine, pid_started=mine.pid_started - 60)),
    )
    assert {item.path.name: item.state for item in list_recordings(tmp_path)} == {"a.mp4": "running", "b.mp4": "failed"}


def test_a_job_of_another_host_lives_by_its_heartbeat(tmp_path: Path) -> None:
    elsewhere = dataclasses.replace(dead_job(), host="another-host")
    write_sidecar(tmp_path / "a.mp4", dataclasses.replace(WHOLE, job=elsewhere))
    assert list_recordings(tmp_path)[0].state == "running"
    os.utime(sidecar_path(tmp_path / "a.mp4"), (time.time() - 120,) * 2)
    assert list_recordings(tmp_path)[0].state == "failed"


def test_a_finished_film_that_was_deleted_is_not_listed(tmp_path: Path) -> None:
    write_sidecar(tmp_path / "a.mp4", WHOLE)
    write_sidecar(tmp_path / "b.mp4", dataclasses.replace(WHOLE, job=dataclasses.replace(dead_job(), state="done")))
    assert list_recordings(tmp_path) == []


def test_names_never_collide(tmp_path: Path) -> None:
    film(tmp_path, "ant.mp4")
    assert recording_path(tmp_path, "ant", ".mp4").name == "ant-2.mp4"
    assert recording_path(tmp_path, "ant", ".mp4").name == "ant-3.mp4"
    assert recording_path(tmp_path, "ant", ".png").name == "ant.png"
    reserved = recording_path(tmp_path / "new" / "folder", "ant", ".mp4")
    assert reserved.name == "ant.mp4"
    assert list_recordings(reserved.parent)[0].state == "running"


def reserve(folder: Path) -> list[str]:
    return [recording_path(folder, "ant", ".mp4").name for _ in range(20)]


def test_two_processes_never_get_the_same_name(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        first, second = pool.map(reserve, [tmp_path, tmp_path], chunksize=1)
    assert len(set(first) | set(second)) == 40


def test_progress_is_written_at_most_twice_a_second(tmp_path: Path) -> None:
    now = [0.0]
    path = tmp_path / "a.mp4"

    def on_disk() -> float:
        read = read_sidecar(path)
        assert read is not None and read.job is not None
        return read.job.progress

    with JobReport(path, WHOLE, clock=lambda: now[0]) as report:
        assert on_disk() == 0.0
        now[0] = 0.4
        report.progress(0.1)
        assert on_disk() == 0.0
        now[0] = 0.6
        report.progress(0.2, "drawing")
        assert on_disk() == 0.2
        report.progress(7.0)
        assert report.job.progress == 1.0
        report.update(frames=12)
    film(tmp_path)
    read = read_sidecar(path)
    assert read is not None and read.job is not None
    assert (read.job.state, read.job.progress, read.frames, read.seed) == ("done", 1.0, 12, 10_000)


def test_leaving_by_an_error_says_why(tmp_path: Path) -> None:
    with pytest.raises(WorkFailedError), JobReport(tmp_path / "a.mp4", WHOLE) as report:
        report.progress(0.4)
        raise WorkFailedError("no EGL device.", hint="apt install libegl1")
    (listed,) = list_recordings(tmp_path)
    assert (listed.state, listed.progress, listed.message) == ("failed", 0.4, "no EGL device.")


def test_leaving_by_ctrl_c_says_stopped(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), JobReport(tmp_path / "a.mp4", WHOLE):
        raise KeyboardInterrupt
    assert list_recordings(tmp_path)[0].state == "stopped"


def test_what_killed_recorders_left_half_written_goes_when_the_next_one_begins(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    film, day_before = tmp_path / "film.mp4", time.time() - 25 * 3600
    kept = [
        part_path(film),
        tmp_path / f".other.{child.pid}.part.mp4",
        tmp_path / f".film.{child.pid}.part.gif",
        tmp_path / ".film.part.mp4",
        tmp_path / f".notes.{child.pid}.part.txt",
    ]
    gone = [
        tmp_path / f".film.{child.pid}.part.mp4",
        tmp_path / f".older.{child.pid}.part.webp",
        tmp_path / f".states.of.ant.{child.pid}.part.npz",
    ]
    for path in (*kept, *gone):
        path.write_bytes(b"half")
    # A living process may have waited for long; of another film only what is old is nobody's on any host.
    for path in (kept[0], *kept[3:], *gone[1:]):
        os.utime(path, (day_before, day_before))
    with JobReport(film, Sidecar()):
        assert sorted(path for path in tmp_path.iterdir() if ".part" in path.name) == sorted(kept)
