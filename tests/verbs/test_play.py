from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from tests.viewer import displays
from workbench.cli import main
from workbench.project import Project
from workbench.remote.frames import FrameReader
from workbench.viewer import memory

needs_xvfb = pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="Xvfb is not installed")


def test_without_a_display_one_sentence_names_what_works(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    assert main(["--project", str(project.root), "play", "cart_pole"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("workbench: there is no display")
    assert "workbench record" in err
    assert "xvfb-run" in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["no_such_thing"], "no environment and no run"),
        (["cart_pole", "--episodes", "0"], "--episodes takes"),
        (["cart_pole", "--seed", "-4"], "--seed takes"),
    ],
)
def test_a_wrong_request_is_said_even_without_a_display(
    project: Project, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--project", str(project.root), "play", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def surroundings(project: Project) -> dict[str, str]:
    """Return the environment variables of a process without a display, whose windows are remembered in the project."""
    kept = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    return kept | {memory.STATE_VARIABLE: str(project.root / "state")}


@needs_xvfb
def test_a_window_plays_episodes_and_prints_how_each_ended(project: Project) -> None:
    words = [sys.executable, "-m", "workbench", "--project", str(project.root), "play", "cart_pole", "--episodes", "2"]
    environment = surroundings(project)
    done = subprocess.run(
        ["xvfb-run", "-a", "-s", "-screen 0 1280x800x24", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["episode 1", "episode 2"]
    assert [line.split("  ")[-1] for line in lines] == ["seed 0", "seed 1"]
    assert all("pole_angle" in line for line in lines)
    assert "Traceback" not in done.stderr


LIMIT_S = 60.0


def test_the_theme_is_as_it_was_left_unless_it_is_asked_for(project: Project) -> None:
    def theme(*words: str, order: str = '{"do": "state"}') -> str:
        with Player(project, "cart_pole", "--no-window", *words) as player:
            player.until("ready")
            player.order(order)
            player.order('{"do": "pause"}')
            told = player.until("state", playing=False)
            player.order('{"do": "quit"}')
            player.until("closed")
            assert player.end() == 0
            return str(told["theme"])

    assert theme() == "light"
    assert theme(order='{"do": "theme", "name": "dark"}') == "dark"
    assert theme() == "dark"
    assert theme("--theme", "light") == "light"


class Player:
    """A player in a process of its own, driven by its pipes."""

    def __init__(self, project: Project, *words: str, display: str = "") -> None:
        command = [sys.executable, "-m", "workbench.viewer", "--project", str(project.root), *words]
        environment = surroundings(project)
        if display:
            environment["DISPLAY"] = display
        self.frames, writer = os.pipe()
        self.process = subprocess.Popen(
            [*command, "--frames-fd", str(writer)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=[writer], env=environment,
        )  # fmt: skip
        os.close(writer)
        self.watchdog = threading.Timer(LIMIT_S, self.process.kill)

    def __enter__(self) -> Player:
        self.watchdog.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.watchdog.cancel()
        self.process.kill()
        self.process.communicate()
        os.close(self.frames)

    def order(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def until(self, event: str, **wanted: Any) -> dict[str, Any]:
        """Return the next event of that kind with those values."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            told = json.loads(line)
            if told["event"] == event and all(told[key] == value for key, value in wanted.items()):
                return dict(told)
            assert event == "error" or told["event"] != "error", told
        raise AssertionError(f"no {event} {wanted} came")

    def picture(self) -> Any:
        """Return the next frame, `(height, width, 3)`."""
        reader, frames = FrameReader(), []
        while not frames:
            frames = reader.feed(os.read(self.frames, 1 << 16))
        frame = frames[0]
        return np.frombuffer(frame.pixels, np.uint8).reshape(frame.height, frame.width, 3)

    def end(self) -> int:
        """Wait for its end and return its exit code."""
        assert self.process.stderr is not None
        assert b"Traceback" not in self.process.stderr.read()
        return self.process.wait(LIMIT_S)


def test_a_player_without_a_display_is_driven_and_sends_frames(project: Project) -> None:
    with Player(project, "cart_pole", "--no-window", "--seed", "3") as player:
        ready = player.until("ready")
        assert (ready["title"], ready["seekable"], ready["period_s"]) == ("cart_pole, random", True, 0.04)
        player.order('{"do": "preview", "width": 64, "height": 40, "fps": 30}')
        player.order('{"do": "pause"}')
        assert player.until("state", playing=False)["seed"] == 3
        picture = player.picture()
        assert picture.shape == (40, 64, 3)
        # The light background above, and something dark that stands in the middle.
        assert picture[0].min() > 200
        assert picture[10:30].min() < 120
        player.order('{"do": "what"}')
        assert "no command `what`" in player.until("error")["message"]
        player.order('{"do": "quit"}')
        assert player.until("closed")["reason"] == "quit"
        assert player.end() == 0


def test_a_player_ends_with_its_parent(project: Project) -> None:
    with Player(project, "cart_pole", "--no-window") as player:
        player.until("ready")
        assert player.process.stdin is not None
        player.process.stdin.close()
        player.process.stdin = None
        assert player.until("closed")["reason"] == "parent"
        assert player.end() == 0


def test_a_request_that_is_wrong_is_told_as_a_fatal_error(project: Project) -> None:
    with Player(project, "cart_pool", "--no-window") as player:
        error = player.until("error")
        assert error["fatal"]
        assert "cart_pool" in error["message"]
        assert "cart_pole" in error["hint"]
        assert player.end() == 2


def test_flags_of_remote_players_are_refused_without_remote(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["--frames-fd", "9"], ["--no-window"]):
        assert main(["--project", str(project.root), "play", "cart_pole", *words]) == 2
        assert "are for --remote" in capsys.readouterr().err
    for number, sentence in (("1", "from 3"), ("4000", "is not open")):
        assert main(["--project", str(project.root), "play", "cart_pole", "--remote", "--frames-fd", number]) == 2
        assert sentence in capsys.readouterr().err


@needs_xvfb
@pytest.mark.skipif(shutil.which("xdotool") is None, reason="xdotool is not installed")
# Keys reach a window when its server gives it the focus, which no deadline holds on a busy machine.
@pytest.mark.long
def test_a_window_shows_what_the_preview_shows_and_closing_it_ends_with_code_0(project: Project) -> None:
    with displays.display() as display, Player(project, "cart_pole", display=display) as player:
        player.until("state", window=True)
        player.order('{"do": "pause"}')
        player.order('{"do": "preview", "width": 64, "height": 40}')
        picture = player.picture()
        assert picture[0].min() > 200
        assert picture[10:30].min() < 120
        window = displays.find_window(display, "cart_pole")
        displays.press(display, window, "v")
        assert player.until("view", marks=["forces"])["tab"] == "play"
        # The first button of the panel.
        displays.click(display, window, 60, 58)
        player.until("state", playing=True)
        displays.press(display, window, "space")
        step = player.until("state", playing=False)["step"]
        displays.press(display, window, "Right")
        assert player.until("state", step=step + 1)["last"] == step + 1
        displays.press(display, window, "Left")
        assert player.until("state", step=step)["last"] == step + 1
        displays.press(display, window, "Tab")
        player.until("view", panel=False)
        displays.close_window(display, window)
        assert player.until("closed")["reason"] == "window"
        assert player.end() == 0
    left = json.loads((project.root / "state" / "viewer" / "cart_pole.json").read_text())
    assert (left["marks"], left["panel"]) == (["forces"], False)


@needs_xvfb
def test_a_display_that_dies_is_told_as_a_window_that_closed_and_the_view_is_kept(project: Project) -> None:
    with displays.server() as (display, server), Player(project, "cart_pole", display=display) as player:
        player.until("state", window=True)
        player.order('{"do": "mark", "what": "forces", "on": true}')
        player.until("view", marks=["forces"])
        server.kill()
        assert player.until("closed")["reason"] == "window"
        assert player.process.stderr is not None
        assert b"XIO" not in player.process.stderr.read()
        assert player.process.wait(LIMIT_S) == 0
    left = json.loads((project.root / "state" / "viewer" / "cart_pole.json").read_text())
    assert left["marks"] == ["forces"]


@needs_xvfb
def test_a_display_that_dies_ends_a_window_with_one_sentence(project: Project) -> None:
    words = [sys.executable, "-m", "workbench", "--project", str(project.root), "play", "cart_pole"]
    with displays.server() as (display, server):
        environment = surroundings(project) | {"DISPLAY": display}
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
            watchdog = threading.Timer(LIMIT_S, process.kill)
            watchdog.start()
            assert process.stdout is not None and process.stderr is not None
            # An episode has ended: the window is there.
            assert process.stdout.readline().startswith(b"episode 1")
            server.kill()
            assert process.stderr.read() == b"workbench: the display is gone, and the window with it.\n"
            assert process.wait(LIMIT_S) == 1
            watchdog.cancel()


@needs_xvfb
@pytest.mark.skipif(shutil.which("xdotool") is None, reason="xdotool is not installed")
def test_several_play_in_one_window_in_step(project: Project) -> None:
    words = ("cart_pole", "cart_pole", "--agent", "zero", "--ghost")
    with displays.display() as display, Player(project, *words, display=display) as player:
        members = player.until("members")
        assert (members["ghosts"], members["titles"]) == (True, ["zero", "zero (2)"])
        window = displays.find_window(display, "cart_pole")
        displays.press(display, window, "2")
        assert player.until("members", chosen=1)["returns"].keys() == {"zero", "zero (2)"}
        displays.press(display, window, "q")
        assert player.until("closed")["reason"] == "quit"
        assert player.end() == 0
