from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.training.conftest import make_run, train_here
from tests.viewer.probing import read_film
from workbench.cli import main
from workbench.project import Project
from workbench.runs import RunDirectory
from workbench.runs.recordings import list_recordings, read_sidecar
from workbench.verbs.record import place_hint

PLAIN = """
import gymnasium
import numpy as np
from gymnasium import spaces


class BlinkerEnv(gymnasium.Env):
    '''Blinks.'''

    metadata = {"render_modes": ["rgb_array"], "render_fps": 12}
    observation_space = spaces.Box(-1, 1, (1,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        return np.zeros(1, np.float32), 1.0, self.steps == 6, False, {}

    def render(self):
        return None if self.render_mode is None else np.full((51, 80, 3), 255 * (self.steps % 2), np.uint8)
"""


def with_blinker(project: Project) -> Project:
    project.envs.mkdir()
    (project.envs / "blinker_env.py").write_text(PLAIN)
    return project


def words(project: Project, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "workbench", "--project", str(project.root), "record", *arguments]


def record(project: Project, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Record in a process of its own, as users do: graphics may end it, and it lowers its priority."""
    environment = {**os.environ, **variables}
    return subprocess.run(
        words(project, *arguments), env=environment, cwd=project.root, capture_output=True, text=True, timeout=120
    )


def told(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_film_of_an_environment_has_a_frame_a_step_and_the_reset_frame(project: Project) -> None:
    document = told(record(project, "cart_pole", "--seed", "3", "--episodes", "2", "--preset", "draft", "--json"))
    path = project.recordings / "cart_pole_random.mp4"
    assert document["file"] == str(path)
    steps = [episode["length"] for episode in document["episodes"]]
    assert [episode["seed"] for episode in document["episodes"]] == [3, 4]
    assert {episode["reason"] for episode in document["episodes"]} == {"pole_angle"}

    film = read_film(path)
    assert film.size == (480, 360)
    assert film.fps == pytest.approx(25)
    assert len(film.frames) == document["frames"] == sum(steps) + 2
    assert all(np.ptp(frame) > 100 for frame in film.frames)
    assert np.abs(film.frames[0].astype(int) - film.frames[steps[0]]).max() > 50

    sidecar = read_sidecar(path)
    assert sidecar is not None
    assert sidecar.job is not None
    assert (sidecar.kind, sidecar.job.state, sidecar.frames) == ("recording", "done", len(film.frames))
    assert sidecar.environment == "workbench/CartPole-v0"
    assert [item.name for item in project.recordings.iterdir()] == unordered(path.name, f"{path.name}.json")


def unordered(*names: str) -> Any:
    class Unordered:
        def __eq__(self, other: object) -> bool:
            return isinstance(other, list) and sorted(other) == sorted(names)

    return Unordered()


def test_the_same_command_makes_the_same_film_under_another_name(project: Project) -> None:
    arguments = ("cart_pole", "--seed", "5", "--size", "160x120", "--preset", "draft", "--json")
    first, second = (told(record(project, *arguments)) for _ in range(2))
    assert Path(second["file"]).name == "cart_pole_random-2.mp4"
    assert first["episodes"] == second["episodes"]
    frames = [read_film(Path(document["file"])).frames for document in (first, second)]
    assert np.array_equal(*frames)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    run = make_run(tmp_path_factory.mktemp("trained") / "runs", "ppo", total_steps=200)
    train_here(run)
    return run


def test_a_checkpoint_is_filmed_greedily_and_named_after_its_run(trained: RunDirectory) -> None:
    project = Project(trained.runs_root.parent)
    document = told(record(project, f"{trained.short_id}:latest", "--size", "64x64", "--seconds", "1", "--json"))
    assert Path(document["file"]).name == f"cart_pole_{trained.short_id}_200.mp4"
    assert document["checkpoint"] == str(trained.checkpoints()[-1].path)
    again = told(record(project, str(trained.checkpoints()[-1].path), "--size", "64x64", "--seconds", "1", "--json"))
    assert again["episodes"] == document["episodes"]
    sampled = told(record(project, trained.name, "--size", "64x64", "--stochastic", "--seconds", "1", "--json"))
    assert sampled["episodes"] != document["episodes"]
    assert sampled["command"].endswith("--stochastic")


def test_the_policy_of_an_environment_is_that_of_its_newest_run(trained: RunDirectory) -> None:
    project = Project(trained.runs_root.parent)
    done = record(project, "cart_pole", "--agent", "policy", "--size", "64x64", "--seconds", "0.2", "--json")
    assert told(done)["checkpoint"].startswith(str(trained.path))


def test_a_policy_does_not_act_in_an_environment_it_does_not_fit(trained: RunDirectory) -> None:
    project = Project(trained.runs_root.parent)
    done = record(project, trained.name, "--env", "half_cheetah", "-o", "no.mp4")
    assert done.returncode == 2
    assert "does not fit" in done.stderr
    assert not (project.root / "no.mp4").exists()


def test_a_film_goes_where_it_was_asked_for_and_replaces_what_was_there(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "elsewhere" / "ant.gif"
    path.parent.mkdir()
    path.write_bytes(b"an older film")
    done = record(project, "Ant-v5", "--seconds", "0.2", "--size", "64x48", "-o", str(path))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{path}\n"
    assert path.read_bytes().startswith(b"GIF8")
    assert read_sidecar(path) is not None
    assert not project.recordings.exists()


def test_an_environment_without_a_model_is_filmed_by_its_own_pictures(project: Project) -> None:
    document = told(record(with_blinker(project), "blinker", "--json"))
    film = read_film(Path(document["file"]))
    assert (film.size, film.fps, len(film.frames)) == ((80, 50), 12, 7)
    assert [round(float(frame.mean()) / 255) for frame in film.frames] == [0, 1, 0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--size", "640x480"], "--size 640x480 has no say"),
        (["--preset", "default"], "--preset default has no say"),
        (["--camera=-90,-10", "--theme", "light"], "--camera -90,-10 and --theme light have no say"),
        (["blinker", "--size", "64x48"], "--size 64x48 has no say"),
    ],
)
def test_a_size_and_a_look_that_an_environment_cannot_take_are_refused(
    project: Project, arguments: list[str], said: str
) -> None:
    done = record(with_blinker(project), "blinker", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"renders itself in its own size, {'' if arguments[0] == 'blinker' else '80x50'}" in done.stderr
    assert said in done.stderr
    assert not any(project.recordings.iterdir())


def test_clips_of_a_montage_take_the_size_that_an_environment_has(project: Project) -> None:
    """A montage names the size and look of every clip that it films into its cache."""
    clip = with_blinker(project).recordings / "clips" / "run" / "clip.mp4"
    assert record(project, "blinker", "--size", "480x360", "--theme", "dark", "-o", str(clip)).returncode == 0
    assert read_film(clip).size == (80, 50)


def test_a_gif_of_a_faster_environment_lasts_as_long_as_the_simulation(project: Project) -> None:
    """Players show frames of a hundredth of a second as if they took ten."""
    source = PLAIN.replace('"render_fps": 12', '"render_fps": 60').replace("== 6", "== 60")
    (with_blinker(project).envs / "blinker_env.py").write_text(source)
    done = record(project, "blinker", "-o", "film.gif")
    assert done.returncode == 0, done.stderr
    with Image.open(project.root / "film.gif") as picture:
        lasting = []
        for number in range(picture.n_frames):
            picture.seek(number)
            lasting.append(picture.info["duration"])
    assert min(lasting) >= 20
    assert sum(lasting) == pytest.approx(1000, abs=60)


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (errno.ENOSPC, "Free some space, or name another place with -o."),
        (errno.EACCES, "Name another place with -o."),
        (errno.EPIPE, ""),
    ],
)
def test_space_is_asked_for_only_where_it_is_short(code: int, hint: str) -> None:
    assert place_hint(f"the film could not be written: Error closing file: {os.strerror(code)}.") == hint


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder in which nobody may write")
def test_a_place_that_takes_no_file_is_not_a_full_disk(project: Project) -> None:
    done = record(project, "cart_pole", "-o", "/proc/film.mp4")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "Name another place with -o."


def test_the_worst_of_several_episodes_is_the_one_in_the_film(project: Project) -> None:
    every = told(record(project, "cart_pole", "--seed", "3", "--episodes", "4", "-o", "every.npz", "--json"))
    returns = [episode["return"] for episode in every["episodes"]]
    assert every["frames"] == sum(episode["length"] + 1 for episode in every["episodes"])
    document = told(
        record(project, "cart_pole", "--seed", "3", "--episodes", "4", "--keep", "worst", "--size", "64x48", "--json")
    )
    assert [episode["return"] for episode in document["played"]] == returns
    assert [episode["return"] for episode in document["episodes"]] == [min(returns)]
    assert len(read_film(Path(document["file"])).frames) == document["episodes"][0]["length"] + 1
    assert document["command"].endswith("--episodes 4 --keep worst --size 64x48")


def test_recorded_states_are_filmed_again_without_what_acted(project: Project) -> None:
    size = ("--size", "96x64", "--preset", "draft", "--json")
    live = told(record(project, "cart_pole", "--seed", "3", "--episodes", "2", "--states", "both.npz", *size))
    again = told(record(project, "both.npz", *size))
    assert again["episodes"] == live["episodes"]
    films = [read_film(Path(document["file"])).frames for document in (live, again)]
    assert films[0].shape == films[1].shape
    # Both films are drawn of the same states, to a rounding of the transforms.
    assert np.abs(films[0].astype(int) - films[1]).mean() < 1
    for flags in (["--agent", "zero"], ["--seed", "0"]):
        other = record(project, "both.npz", *flags)
        assert (other.returncode, f"{flags[0]} changes nothing" in other.stderr) == (2, True)


def test_the_states_of_several_policies_are_kept_each_and_shown_side_by_side_again(project: Project) -> None:
    several = ("cart_pole", "cart_pole", "--episodes", "3", "--keep", "best", "--seed", "3")
    size = ("--size", "96x64", "--preset", "draft", "--json")
    live = told(record(project, *several, "--states", "both.npz", *size))
    assert live["states"] == ["both-1.npz", "both-2.npz"]
    assert live["episodes"] == [max(live["played"], key=lambda episode: episode["return"])]
    assert [one["episodes"] for one in live["beside"]] == [live["episodes"]] * 2
    again = told(record(project, *live["states"], *size))
    assert again["frames"] == live["frames"] == live["episodes"][0]["length"] + 1


def test_ghosts_are_seen_through_a_camera_of_the_model_and_rows_are_not(project: Project) -> None:
    several = ("Ant-v5", "Ant-v5", "--agent", "zero", "--camera", "track", "--seconds", "0.1", "--size", "64x48")
    assert told(record(project, *several, "--ghost", "--json"))["frames"] == 3
    done = record(project, *several)
    assert (done.returncode, "--ghost shows all of them" in done.stderr) == (2, True)


def test_a_picture_shows_the_moment_that_was_asked_for(project: Project) -> None:
    document = told(record(project, "half_cheetah", "--agent", "zero", "--still", "0.5s", "--json"))
    assert document["episodes"][0]["length"] == 10
    assert document["file"].endswith("half_cheetah_zero.png")
    done = record(project, "cart_pole", "--still", "900", "--size", "64x64", "-o", "none.png")
    assert done.returncode == 1
    assert "has no step 900: it ended after" in done.stderr
    assert not (project.root / "none.png").exists()


def test_a_full_disk_is_one_sentence(project: Project) -> None:
    """A limit on the size of files ends the encoder as a full disk would."""
    limited = ["sh", "-c", 'ulimit -f 128; exec "$@"', "sh", *words(project, "ant", "--seconds", "8", "-o", "film.mp4")]
    done = subprocess.run(limited, cwd=project.root, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr.startswith("workbench: the film film.mp4 could not be written: ")
    assert "Traceback" not in done.stderr
    assert not (project.root / "film.mp4").exists()
    assert [path.name for path in project.root.iterdir() if "part" in path.name] == []


def test_without_graphics_the_sentence_the_exit_code_and_the_sidecar_say_so(project: Project) -> None:
    done = record(project, "cart_pole", __EGL_VENDOR_LIBRARY_FILENAMES="/nonexistent")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("workbench: no picture can be drawn without a display")
    assert "apt-get install" in done.stderr
    assert "Traceback" not in done.stderr
    (recording,) = list_recordings(project.recordings)
    assert recording.state == "failed"
    assert "no picture can be drawn" in recording.message


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopping_leaves_a_film_that_plays(project: Project, number: signal.Signals) -> None:
    arguments = ("half_cheetah", "--size", "320x240", "--preset", "draft", "-o", "film.mp4", "--json")
    child = subprocess.Popen(
        words(project, *arguments), cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    path = project.root / "film.mp4"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and child.poll() is None:
        sidecar = read_sidecar(path)
        if sidecar is not None and sidecar.job is not None and sidecar.job.progress > 0:
            break
        time.sleep(0.02)
    child.send_signal(number)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    document = json.loads(out)
    assert document["stopped"]
    assert len(read_film(path).frames) == document["frames"] > 0
    assert document["episodes"][0]["reason"] is None
    sidecar = read_sidecar(path)
    assert sidecar is not None
    assert sidecar.job is not None
    assert sidecar.job.state == "stopped"
    assert [item.name for item in project.root.iterdir() if "part" in item.name] == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--size", "641x480"], "640x480 is near"),
        (["--size", "big"], "--size takes WIDTHxHEIGHT"),
        (["--size", "2x2"], "--size takes sides from 16"),
        (["--size", "99998x480"], "--size takes sides from 16"),
        (["--fps", "0"], "--fps takes"),
        (["--fps", "nan"], "--fps takes"),
        (["--episodes", "0"], "--episodes takes"),
        (["--seed", "-1"], "--seed takes"),
        (["--seconds", "0"], "--seconds takes"),
        (["--camera", "1,2,3,4"], "--camera takes"),
        (["--camera", "90,-10,0"], "Leave the distance out"),
        (["--camera", "90,-10,-2"], "--camera takes"),
        (["--fps", "60", "-o", "film.gif"], "a GIF has at most 50 frames a second"),
        (["--camera", "sid"], "its cameras are side."),
        (["--still", "2.5"], "--still takes"),
        (["--still=-1s"], "--still takes"),
        (["--still", "3", "-o", "film.mp4"], "Name it film.png"),
        (["--still", "3", "--episodes", "2"], "--still shows one episode"),
        (["--still", "3", "--seconds", "2"], "--still names one moment"),
        (["--keep", "worst"], "--keep worst chooses from several"),
        (["--states", "states.zip"], "Name it states.npz"),
        (["-o", "a.npz", "--states", "b.npz"], "leave out --states"),
        (["cart_pole", "-o", "a.npz"], "--states a.npz keeps those of each"),
        (["-o", "film.avi"], ".mp4, .webp, .gif, .png, .npz"),
        (["-o", "film"], ".mp4, .webp, .gif, .png, .npz"),
        (["--env", "ant"], "--env names"),
        (["--agent", "policy"], "no run"),
    ],
)
def test_a_wrong_request_is_one_sentence_and_leaves_nothing(
    project: Project, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--project", str(project.root), "record", "cart_pole", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert [path for path in project.root.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("target", ["no_such_thing", "no_such_run:best", "cart"])
def test_what_is_not_there_is_said_with_what_to_type(
    project: Project, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--project", str(project.root), "record", target]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
