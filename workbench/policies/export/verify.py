"""Checks that an exported policy acts as the one that was trained: `python verify.py`, beside the files it checks.

Needs numpy and the runtime that requirements.txt names, and nothing of workbench. Ends with 0 where every action is
within its tolerance, with 1 where one is not or a file was altered, with 2 where the runtime is missing.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np


def differences(folder: Path, manifest: dict[str, Any], program: dict[str, Any]) -> Any:
    """Return how far the program's actions are from the expected ones: a row a golden vector, a column an element.

    Raises:
        ImportError: The runtime is not installed.
        ValueError: The actions have another shape.
    """
    with np.load(folder / manifest["golden"]["file"], allow_pickle=False) as vectors:
        inputs = {item["name"]: vectors[item["golden"]] for item in program["inputs"]}
        expected = vectors[program["output"]["golden"]]
    given = np.asarray(_run(folder, manifest, program, inputs))
    if given.shape != expected.shape:
        raise ValueError(f"actions of shape {given.shape} came out, expected {expected.shape}")
    apart = np.abs(given.astype(np.float64) - expected.astype(np.float64))
    return apart.reshape(len(apart), -1)


def is_within(apart: Any, tolerance: Any) -> bool:
    """Return whether all differences are within the tolerance of their element; what is not a number is not."""
    return bool(np.all(apart <= np.asarray(tolerance)))


def altered(folder: Path, manifest: dict[str, Any]) -> list[str]:
    """Return the names of the files that are missing or are not those that were written."""
    return [name for name, told in manifest["files"].items() if _digest(folder / name) != told["sha256"]]


def main() -> int:
    """Check the folder that this file is in."""
    folder = Path(__file__).resolve().parent
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    changed = altered(folder, manifest)
    if changed:
        sys.stdout.write(f"missing or altered: {', '.join(changed)}\n")
        return 1
    is_right = True
    for program in manifest["programs"]:
        try:
            apart = differences(folder, manifest, program)
        except ImportError as error:
            sys.stdout.write(f"{error}; pip install -r requirements.txt\n")
            return 2
        except ValueError as error:
            sys.stdout.write(f"{program['file']}: {error}\n")
            return 1
        passes = is_within(apart, program["tolerance"])
        is_right = is_right and passes
        verdict = "ok" if passes else f"FAILED, at most {max(program['tolerance']):.1e} is allowed"
        sys.stdout.write(f"{program['file']}: {len(apart)} vectors, largest difference {apart.max():.1e}: {verdict}\n")
    return 0 if is_right else 1


def _run(folder: Path, manifest: dict[str, Any], program: dict[str, Any], inputs: dict[str, Any]) -> Any:
    path = str(folder / program["file"])
    if manifest["export"]["format"] == "onnx":
        import onnxruntime

        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        return session.run([program["output"]["name"]], inputs)[0]
    if manifest["export"]["format"] == "torchscript":
        import torch

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            load: Any = torch.jit.load
            module = load(path, map_location="cpu")
        with torch.no_grad():
            return module(*(torch.as_tensor(value) for value in inputs.values())).numpy()
    return _predict(path, folder, manifest, inputs["observation"])


def _predict(path: str, folder: Path, manifest: dict[str, Any], observations: Any) -> Any:
    """Act as Stable-Baselines3 does, through its own classes."""
    import gymnasium
    import stable_baselines3
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    model = getattr(stable_baselines3, manifest["policy"]["algorithm"].upper()).load(path, device="cpu", buffer_size=1)

    class Spaces(gymnasium.Env[Any, Any]):
        observation_space, action_space = model.observation_space, model.action_space

    if manifest["export"]["normalizer_file"]:
        file = str(folder / manifest["export"]["normalizer_file"])
        observations = VecNormalize.load(file, DummyVecEnv([Spaces])).normalize_obs(observations)
    return model.predict(observations, deterministic=True)[0]


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit(main())
