"""The whole path on the real parts, by the commands a user types: train, watch, lose processes, record, montage."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.films import read_film
from tests.terminals import Terminal
from workbench.project import Project
from workbench.runs import RunDirectory, RunStore, kill_run

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("whole_path")]

DEADLINE_S = 90.0


@pytest.fixture
def command(project: Project) -> Iterator[Callable[..., list[str]]]:
    """Return the words of a command in the project; ends whatever was started in it."""
    before = {process.pid for process in psutil.process_iter()}
    yield lambda *words: [sys.executable, "-m", "workbench", "--project", str(project.root), *words]
    for process in psutil.process_iter(["cmdline"]):
        if process.pid not in before and str(project.root) in " ".join(process.info["cmdline"] or ()):
            process.kill()


def without_display() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}


def answer(words: list[str]) -> Any:
    """Run a command that answers in JSON."""
    done = subprocess.run(words, capture_output=True, text=True, env=without_display(), check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def only_run(project: Project) -> RunDirectory:
    return RunDirectory(next(project.runs.glob("*/*_*")))


def wait_for(condition: Callable[[], bool], seconds: float = DEADLINE_S) -> float:
    """Wait until `condition` holds and return how long that took, in seconds."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < seconds, "it never came to that"
        time.sleep(0.05)
    return time.monotonic() - begun


def state_of(project: Project) -> str:
    return str(RunStore(project.runs).list()[0].state)


def test_a_policy_is_trained_filmed_and_put_into_a_montage_without_a_display(
    project: Project, command: Callable[..., list[str]]
) -> None:
    quick = ["--set", "eval_episodes=2", "--checkpoint-freq", "2", "--seed", "3"]
    trained = answer(command("train", "cart_pole", "--max-iterations", "4", *quick, "--json"))
    run = only_run(project)
    assert str(run.path) in json.dumps(trained)
    assert state_of(project) == "finished"
    assert run.checkpoints()[0].steps == 0
    assert len(run.checkpoints()) == 3

    film = answer(command("record", run.short_id, "--size", "320x240", "--json"))
    path = Path(film["file"])
    frames = read_film(path)
    sidecar = json.loads(path.with_name(path.name + ".json").read_text())
    assert frames.shape[1:] == (240, 320, 3)
    assert len(frames) == sidecar["episodes"][0]["length"] + 1
    assert all(frame.std() > 5 for frame in frames[:: max(1, len(frames) // 5)])

    answer(command("montage", run.short_id, "--layout", "grid", "--num-videos", "2", "--json"))
    montage = max(project.recordings.glob("*.mp4"), key=lambda item: item.stat().st_mtime)
    tiles = read_film(montage)[0]
    assert tiles.shape[1] > 320
    assert tiles[:, : tiles.shape[1] // 2].std() > 5
    assert tiles[:, tiles.shape[1] // 2 :].std() > 5


def test_a_run_outlives_who_asked_for_it_and_its_own_death_is_seen(
    project: Project, command: Callable[..., list[str]]
) -> None:
    words = command("train", "half_cheetah", "--seed", "1", "--set", "eval_episodes=1")
    follower = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    wait_for(lambda: project.runs.is_dir() and bool(RunStore(project.runs).list()) and state_of(project) == "running")

    os.killpg(follower.pid, signal.SIGKILL)
    follower.wait()
    run = only_run(project)
    written = run.events_path.stat().st_size
    wait_for(lambda: run.events_path.stat().st_size > written)
    assert state_of(project) == "running"
    assert [item["state"] for item in answer(command("runs", "--json"))["runs"]] == ["running"]

    state = json.loads(run.state_path.read_text())
    os.kill(state["pid"], signal.SIGKILL)
    assert wait_for(lambda: state_of(project) == "crashed", 5.0) < 5.0
    [listed] = answer(command("runs", "state:bad", "--json"))["runs"]
    assert "9" in listed["reason"]
    assert run.checkpoints()[0].steps == 0


def test_a_run_outlives_the_app_that_launched_it_and_the_next_app_shows_it(project: Project) -> None:
    app = Terminal("--project", str(project.root))
    try:
        # One thing at a time: what is typed before the screen is ready for it goes elsewhere.
        app.read_until("cart_pole", DEADLINE_S)
        app.type("/")
        app.read_until("is:", DEADLINE_S)
        app.type("half_cheetah")
        app.read_until("HalfCheetah-v0", DEADLINE_S)
        app.type("\r")
        app.read_until("New", DEADLINE_S)
        app.type("n")
        app.read_until("Launch", DEADLINE_S)
        app.type("\x07")
        wait_for(lambda: project.runs.is_dir() and bool(RunStore(project.runs).list()))
        wait_for(lambda: state_of(project) == "running")
    finally:
        app.close()

    run = only_run(project)
    written = run.events_path.stat().st_size
    wait_for(lambda: run.events_path.stat().st_size > written)
    assert state_of(project) == "running"

    following = Terminal("--project", str(project.root))
    try:
        following.read_until(run.short_id, DEADLINE_S)
        following.read_until("1 live run adopted", DEADLINE_S)
    finally:
        following.close()
        kill_run(run)


def test_a_stopped_run_saves_a_last_checkpoint(project: Project, command: Callable[..., list[str]]) -> None:
    subprocess.run(command("train", "half_cheetah", "--detach", "--set", "eval_episodes=1"), check=True)
    run = only_run(project)
    wait_for(lambda: run.events_path.is_file() and b'"metrics"' in run.events_path.read_bytes())
    subprocess.run(command("stop", run.short_id), check=True)
    assert state_of(project) == "stopped"
    last = run.checkpoints()[-1]
    assert last.steps > 0
    assert last == run.latest()
