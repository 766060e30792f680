"""The examples in docs/, word for word, with small budgets."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
SMALL = {"WORKBENCH_EXAMPLE_STEPS": "1200", "WORKBENCH_EXAMPLE_ITERATIONS": "1"}


def run(words: list[str], folder: Path, **variables: str) -> str:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY")
    environment = {name: value for name, value in os.environ.items() if name not in hidden} | SMALL | variables
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_reach_example_of_strands(tmp_path: Path) -> None:
    told = run([sys.executable, str(EXAMPLES / "strands.py")], tmp_path, TMPDIR=str(tmp_path))
    for line in ("PPO finished", "SAC finished", "ppo ('1', '2', '3', '4', '5', '6')", "commands ["):
        assert line in told
    assert told.count("endings {") == 2


def test_the_trainer_example_of_simulo(tmp_path: Path) -> None:
    told = run([sys.executable, str(EXAMPLES / "simulo.py")], tmp_path)
    assert "iterations 1 " in told
    assert "iterations 2 " in told
    assert len(re.findall(r"episode \d: return \d+ in \d+ steps, pole_angle", told)) == 5
    assert (tmp_path / "checkpoints" / "cart_pole_final" / "policy.json").is_file()


def test_the_training_guide_of_superdex(tmp_path: Path) -> None:
    blocks = re.findall(r"^```bash\n(.*?)^```$", (EXAMPLES / "superdex.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, command in (("workbench", f'"{sys.executable}" -m workbench'), ("python", f'"{sys.executable}"')):
        (tools / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (tools / name).chmod(0o755)
    folder = tmp_path / "project"
    folder.mkdir()
    root = str(EXAMPLES.parents[1])
    told = run(["bash", "-euc", "\n".join(blocks)], folder, PATH=f"{tools}:{os.environ['PATH']}", PYTHONPATH=root)
    assert "(27,) Box" in told
    for film in ("inference.mp4", "history.mp4"):
        assert (folder / film).stat().st_size > 1000
    assert len(list((folder / "runs").glob("*/cart_pole_*"))) == 2
