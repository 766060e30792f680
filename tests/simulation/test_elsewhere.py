"""Packages that register their environments only when they are imported."""

from __future__ import annotations

import sys
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest

from workbench.simulation.elsewhere import register_elsewhere

HELPERS = """
import mujoco


def is_hinge(kind):
    return kind in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of that name, which tells Gymnasium of one environment and compares as the real one does."""
    folder = tmp_path / "gymnasium_robotics"
    (folder / "utils").mkdir(parents=True)
    (folder / "__init__.py").write_text("import gymnasium\ngymnasium.register('Elsewhere-v0', 'nowhere:Nothing')\n")
    (folder / "utils" / "__init__.py").write_text("")
    (folder / "utils" / "mujoco_utils.py").write_text(HELPERS)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("gymnasium_robotics")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(gymnasium.registry, "Elsewhere-v0", raising=False)
    return "gymnasium_robotics.utils.mujoco_utils"


def test_what_is_not_there_yet_is_registered_and_compares_what_mujoco_counts(package: str) -> None:
    register_elsewhere("Elsewhere-v0")
    assert "Elsewhere-v0" in gymnasium.registry
    del gymnasium.registry["Elsewhere-v0"]
    helpers = sys.modules[package]
    hinge = np.int32(int(mujoco.mjtJoint.mjJNT_HINGE))
    assert helpers.is_hinge(hinge)  # type: ignore[attr-defined]
    assert not helpers.is_hinge(np.int32(int(mujoco.mjtJoint.mjJNT_FREE)))  # type: ignore[attr-defined]
    register_elsewhere("Elsewhere-v0")
    assert helpers.is_hinge(hinge)  # type: ignore[attr-defined]


def test_nothing_is_imported_for_what_is_there(package: str) -> None:
    register_elsewhere("CartPole-v1")
    assert package not in sys.modules
