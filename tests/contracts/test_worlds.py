"""Each world loads only what is its own; asked of a fresh interpreter, since imports cannot be taken back."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {"torch", "mujoco", "gymnasium", "stable_baselines3", "polyscope"}


def loaded_after(statement: str) -> set[str]:
    """Return the top-level modules a fresh interpreter has loaded after `statement`."""
    code = f"{statement}\nimport json, sys; print(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "statement",
    [
        "import workbench",
        "import workbench.ui.app",
        "import workbench.ui.screens.runs, workbench.ui.screens.run, workbench.ui.screens.recordings",
        "import workbench.ui.screens.environments, workbench.ui.screens.new_run, workbench.ui.screens.viewer",
        "import workbench.cli, workbench.catalog, workbench.specs, workbench.runs",
        "import workbench.runs.supervisor",
        "import workbench.runs.foreign.__main__, workbench.runs.foreign.converter",
    ],
)
def test_the_terminal_loads_no_heavy_library(statement: str) -> None:
    assert loaded_after(statement) & HEAVY == set()


@pytest.mark.parametrize("statement", ["import workbench.training", "import workbench.training.__main__"])
def test_training_never_loads_the_terminal_or_the_viewer(statement: str) -> None:
    assert loaded_after(statement) & {"textual", "polyscope"} == set()


def test_description_loads_neither_torch_nor_the_terminal() -> None:
    assert loaded_after("import workbench.simulation.describe") & {"textual", "polyscope", "torch"} == set()


def test_the_viewer_never_loads_the_terminal() -> None:
    assert "textual" not in loaded_after("import workbench.viewer")


def test_a_policy_is_opened_without_torch() -> None:
    assert loaded_after("import workbench.policies; workbench.policies.load_policy") & {"torch", "textual"} == set()
