from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = [
    ["workbench", "record", "cart_pole"],
    ["workbench", "evaluate", "cart_pole"],
    ["workbench", "check"],
    ["workbench", "train", "cart_pole"],
    ["workbench.viewer", "cart_pole"],
]


def run(words: list[str], root: Path, choice: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", words[0], "--project", str(root), *words[1:]]
    environment = {**os.environ, "MUJOCO_GL": choice}
    # MuJoCo puts it there for its own choice, in the process of the tests too.
    environment.pop("PYOPENGL_PLATFORM", None)
    return subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[-1] if len(words) == 2 else words[1])
def test_a_renderer_that_mujoco_does_not_know_is_one_sentence_with_what_to_type(
    words: list[str], tmp_path: Path
) -> None:
    done = run(words, tmp_path, "foo")
    assert done.returncode == 2
    assert " ".join(done.stderr.split()) == (
        "workbench: MUJOCO_GL=foo keeps MuJoCo from loading: MuJoCo knows no renderer of that name. "
        "`unset MUJOCO_GL`, or set MUJOCO_GL=egl."
    )
    assert [path for path in tmp_path.iterdir() if path.name != "envs"] == []


def test_a_renderer_that_is_not_installed_is_named(tmp_path: Path) -> None:
    """PyOpenGL ends in an AttributeError where the library is absent."""
    code = "from OpenGL import GL"
    environment = {**os.environ, "PYOPENGL_PLATFORM": "osmesa"}
    if not subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, timeout=60).returncode:
        pytest.skip("OSMesa is installed")
    done = run(["workbench", "record", "cart_pole"], tmp_path, "osmesa")
    assert done.returncode == 2
    assert "MUJOCO_GL=osmesa keeps MuJoCo from loading: the renderer is not installed." in done.stderr


def test_what_loads_no_mujoco_does_not_mind(tmp_path: Path) -> None:
    assert run(["workbench", "runs"], tmp_path, "foo").returncode == 0
