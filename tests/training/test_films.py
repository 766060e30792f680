from __future__ import annotations

import io
import json
import time
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.training.conftest import events, make_run, tiny_spec, train_here
from tests.viewer.probing import read_film
from workbench.policies import read_record
from workbench.runs import EventWriter, RunDirectory
from workbench.runs.recordings import read_sidecar
from workbench.training.films import Films, is_filmed
from workbench.training.scoring_process import ScoringProcess
from workbench.viewer.checkpoint_films import clip_shape, leave_event

FILMED = {"video_on_checkpoint": True, "total_steps": 100, "checkpoint_freq": 0, "eval_every": 0}
"""Two checkpoints: the untrained one and the last."""


def made(run: RunDirectory, name: str) -> list[Path]:
    """Wait for a file in every checkpoint, which a process makes that outlives the training."""
    paths = [checkpoint.path / name for checkpoint in run.checkpoints()]
    deadline = time.monotonic() + 120
    while not all(path.exists() for path in paths):
        assert time.monotonic() < deadline, run.log_path.read_text()
        time.sleep(0.1)
    return paths


def test_each_checkpoint_gets_its_films_their_labels_and_a_clip_while_training_goes_on(tmp_path: Path) -> None:
    run = make_run(tmp_path, "ppo", **FILMED, video_count=2, video_fps=20)
    assert train_here(run).state == "finished"
    for path in made(run, "video_001.mp4"):
        record, labels = read_record(path.parent), json.loads((path.parent / "video_labels.json").read_text())
        assert labels == {
            "training_iteration": record.iteration,
            "num_env_steps_sampled_lifetime": record.steps,
        }
        for index in range(2):
            film = path.with_name(f"video_{index:03d}.mp4")
            sidecar, read = read_sidecar(film), read_film(film)
            assert sidecar is not None
            assert (read.size, read.fps, len(read.frames)) == ((480, 360), 20, sidecar.frames)
            assert (sidecar.seed, sidecar.checkpoint) == (10_000 + index, str(path.parent))
    deadline = time.monotonic() + 60
    while True:
        board = EventAccumulator(str(run.path), size_guidance={"images": 0}).Reload()
        if "rollout/video_1" in board.Tags()["images"] and len(board.Images("rollout/video_1")) == 2:
            break
        assert time.monotonic() < deadline
        time.sleep(0.2)
    for shown in board.Images("rollout/video_0"):
        with Image.open(io.BytesIO(shown.encoded_image_string)) as clip:
            assert (clip.format, clip.size, (shown.width, shown.height)) == ("GIF", (480, 360), (480, 360))
            assert clip.n_frames > 3
    assert [shown.step for shown in board.Images("rollout/video_0")] == [0, 100]
    assert [path.name for path in run.path.iterdir() if path.name.startswith(".films")] == []


@pytest.mark.parametrize("is_heard", [True, False], ids=["heard while it trains", "the training has ended by then"])
def test_without_graphics_one_event_and_one_line_say_so_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_heard: bool
) -> None:
    monkeypatch.setenv("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent")
    answer = ScoringProcess.answer
    monkeypatch.setattr(ScoringProcess, "answer", lambda self, timeout_s: answer(self, 60.0) if is_heard else None)
    run = make_run(tmp_path, "ppo", **(FILMED | {"total_steps": 20_000, "checkpoint_freq": 20}))
    assert train_here(run).state == "finished"
    said = "no checkpoint is filmed: no picture can be drawn without a display"
    deadline = time.monotonic() + 60
    while said not in (log := run.log_path.read_text()):
        assert time.monotonic() < deadline, log
        time.sleep(0.1)
    assert log.count("no picture can be drawn") == 1
    while not (told := events(run, "film")):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    [event] = told
    assert event["failure"].startswith("no picture can be drawn without a display")
    assert "checkpoint" not in event
    assert events(run, "anomaly") == []
    assert (events(run)[-1]["kind"] == "film") != is_heard


@pytest.mark.parametrize(
    ("frames", "size", "expected"),
    [
        (1001, (480, 360), (4, (480, 360))),
        (300, (1280, 720), (1, (480, 270))),
        (301, (500, 1000), (2, (240, 480))),
        (1, (64, 64), (1, (64, 64))),
    ],
)
def test_tensorboard_gets_at_most_300_frames_of_480_pixels(frames: int, size: Any, expected: Any) -> None:
    assert clip_shape(frames, size) == expected


@pytest.mark.parametrize(("pattern", "filmed"), [("*", True), ("cart_*", True), ("workbench/*", True), ("ant", False)])
def test_the_pattern_chooses_environments_by_either_name(pattern: str, filmed: bool) -> None:
    spec = tiny_spec("ppo", video_on_checkpoint=True, video_pattern=pattern)
    assert is_filmed(spec, "cart_pole", "workbench/CartPole-v0") == filmed


class Studio(ScoringProcess):
    """Films nothing; answers when it is told to."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.answers: deque[dict[str, Any]] = deque()
        self.left = 0

    def ask(self, request: dict[str, Any]) -> None:
        self.asked.append(request)

    def answer(self, timeout_s: float) -> dict[str, Any] | None:
        return self.answers.popleft() if self.answers else None

    def leave(self) -> None:
        self.left += 1

    def close(self) -> None:
        pass

    @property
    def pid(self) -> int | None:
        return 7


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return make_run(tmp_path, "ppo")


def films(run: RunDirectory, studio: Studio, **fields: Any) -> tuple[Films, list[Path]]:
    spec = tiny_spec("ppo", video_on_checkpoint=True, **fields)
    made = Films(run, spec, EventWriter(run.events_path), lambda summary, step: None, studio)
    paths = [run.path / f"checkpoint_{steps:012d}" for steps in (0, 100, 200)]
    for path in paths:
        made.begin(path)
    return made, paths


def test_checkpoints_are_filmed_in_order_and_the_one_in_work_stays(run: RunDirectory) -> None:
    studio = Studio()
    filming, paths = films(run, studio, tb_log_every=2)
    assert filming.current == paths[0]
    assert filming.poll() == []
    assert len(studio.asked) == 1
    studio.answers.append({"ok": True, "files": ["video_000.mp4"], "clips": []})
    assert filming.poll() == ["checkpoint_000000000000 filmed"]
    assert filming.current == paths[1]
    assert filming.close() == ["2 checkpoints still to film: process 7 goes on with that"]
    assert [Path(asked["checkpoint"]) for asked in studio.asked] == paths
    assert [asked["has_clips"] for asked in studio.asked] == [True, False, True]
    assert studio.left == 1


def test_a_failure_is_an_event_and_a_deleted_checkpoint_is_none(run: RunDirectory) -> None:
    studio = Studio()
    filming, _ = films(run, studio)
    filming.poll()
    studio.answers += [{"ok": False, "reason": "a wheel came off"}, {"ok": False, "reason": "", "gone": True}]
    assert filming.poll() == []
    (event,) = events(run, "film")
    assert (event["checkpoint"], event["failure"]) == ("checkpoint_000000000000", "a wheel came off")


def test_a_clip_that_is_gone_is_told(run: RunDirectory, tmp_path: Path) -> None:
    studio = Studio()
    filming, _ = films(run, studio)
    filming.poll()
    clip = {"path": str(tmp_path / "none.gif"), "index": 0, "size": [4, 4]}
    studio.answers.append({"ok": True, "files": ["video_000.mp4"], "clips": [clip]})
    (line,) = filming.poll()
    assert "not shown in TensorBoard" in line


def test_what_keeps_every_film_is_told_once_and_nothing_more_is_asked_for(run: RunDirectory) -> None:
    studio = Studio()
    filming, paths = films(run, studio)
    filming.poll()
    studio.answers.append({"ok": False, "no_graphics": True, "reason": "no picture can be drawn."})
    assert filming.poll() == []
    filming.begin(paths[-1])
    assert (filming.poll(), filming.close(), filming.current) == ([], [], None)
    (event,) = events(run, "film")
    assert (event["failure"], "checkpoint" in event) == ("no picture can be drawn.", False)
    # Left, it learns that somebody has heard it.
    assert (len(studio.asked), studio.left) == (1, 1)


def test_after_the_training_it_is_told_only_where_this_training_did_not(run: RunDirectory) -> None:
    with EventWriter(run.events_path) as writer:
        # By the process before this one, and of one checkpoint alone.
        writer.append("film", time=99.0, failure="no display")
        writer.append("film", time=101.0, checkpoint="checkpoint_000000000000", failure="a wheel came off")
        writer.append("state", time=102.0, steps=300, state="finished")
    leave_event(run, {"failure": "no display"}, since=100.0)
    assert [(event["steps"], event["failure"]) for event in events(run, "film")][2:] == [(300, "no display")]
    leave_event(run, {"failure": "no display"}, since=100.0)
    assert len(events(run, "film")) == 3


def test_the_folder_of_a_run_that_was_deleted_stays_deleted(tmp_path: Path) -> None:
    leave_event(RunDirectory(tmp_path / "gone"), {"failure": "no display"}, since=0.0)
    assert not (tmp_path / "gone").exists()
