from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from workbench.cli import main
from workbench.project import Project

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


@needs_xvfb
def test_a_window_plays_episodes_and_prints_how_each_ended(project: Project) -> None:
    words = [sys.executable, "-m", "workbench", "--project", str(project.root), "play", "cart_pole", "--episodes", "2"]
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
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
