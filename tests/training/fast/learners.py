"""SAC and TD3, ours and Stable-Baselines3's, with replay made up at random."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import stable_baselines3
import torch
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv
from torch import nn

from workbench.training.fast.sac import SAC
from workbench.training.fast.td3 import TD3

OBSERVATIONS, ACTIONS = 5, 2

THEIRS: dict[str, type[OffPolicyAlgorithm]] = {"sac": stable_baselines3.SAC, "td3": stable_baselines3.TD3}
OURS: dict[str, type[OffPolicyAlgorithm]] = {"sac": SAC, "td3": TD3}


def network(*layers: int, activation: type[nn.Module] = nn.Tanh, eps: float = 1e-3) -> dict[str, Any]:
    """Return the keywords of a model whose parameters follow rounding no further than it goes.

    Where an input of a ReLU is as good as zero, the last digit decides whether a row counts; where a gradient is as
    good as zero, it decides on a whole step of Adam unless `eps` is well above it. Two codes with the same maths, or
    one on two numbers of threads, then part. Without either, they stay together whatever the data.
    """
    return {"policy_kwargs": {"net_arch": list(layers), "activation_fn": activation, "optimizer_kwargs": {"eps": eps}}}


class Empty(gymnasium.Env[Any, Any]):
    """Spaces and little else."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (OBSERVATIONS,), np.float64)
    action_space = gymnasium.spaces.Box(-3, 3, (ACTIONS,), np.float32)

    def reset(self, **_: Any) -> tuple[np.ndarray, dict[str, Any]]:
        return np.ones(OBSERVATIONS), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        return np.full(OBSERVATIONS, float(np.sum(action))), 1.0, False, False, {}


def make(
    cls: type[OffPolicyAlgorithm],
    env: VecEnv | None = None,
    *,
    n_envs: int = 1,
    filled: int = 300,
    policy: Any = "MlpPolicy",
    **keywords: Any,
) -> Any:
    """Return a model that could be trained at once."""
    keywords = {**network(32, 32), "batch_size": 32, "buffer_size": 1000, "seed": 5, "device": "cpu", **keywords}
    model = cls(policy, env or DummyVecEnv([Empty] * n_envs), **keywords)
    model.set_logger(Logger(folder=None, output_formats=[]))
    random = np.random.default_rng(7)
    buffer = model.replay_buffer
    for _ in range(filled):
        n = model.n_envs
        # In single precision, so that both kinds of buffer hold the same numbers.
        seen, then = random.normal(size=(2, n, *model.observation_space.shape)).astype(np.float32)
        actions = random.uniform(-1, 1, (n, *model.action_space.shape)).astype(np.float32)
        done, cut = random.random((2, n)) < 0.2
        infos = [{"TimeLimit.truncated": bool(each)} for each in done & cut]
        buffer.add(seen, then, actions, random.normal(size=n), done, infos)
    return model


def update(model: Any, times: int, seed: int = 11, gradient_steps: int = 1) -> list[dict[str, float]]:
    """Train several times and return what was logged."""
    np.random.seed(seed)
    torch.manual_seed(seed)
    told = []
    for _ in range(times):
        model.train(gradient_steps, model.batch_size)
        told.append({name: float(value) for name, value in model.logger.name_to_value.items()})
    return told


def parameters(model: Any) -> torch.Tensor:
    """Return all parameters, targets and entropy coefficient too."""
    parts = [tensor.flatten() for tensor in model.policy.state_dict().values()]
    learned = getattr(model, "log_ent_coef", None)
    return torch.cat([*parts, *([] if learned is None else [learned.detach()])]).clone()


def distance(one: Any, other: Any) -> float:
    """Return how far the parameters that differ most lie apart."""
    return float((parameters(one) - parameters(other)).abs().max())
