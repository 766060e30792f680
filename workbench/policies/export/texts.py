"""What a person reads in an exported folder: how to run the policy, and what to install for that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_ONNX = """\
import numpy as np
import onnxruntime

policy = onnxruntime.InferenceSession("policy.onnx", providers=["CPUExecutionProvider"])
observation = np.zeros({observation}, np.{dtype})
action = policy.run(["action"], {{"observation": observation}})[0]
"""
_TORCHSCRIPT = """\
import torch

policy = torch.jit.load("policy.pt", map_location="cpu")
observation = torch.zeros({observation}, dtype=torch.{dtype})
action = policy(observation)
"""
_SB3 = """\
from stable_baselines3 import {algorithm}

model = {algorithm}.load("model.zip", device="cpu")
action, _ = model.predict(observation, deterministic=True)
"""
_SB3_NORMALIZED = """\
from stable_baselines3 import {algorithm}
from stable_baselines3.common.vec_env import VecNormalize

model = {algorithm}.load("model.zip", device="cpu")
normalizer = VecNormalize.load("vecnormalize.pkl", venv)  # venv: a vector environment with the spaces of model
action, _ = model.predict(normalizer.normalize_obs(observation), deterministic=True)
"""


def requirements(packages: Sequence[str], versions: dict[str, str]) -> str:
    """Return the contents of `requirements.txt`: the versions that the policy was checked with."""
    lines = [f"{name}=={versions[name].partition('+')[0]}" for name in packages]
    return "\n".join(["# What verify.py needs, in the versions that the policy was checked with here.", *lines, ""])


def readme(manifest: dict[str, Any]) -> str:
    """Return the contents of `README.md`."""
    told, environment, control = manifest["policy"], manifest["environment"], manifest["control"]
    kind = manifest["export"]["format"]
    files = "\n".join(f"- `{name}`: {_what(name)}" for name in _listed(manifest))
    rate = control["rate_hz"]
    period = (
        "The control rate is unknown: the environment does not say it."
        if isinstance(rate, str)
        else f"It acts {rate:g} times a second, every {control['period_s']:g} s; another rate is another policy."
    )
    notes = "".join(f"\n- {note}" for note in manifest["export"]["notes"])
    return f"""# {environment["name"]}, {told["algorithm"].upper()}, {told["steps"]} steps

A policy trained on `{environment["env_id"]}`, exported by workbench. {period}

{_inside(manifest)}

```python
{_example(manifest).rstrip()}
```

`python verify.py` checks the files here against {manifest["golden"]["count"]} golden vectors; it needs what
`requirements.txt` names and ends with 0 where all actions are within their tolerance. At the export the largest
difference was {manifest["export"]["max_difference"]:.1e} ({kind}).

{files}
{notes}
"""


def _listed(manifest: dict[str, Any]) -> list[str]:
    return [*manifest["files"], "README.md", "manifest.json"] if "README.md" not in manifest["files"] else []


def _what(name: str) -> str:
    return {
        "policy.onnx": "the policy: `observation` in, `action` out",
        "policy_sampling.onnx": "the same with `noise` as a second input, for samples",
        "policy.pt": "the policy: observations in, actions out",
        "policy_sampling.pt": "the same with noise as a second input, for samples",
        "model.zip": "the model, as Stable-Baselines3 saves it",
        "vecnormalize.pkl": "the normaliser, as `VecNormalize.save` writes it",
        "golden.npz": "observations, and the actions that the trained policy takes there",
        "verify.py": "the check",
        "requirements.txt": "what the check needs",
        "README.md": "this text",
        "manifest.json": "names, units, bounds, rates, versions, digests: everything that is known",
    }[name]


def _inside(manifest: dict[str, Any]) -> str:
    if manifest["export"]["format"] == "sb3":
        return (
            "Observations go through the normaliser, where there is one, before the model; actions come in the\n"
            "environment's units."
        )
    is_normalized = manifest["normalizer"] != "none"
    inside = "The normaliser and the action map are" if is_normalized else "The action map is"
    noise = manifest["sampling"]
    text = (
        f"{inside} inside the program: observations go in as the environment gives them, `(batch, …)`, and\n"
        "actions come out in its units."
    )
    if isinstance(noise, dict):
        shape = ", ".join(map(str, noise["shape"]))
        text += (
            f" The sampling program takes `noise` of shape ({shape}) beside them: numbers from\n"
            f"{noise['distribution']}, drawn anew {noise['drawn']}."
        )
    return text


def _example(manifest: dict[str, Any]) -> str:
    kind, algorithm = manifest["export"]["format"], manifest["policy"]["algorithm"].upper()
    if kind == "sb3":
        template = _SB3_NORMALIZED if manifest["export"]["normalizer_file"] else _SB3
        return template.format(algorithm=algorithm)
    shape = (1, *manifest["observation"]["shape"][1:])
    template = _ONNX if kind == "onnx" else _TORCHSCRIPT
    return template.format(observation=shape, dtype=manifest["observation"]["dtype"])
