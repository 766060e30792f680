"""Files of Stable-Baselines3, written by itself, of policies with random weights; and of its first version, by hand."""

from __future__ import annotations

import base64
import io
import json
import pickle
import sys
import types
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from stable_baselines3 import A2C, DDPG, DQN, PPO, SAC, TD3
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

ALGORITHMS: Mapping[str, Any] = {"ppo": PPO, "a2c": A2C, "sac": SAC, "td3": TD3, "ddpg": DDPG, "dqn": DQN}
LOPSIDED = spaces.Box(np.array([-1.0, -3.0, 0.5], np.float32), np.array([2.0, 3.0, 4.0], np.float32))
VECTOR = spaces.Box(-np.inf, np.inf, (5,))


class Still(gymnasium.Env[Any, Any]):
    """An environment of which only the spaces matter."""

    def __init__(self, observation_space: spaces.Space[Any], action_space: spaces.Space[Any]) -> None:
        self.observation_space = observation_space
        self.action_space = action_space

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.observation_space.sample(), 0.0, False, False, {}


def make_model(
    algorithm: str,
    action_space: spaces.Space[Any] = LOPSIDED,
    observation_space: spaces.Space[Any] = VECTOR,
    *,
    policy: str = "MlpPolicy",
    net_arch: Any = (16, 16),
    **keywords: Any,
) -> Any:
    """A learner of Stable-Baselines3 whose weights are away from the initial ones, which are too tame."""
    venv = DummyVecEnv([lambda: Still(observation_space, action_space)])
    policy_kwargs = {"net_arch": list(net_arch) if isinstance(net_arch, tuple) else net_arch}
    policy_kwargs |= keywords.pop("policy_kwargs", {})
    if algorithm not in ("ppo", "a2c"):
        keywords.setdefault("buffer_size", 10)
    if algorithm in ("ppo",):
        keywords.setdefault("n_steps", 64)
    model = ALGORITHMS[algorithm](policy, venv, seed=3, device="cpu", policy_kwargs=policy_kwargs, **keywords)
    rng = np.random.default_rng(5)
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter += torch.as_tensor(rng.normal(0, 0.4, parameter.shape) / parameter.shape[-1] ** 0.5)
    model.num_timesteps = 1234
    return model


def make_normalizer(venv: Any, **keywords: Any) -> VecNormalize:
    """A normaliser with statistics that change what it is given."""
    normalizer = VecNormalize(venv, training=False, **keywords)
    rng = np.random.default_rng(7)
    moments = normalizer.obs_rms
    for one in moments.values() if isinstance(moments, dict) else [moments]:
        one.mean, one.var = rng.normal(0, 2, one.mean.shape), rng.uniform(0.1, 4, one.mean.shape)
    return normalizer


def observations(count: int = 1000, size: int = 5) -> Any:
    return np.random.default_rng(0).normal(0, 3, (count, size)).astype(np.float32)


class Payload:
    """Writes a file when it is unpickled, and then is an empty dictionary."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> Any:
        return exec, (f"open({str(self.marker)!r}, 'w').close()",)


def serialized(value: Any, protocol: int = 4) -> dict[str, str]:
    content = value if isinstance(value, bytes) else pickle.dumps(value, protocol=protocol)
    return {":type:": "x", ":serialized:": base64.b64encode(content).decode()}


def rewrite(path: Path, **settings: Any) -> Path:
    """Change settings in a file; a value of None takes one away."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    data = json.loads(parts["data"]) | settings
    parts["data"] = json.dumps({name: value for name, value in data.items() if value is not None}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def _old_class(module: str, name: str) -> type:
    made = types.ModuleType(module)
    kind = type(name, (), {"__module__": module})
    setattr(made, name, kind)
    sys.modules[module] = made
    return kind


@pytest.fixture
def old_gym() -> Iterator[Mapping[str, type]]:
    """Classes called as those of Gym and of Stable-Baselines3 1.0, for pickles that name them; gone afterwards."""
    wanted = {
        "Box": ("gym.spaces.box", "Box"),
        "Discrete": ("gym.spaces.discrete", "Discrete"),
    }
    modules = [module for module, _ in wanted.values()] + ["gym", "gym.spaces"]
    before = {module: sys.modules.get(module) for module in modules}
    for module in ("gym", "gym.spaces"):
        sys.modules[module] = types.ModuleType(module)
    yield {key: _old_class(module, name) for key, (module, name) in wanted.items()}
    for module, known in before.items():
        if known is None:
            sys.modules.pop(module, None)
        else:
            sys.modules[module] = known


def filled(kind: type, **state: Any) -> Any:
    """An instance with a state and no constructor called."""
    made = kind.__new__(kind)
    made.__dict__.update(state)
    return made


def old_zip(path: Path, tensors: Mapping[str, torch.Tensor], data: Mapping[str, Any]) -> Path:
    """A file as 1.0 wrote it: no version of the system, settings and weights alone."""
    weights = io.BytesIO()
    # What torch wrote before 1.6, which the first files are in.
    torch.save(dict(tensors), weights, _use_new_zipfile_serialization=False)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", json.dumps(data))
        archive.writestr("policy.pth", weights.getvalue())
        archive.writestr("_stable_baselines3_version", "1.0")
    return path
