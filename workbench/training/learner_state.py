"""All that a learner is at the end of an iteration, as plain data: what it goes on from, bit for bit."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import numpy as np
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.save_util import recursive_getattr
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from workbench.simulation.snapshot import move_on
from workbench.training import chance
from workbench.training.plain import arrays

COUNTERS = (
    "num_timesteps",
    "_num_timesteps_at_start",
    "_episode_num",
    "_n_updates",
    "_current_progress_remaining",
    "noise_seed",
    "noise_steps",
)
"""Numbers of a learner; not every algorithm has all of them."""

LAST = ("_last_obs", "_last_original_obs", "_last_episode_starts")
"""What the next step begins with."""


def take(model: BaseAlgorithm, env: VecEnv, venv: Any) -> dict[str, Any]:
    """Return the state of a learner, but for what it replays.

    Args:
        model: The learner.
        env: Its environment, with the normaliser where there is one.
        venv: All copies of the environment.
    """
    _, variables = model._get_torch_save_params()
    space: Any = model.action_space
    return {
        "parameters": model.get_parameters(),
        "variables": {name: recursive_getattr(model, name) for name in variables},
        "counters": {name: getattr(model, name) for name in COUNTERS if hasattr(model, name)},
        "last": {name: getattr(model, name) for name in LAST},
        "episodes": list(model.ep_info_buffer or ()),
        "successes": [bool(success) for success in model.ep_success_buffer or ()],
        "elapsed_s": (time.time_ns() - model.start_time) / 1e9,
        "normalizer": _statistics(env) if isinstance(env, VecNormalize) else None,
        "environment": venv.snapshot(),
        "random_actions": space.np_random.bit_generator.state,
        "chance": chance.take(),
    }


def put_back(state: dict[str, Any], model: BaseAlgorithm, env: VecEnv, venv: Any) -> bool:
    """Make a learner that was started what it was, and return whether its environment is exactly where it was too.

    Args:
        state: What `take` returned, arrays as tensors.
        model: Made from the same spec.
        env: Its environment, with the normaliser where there is one.
        venv: All copies of the environment.

    Raises:
        ValueError: The state is that of another learner.
    """
    try:
        model.set_parameters(state["parameters"], exact_match=True, device=model.device)
    except (KeyError, RuntimeError) as error:
        raise ValueError(f"the saved networks are not those of this run ({error})") from error
    for name, tensor in state["variables"].items():
        recursive_getattr(model, name).data.copy_(tensor)
    for name, value in state["counters"].items():
        setattr(model, name, value)
    for name, value in state["last"].items():
        setattr(model, name, arrays(value))
    size = model._stats_window_size
    model.ep_info_buffer = deque(state["episodes"], maxlen=size)
    model.ep_success_buffer = deque(state["successes"], maxlen=size)
    model.start_time = time.time_ns() - int(state["elapsed_s"] * 1e9)
    if isinstance(env, VecNormalize):
        _put_statistics(env, arrays(state["normalizer"]))
    is_exact: bool = venv.restore(arrays(state["environment"]))
    if not is_exact:
        _begin_anew(model, env)
    space: Any = model.action_space
    space.np_random.bit_generator.state = arrays(state["random_actions"])
    chance.put_back(state["chance"])
    return is_exact


def stir(model: BaseAlgorithm, venv: Any, number: int) -> None:
    """Move all that a learner draws at random on from where it is, to a place that a number chooses.

    Args:
        model: The learner.
        venv: All copies of its environment.
        number: At least 1.
    """
    seed = int(np.random.SeedSequence([model.seed or 0, number]).generate_state(1)[0] % 2**31)
    chance.begin(seed)
    if hasattr(model, "noise_seed"):
        model.noise_seed = seed
    space: Any = model.action_space
    move_on(space.np_random, number)
    venv.stir(number)


def _begin_anew(model: BaseAlgorithm, env: VecEnv) -> None:
    model._last_obs = env.reset()  # type: ignore[assignment]
    model._last_episode_starts = np.ones((env.num_envs,), dtype=bool)
    if isinstance(env, VecNormalize):
        model._last_original_obs = env.get_original_obs()


def _statistics(env: VecNormalize) -> dict[str, Any]:
    return {
        "observations": _moments(env.obs_rms) if env.norm_obs else None,
        "returns": _moments(env.ret_rms),
        "running": env.returns,
    }


def _put_statistics(env: VecNormalize, state: dict[str, Any]) -> None:
    if env.norm_obs:
        put_moments(env.obs_rms, state["observations"])
    put_moments(env.ret_rms, state["returns"])
    env.returns = state["running"]


def _moments(statistics: Any) -> Any:
    if isinstance(statistics, RunningMeanStd):
        return {"mean": statistics.mean, "var": statistics.var, "count": float(statistics.count)}
    return {key: _moments(item) for key, item in statistics.items()}


def put_moments(statistics: Any, state: dict[str, Any]) -> None:
    """Make running statistics what they were saved as."""
    if isinstance(statistics, RunningMeanStd):
        statistics.mean, statistics.var = np.asarray(state["mean"]), np.asarray(state["var"])
        statistics.count = state["count"]
        return
    for key, item in statistics.items():
        put_moments(item, state[key])
