"""The folder of an export: what is in it, when it is there, and what its own check says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.policies.conftest import Learnt
from tests.policies.export.conftest import without_normalizer
from workbench.cli import main
from workbench.errors import CheckpointError, NotFoundError, RequestError, WorkFailedError
from workbench.policies.export import FORMATS, export
from workbench.runs import RunDirectory

CLOSED_IN = """
import runpy, sys

class Closed:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in {closed}:
            raise ModuleNotFoundError(f"No module named {{name}}")

sys.meta_path.insert(0, Closed())
runpy.run_path({script!r}, run_name="__main__")
"""

MADE_TO_WAIT = """
import sys, time
from workbench.cli import main
from workbench.policies.export import bundle

def wait(aside, document):
    print("waiting", flush=True)
    time.sleep(60)

bundle._check = wait
sys.exit(main(["export", {checkpoint!r}, "--format", "onnx", "-o", {folder!r}]))
"""


def verify(folder: Path, *closed: str) -> subprocess.CompletedProcess[str]:
    """Run the check of an export in a process that cannot import some packages."""
    code = CLOSED_IN.format(closed=set(closed), script=str(folder / "verify.py"))
    return subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)


def test_the_check_needs_neither_torch_nor_workbench(cart_pole_run: RunDirectory, tmp_path: Path) -> None:
    folder = export(cart_pole_run.path, "onnx", output=tmp_path / "out", sampling=True).folder
    others = ("torch", "workbench", "stable_baselines3", "gymnasium", "mujoco", "onnx")
    done = verify(folder, *others)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok") == 2
    assert verify(folder, "onnxruntime").returncode == 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["torchscript", "sb3"])
def test_the_check_of_every_format_passes(kind: str, cart_pole_run: RunDirectory, tmp_path: Path) -> None:
    folder = export(cart_pole_run.path, kind, output=tmp_path / "out").folder
    done = verify(folder, "workbench")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_check_finds_what_was_altered_and_what_acts_otherwise(tmp_path: Path) -> None:
    folder = export(Learnt("ppo").write(tmp_path), "onnx", output=tmp_path / "out").folder
    with np.load(folder / "golden.npz") as vectors:
        arrays = dict(vectors)
    arrays["action"][7, 1] += 1e-3
    np.savez(folder / "golden.npz", **arrays)
    done = verify(folder)
    assert done.returncode == 1
    assert "golden.npz" in done.stdout
    document = json.loads((folder / "manifest.json").read_text())
    document["files"].pop("golden.npz")
    (folder / "manifest.json").write_text(json.dumps(document))
    done = verify(folder)
    assert done.returncode == 1
    assert "1.0e-03" in done.stdout


def plant_onnx(monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.policies.export import onnx_graph

    monkeypatch.setitem(onnx_graph.ACTIVATIONS, "tanh", "Relu")


def plant_torchscript(monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.policies.export import torchscript

    monkeypatch.setitem(torchscript.ACTIVATIONS, "tanh", torch.nn.ReLU)


def plant_sb3(monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.policies.export import sb3_model

    statistics = sb3_model._statistics

    def shifted(*arguments: Any) -> Any:
        made = statistics(*arguments)
        made.obs_rms.mean = made.obs_rms.mean + 0.01  # type: ignore[union-attr]
        return made

    monkeypatch.setattr(sb3_model, "_statistics", shifted)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_program_that_acts_otherwise_leaves_nothing(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = Learnt("ppo").write(tmp_path)
    {"onnx": plant_onnx, "torchscript": plant_torchscript, "sb3": plant_sb3}[kind](monkeypatch)
    place = tmp_path / "place"
    assert main(["export", str(checkpoint), "--format", kind, "-o", str(place / "out")]) == 1
    told = capsys.readouterr()
    assert "acts otherwise than the policy" in told.err
    assert told.out == ""
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_killed_in_the_middle_nothing_is_there(number: int, tmp_path: Path) -> None:
    checkpoint, place = Learnt("ppo").write(tmp_path), tmp_path / "place"
    code = MADE_TO_WAIT.format(checkpoint=str(checkpoint), folder=str(place / "out"))
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert child.stdout is not None
    with child.stdout:
        assert child.stdout.readline() == "waiting\n"
        os.kill(child.pid, number)
        assert child.wait(30) != 0
    assert not (place / "out").exists()
    if number != signal.SIGKILL:
        assert list(place.iterdir()) == []
    export(checkpoint, "onnx", output=place / "out")
    assert [item.name for item in place.iterdir()] == ["out"]


def test_an_earlier_export_stays_unless_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint, folder = Learnt("ppo").write(tmp_path), tmp_path / "out"
    export(checkpoint, "onnx", output=folder)
    before = (folder / "manifest.json").read_bytes()
    with pytest.raises(RequestError, match="--force"):
        export(checkpoint, "torchscript", output=folder)
    plant_torchscript(monkeypatch)
    with pytest.raises(WorkFailedError):
        export(checkpoint, "torchscript", output=folder, force=True)
    assert (folder / "manifest.json").read_bytes() == before
    monkeypatch.undo()
    export(checkpoint, "torchscript", output=folder, force=True)
    assert not (folder / "policy.onnx").exists()
    assert (folder / "policy.pt").exists()


def test_an_export_that_was_moved_away_by_one_that_was_killed_comes_back(tmp_path: Path) -> None:
    checkpoint, folder = Learnt("ppo").write(tmp_path), tmp_path / "out"
    export(checkpoint, "onnx", output=folder)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    folder.rename(tmp_path / f".out.{ended.pid}.old")
    with pytest.raises(RequestError, match="--force"):
        export(checkpoint, "onnx", output=folder)
    assert (folder / "policy.onnx").is_file()


def test_what_is_no_export_is_never_replaced(tmp_path: Path) -> None:
    checkpoint = Learnt("ppo").write(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years")
    for taken in ("mine", "mine/thesis.txt"):
        with pytest.raises(RequestError):
            export(checkpoint, "onnx", output=tmp_path / taken, force=True)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years"


def test_wrong_requests_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = Learnt("td3").write(tmp_path)
    with pytest.raises(RequestError, match="Did you mean torchscript"):
        export(checkpoint, "torch_script")
    with pytest.raises(RequestError, match="no distribution"):
        export(checkpoint, "onnx", sampling=True)
    with pytest.raises(RequestError, match="samples by itself"):
        export(checkpoint, "sb3", sampling=True)
    with pytest.raises(NotFoundError):
        export(tmp_path / "nowhere", "onnx")
    monkeypatch.setattr("workbench.policies.export.bundle.find_spec", lambda name: None if name == "onnx" else name)
    with pytest.raises(RequestError, match="pip install onnx"):
        export(checkpoint, "onnx")


def test_an_environment_that_it_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"\(PPO by workbench.*\) does not fit Pendulum-v1.*shape \(3,\)"):
        export(Learnt("ppo").write(tmp_path), "onnx", output=tmp_path / "out", environment="Pendulum-v1")
    assert not (tmp_path / "out").exists()


def test_the_manifest_tells_what_is_known_and_what_is_not(cart_pole_run: RunDirectory, tmp_path: Path) -> None:
    latest = cart_pole_run.latest()
    assert latest is not None
    told = export(latest.path, "onnx", output=tmp_path / "out").manifest
    assert told == json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert told["control"] == {"period_s": 0.04, "rate_hz": 25.0}
    rows = [(item["name"], item["unit"], item["low"]) for item in told["observation"]["elements"]]
    assert rows == [
        ("angular_vel", "rad/s", "unbounded"),
        ("linear_vel", "m/s", "unbounded"),
        ("position", "m", "unbounded"),
        ("vertical_ang", "rad", "unbounded"),
    ]
    [force] = told["action"]["elements"]
    assert (force["name"], force["unit"], force["low"], force["high"]) == ("cart_force", "100 N", -3.0, 3.0)
    assert told["environment"]["env_id"] == "workbench/CartPole-v0"
    assert told["environment"]["config"]["angle_limit_rad"] == 0.2
    assert (told["policy"]["algorithm"], told["policy"]["steps"]) == ("ppo", latest.steps)
    assert len(told["normalizer"]["mean"]) == 4
    assert told["export"]["opset"] == 17
    assert set(told["files"]) == {item.name for item in (tmp_path / "out").iterdir() if item.name != "manifest.json"}
    assert told["golden"]["source"].startswith("80 visited")
    assert len(np.load(tmp_path / "out" / "golden.npz")["observation"]) == told["golden"]["count"] == 100
    assert "onnxruntime==" in (tmp_path / "out" / "requirements.txt").read_text()
    assert "25 times a second" in (tmp_path / "out" / "README.md").read_text()


def test_facts_that_nobody_told_are_unknown(tmp_path: Path) -> None:
    learnt = without_normalizer(Learnt("sac"))
    learnt.fields["control_period_s"] = None
    told = export(learnt.write(tmp_path), "onnx", output=tmp_path / "out").manifest
    assert told["control"] == {"period_s": "unknown", "rate_hz": "unknown"}
    assert told["environment"]["config"] == "unknown"
    assert told["normalizer"] == "none"
    first = told["observation"]["elements"][0]
    assert (first["name"], first["unit"], first["description"]) == ("unknown",) * 3
    assert "none visited" in told["golden"]["source"]


def test_by_default_it_goes_among_the_exports_of_the_project(
    cart_pole_run: RunDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(cart_pole_run.path), "--format", "onnx", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    folder = Path(document["folder"])
    assert folder.parent == tmp_path / "exports"
    assert folder.name.startswith(f"cart_pole_{cart_pole_run.short_id}_")
    assert Path(document["program"]).is_file()
    assert document["max_difference"] < 1e-4
