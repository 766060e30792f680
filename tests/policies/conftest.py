"""Policies of Stable-Baselines3 with random weights, and the checkpoints written from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from stable_baselines3 import PPO, SAC, TD3
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from workbench.policies.checkpoint import write_checkpoint
from workbench.policies.sb3 import describe_action_map, describe_network, policy_tensors
from workbench.policies.spaces import describe_space

ALGORITHMS = {"ppo": PPO, "sac": SAC, "td3": TD3}
LOPSIDED = spaces.Box(np.array([-1.0, -3.0, 0.5], np.float32), np.array([2.0, 3.0, 4.0], np.float32))


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


class Learnt:
    """A policy of Stable-Baselines3 beside the fields and tensors of its checkpoint."""

    def __init__(
        self,
        algorithm: str,
        action_space: spaces.Space[Any] = LOPSIDED,
        observation_space: spaces.Space[Any] | None = None,
        **keywords: Any,
    ) -> None:
        observation_space = observation_space or spaces.Box(-np.inf, np.inf, (5,))
        venv = DummyVecEnv([lambda: Still(observation_space, action_space)])
        box = isinstance(observation_space, spaces.Box)
        self.normalizer = VecNormalize(venv, norm_obs=box)
        self.model = ALGORITHMS[algorithm]("MlpPolicy", self.normalizer, seed=3, device="cpu", **keywords)
        rng = np.random.default_rng(5)
        for parameter in self.model.policy.parameters():
            # Away from the initial values, which are too tame to tell right from nearly right.
            parameter.data += parameter.data.new_tensor(
                rng.normal(0, 0.4, parameter.shape) / parameter.shape[-1] ** 0.5
            )
        self.tensors = dict(policy_tensors(self.model.policy))
        if box:
            self.normalizer.obs_rms.mean = rng.normal(0, 2, 5)
            self.normalizer.obs_rms.var = rng.uniform(0.1, 4, 5)
            self.tensors["normalizer.mean"] = self.normalizer.obs_rms.mean
            self.tensors["normalizer.var"] = self.normalizer.obs_rms.var
        action = describe_space(action_space, "actions")
        self.fields: dict[str, Any] = {
            "algorithm": algorithm,
            "environment": {"env_id": "workbench/Still-v0", "name": "still", "env_cfg": {}},
            "observation_space": describe_space(observation_space, "observations"),
            "action_space": action,
            "action_map": describe_action_map(self.model.policy, action),
            "control_period_s": 0.05,
            "network": describe_network(self.model.policy, algorithm),
            "observation_names": (),
            "action_names": (),
            "steps": 1000,
            "iteration": 3,
            "seed": 7,
            "versions": {"numpy": "2"},
            "normalizer": {"epsilon": 1e-8, "clip": 10.0} if box else None,
        }

    def predict(self, observations: Any) -> Any:
        """What Stable-Baselines3 itself would do, through its own normaliser."""
        return self.model.predict(self.normalizer.normalize_obs(observations), deterministic=True)[0]

    def write(self, folder: Path) -> Path:
        return write_checkpoint(folder, self.fields, self.tensors)


@pytest.fixture(params=sorted(ALGORITHMS))
def learnt(request: pytest.FixtureRequest) -> Learnt:
    return Learnt(request.param)
