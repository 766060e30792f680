"""The manifest beside an exported program is checked against the environment, as a checkpoint's record is."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.policies.opening.conftest import observations
from tests.policies.opening.test_programs import each, scripted
from workbench import load_policy
from workbench.errors import CheckpointError, RequestError

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")


def element(name: str, low: Any = "unbounded", high: Any = "unbounded") -> dict[str, Any]:
    return {"name": name, "unit": "unknown", "description": "unknown", "low": low, "high": high}


def write(folder: Path, **changed: Any) -> Any:
    """A program with a manifest, as `workbench export` lays them out."""
    module = scripted(folder / "policy.pt")
    told = {
        "policy": {"algorithm": "sac", "steps": 4000},
        "environment": {"env_id": "InvertedPendulum-v5", "env_cfg": {}},
        "control": {"period_s": 0.04},
        "observation": {
            "kind": "box",
            "shape": ["batch", 4],
            "dtype": "float64",
            "elements": [element(name) for name in ("x", "angle", "speed", "turning")],
        },
        "action": {"kind": "box", "shape": ["batch", 1], "dtype": "float32", "elements": [element("push", -3.0, 3.0)]},
        "versions": {"trained_with": {"workbench": "0.1.0"}},
        "files": {"policy.pt": {"sha256": hashlib.sha256((folder / "policy.pt").read_bytes()).hexdigest()}},
    }
    (folder / "manifest.json").write_text(json.dumps(told | changed))
    return module


def test_it_tells_the_environment_and_what_trained_the_policy(tmp_path: Path) -> None:
    module = write(tmp_path)
    actor = load_policy(tmp_path / "policy.pt")
    assert actor.description.environment is not None
    assert actor.description.environment.env_id == "InvertedPendulum-v5"
    assert (actor.description.algorithm, actor.description.steps) == ("sac", 4000)
    rows = observations(20, 4)
    np.testing.assert_allclose(actor.act(rows), np.clip(each(module, rows), -3, 3), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"control": {"period_s": 0.02}}, r"every 0\.02 s \(50 Hz\).*every 0\.04 s \(25 Hz\)"),
        (
            {"action": {"kind": "box", "shape": ["batch", 1], "dtype": "float32", "elements": [element("a", -1, 1)]}},
            r"from -1 to 1.*from -3 to 3",
        ),
    ],
)
def test_an_environment_that_differs_is_refused(changed: dict[str, Any], said: str, tmp_path: Path) -> None:
    write(tmp_path, **changed)
    with pytest.raises(CheckpointError, match=said):
        load_policy(tmp_path / "policy.pt")


@pytest.mark.parametrize("files", [{}, {"policy.pt": {"sha256": "0" * 64}}, [], None])
def test_a_manifest_of_another_file_tells_nothing(files: Any, tmp_path: Path) -> None:
    write(tmp_path, files=files)
    with pytest.raises(RequestError, match="does not say"):
        load_policy(tmp_path / "policy.pt")
