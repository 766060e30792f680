"""A spec made into a learner of Stable-Baselines3."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.noise import NormalActionNoise, VectorizedActionNoise
from stable_baselines3.common.utils import FloatSchedule
from stable_baselines3.common.vec_env import VecEnv

from workbench.errors import RequestError
from workbench.specs import Algorithm, RunSpec, schedule
from workbench.training.device import choose_device
from workbench.training.fast.asymmetric import POLICIES
from workbench.training.fast.normalize import Normalizer
from workbench.training.fast.ppo import PPO
from workbench.training.fast.sac import SAC
from workbench.training.fast.td3 import TD3

ACTIVATIONS: dict[str, type[torch.nn.Module]] = {
    "tanh": torch.nn.Tanh,
    "relu": torch.nn.ReLU,
    "elu": torch.nn.ELU,
}

# What of a block describes the networks; Stable-Baselines3 takes it apart from the rest.
NETWORK_FIELDS = {"net_arch", "activation", "log_std_init", "ortho_init"}

SCHEDULES = {"learning_rate", "clip_range", "clip_range_vf"}

CLASSES: dict[Algorithm, type[BaseAlgorithm]] = {"ppo": PPO, "sac": SAC, "td3": TD3}


def normalize(venv: VecEnv, spec: RunSpec) -> VecEnv:
    """Return the environment with the spec's normalisation around it, or as it is where there is none.

    Raises:
        RequestError: The observations cannot be normalised.
    """
    if not (spec.normalize_observations or spec.normalize_rewards):
        return venv
    if spec.normalize_observations and not isinstance(venv.observation_space, spaces.Box):
        kind = type(venv.observation_space).__name__
        raise RequestError(f"observations from a {kind} space cannot be normalised; set normalize_observations false.")
    return Normalizer(
        venv,
        norm_obs=spec.normalize_observations,
        norm_reward=spec.normalize_rewards,
        gamma=spec.hyperparameters.gamma,
    )


def critic_names(env: VecEnv) -> tuple[str, ...]:
    """Return the names of what only a critic sees: the last numbers of an observation of this environment."""
    return tuple(getattr(env.unwrapped, "critic_names", ()))


def critics_differ(theirs: Sequence[str], mine: Sequence[str]) -> str:
    """Return in words that a critic sees other numbers, or in another order, than one it was to go on from."""
    one, other = (", ".join(names) or "nothing" for names in (theirs, mine))
    return f"beside what its actor sees its critic saw {one}, and this run's sees {other}"


def actor_space(env: VecEnv) -> spaces.Space[Any]:
    """Return the space of what an actor sees of this environment's observations."""
    space: spaces.Space[Any] = getattr(env.unwrapped, "actor_space", env.observation_space)
    return space


def make_model(
    spec: RunSpec,
    env: VecEnv,
    *,
    seed: int,
    workers: int = 0,
    classes: Mapping[Algorithm, type[BaseAlgorithm]] = CLASSES,
) -> BaseAlgorithm:
    """Return the learner that a spec describes.

    Args:
        spec: What the run was asked to do.
        env: What it learns from.
        seed: Of everything random.
        workers: Threads of an update at most; 0 for one a CPU.
        classes: The learner of each algorithm; ours by default.

    Raises:
        RequestError: The algorithm cannot learn on these actions, or Stable-Baselines3 refuses a value.
    """
    if spec.algorithm != "ppo" and not isinstance(env.action_space, spaces.Box):
        kind = type(env.action_space).__name__
        raise RequestError(f"{spec.algorithm.upper()} needs continuous actions, and these are {kind}; use PPO.")
    keywords = _policy_keywords(spec)
    policy: Any = "MlpPolicy"
    if critic_names(env):
        policy = POLICIES[spec.algorithm]
        keywords["actor_size"] = math.prod(actor_space(env).shape or ())
    try:
        model = classes[spec.algorithm](
            policy,
            env,
            policy_kwargs=keywords,
            seed=seed,
            device=choose_device(spec)[0],
            **_keywords(spec, env),
        )
    except (AssertionError, ValueError) as error:
        raise RequestError(f"Stable-Baselines3 refuses this spec: {error}") from error
    if isinstance(model, PPO | SAC | TD3):
        model.workers = workers
    return model


def change_model(model: BaseAlgorithm, before: RunSpec, after: RunSpec) -> None:
    """Give a learner that was made from a spec other values; it is then as one that was made with them.

    Args:
        model: The learner.
        before: What it does now.
        after: What it shall do; only values that may change while a run trains differ.
    """
    old, new = before.hyperparameters, after.hyperparameters
    changed = [name for name in type(new).model_fields if getattr(new, name) != getattr(old, name)]
    values = _keywords(after, model.get_env())  # type: ignore[arg-type]
    for name in changed:
        if name == "learning_rate":
            model.learning_rate = values[name]
            model._setup_lr_schedule()
        elif name in SCHEDULES:
            setattr(model, name, None if values[name] is None else FloatSchedule(values[name]))
        elif name == "action_noise_std":
            assert isinstance(model, SAC | TD3)
            noise = values.get("action_noise")
            # As it is made when learning begins.
            model.action_noise = (
                noise if noise is None or model.n_envs == 1 else VectorizedActionNoise(noise, model.n_envs)
            )
        elif isinstance(model, SAC) and name == "ent_coef":
            model.weigh_entropy(values[name])
        elif isinstance(model, SAC) and name == "target_entropy":
            automatic = -float(np.prod(model.action_space.shape or ()))
            model.target_entropy = automatic if values[name] == "auto" else float(values[name])
        else:
            setattr(model, name, values[name])


def _keywords(spec: RunSpec, env: VecEnv) -> dict[str, Any]:
    block = spec.hyperparameters
    keywords: dict[str, Any] = {
        name: getattr(block, name) for name in type(block).model_fields if name not in NETWORK_FIELDS
    }
    for name in SCHEDULES & keywords.keys():
        keywords[name] = None if keywords[name] is None else _as_schedule(keywords[name])
    deviation = keywords.pop("action_noise_std", 0.0)
    if deviation:
        size = env.action_space.shape or ()
        keywords["action_noise"] = NormalActionNoise(np.zeros(size), np.full(size, deviation))
    return keywords


def _as_schedule(value: float | str) -> float | Callable[[float], float]:
    # A number stays one: Stable-Baselines3 makes a constant of it.
    return schedule(value) if isinstance(value, str) else value


def _policy_keywords(spec: RunSpec) -> dict[str, Any]:
    block = spec.hyperparameters
    keywords: dict[str, Any] = {"net_arch": block.layers, "activation_fn": ACTIVATIONS[block.activation]}
    for name in ("log_std_init", "ortho_init"):
        if hasattr(block, name):
            keywords[name] = getattr(block, name)
    return keywords
