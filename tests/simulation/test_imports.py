"""What loading the package loads."""

import subprocess
import sys

import pytest

HEAVY = {"torch", "stable_baselines3", "textual", "polyscope"}


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import workbench.simulation", HEAVY | {"mujoco", "gymnasium"}),
        ("from workbench.simulation import EnvSource, load_class, build_config", HEAVY | {"mujoco", "gymnasium"}),
        ("from workbench.simulation import make_single, make_vector, register_envs", HEAVY),
    ],
)
def test_nothing_is_loaded_before_its_time(statement: str, absent: set[str]) -> None:
    script = f"{statement}\nimport sys\nprint(sorted({absent!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
