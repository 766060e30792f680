"""A policy as Stable-Baselines3's own files, which plain Stable-Baselines3 loads: `model.zip` and `vecnormalize.pkl`.

Both are made by its classes and hold nothing of ours. The zip has the critics too where they read what the actor
reads; one that saw more in training cannot be told to `MlpPolicy`, and starts anew.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import stable_baselines3
import torch
from gymnasium import spaces
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecNormalize

from workbench.errors import RequestError, WorkbenchError
from workbench.policies.checkpoint import Checkpoint
from workbench.policies.export.parts import Parts
from workbench.policies.export.torchscript import ACTIVATIONS
from workbench.policies.spaces import SpaceRecord
from workbench.runs.lineage import run_of

MODEL, NORMALIZER = "model.zip", "vecnormalize.pkl"

CRITICS = ("critic", "value_net", "mlp_extractor.value_net")
"""What the names of a critic's tensors begin with; the actor's never do."""

SCHEDULED = ("learning_rate", "clip_range", "clip_range_vf")
"""Values that may be schedules."""
NOT_TOLD = ("net_arch", "activation", "log_std_init", "ortho_init", "action_noise_std", "use_sde")
"""Fields of an algorithm that describe its networks, or what only an environment at hand can make."""

TARGETS = {"critic_target": "critic", "actor_target": "actor", "q_net_target": "q_net"}
"""Networks that follow others, and begin as copies of them where a checkpoint has none."""


def write_model(checkpoint: Checkpoint, parts: Parts, folder: Path) -> list[str]:
    """Write the files of a policy into a folder, and return what a person should know of them.

    Raises:
        RequestError: Stable-Baselines3 has no such algorithm, or no policy of this shape.
    """
    record = checkpoint.record
    cls = getattr(stable_baselines3, record.algorithm.upper(), None)
    if cls is None:
        raise RequestError(f"Stable-Baselines3 has no {record.algorithm.upper()}.", hint="Export it as onnx instead.")
    venv = DummyVecEnv([lambda: _Spaces(_space(record.observation_space), _space(record.action_space))])
    keywords, notes = _learning(checkpoint)
    if parts.is_state_dependent:
        keywords["use_sde"] = True
    try:
        with warnings.catch_warnings():
            # One copy stands for however many trained: a batch may be more than its rollout, a buffer more than memory.
            warnings.simplefilter("ignore", UserWarning)
            model: BaseAlgorithm = cls(
                "MlpPolicy", venv, policy_kwargs=_policy_keywords(checkpoint, parts), device="cpu", **keywords
            )
    except (AssertionError, TypeError, ValueError) as error:
        raise RequestError(f"Stable-Baselines3 makes no {record.algorithm.upper()} like this: {error}.") from error
    notes += _load(model, checkpoint)
    model.num_timesteps = record.steps
    model.save(folder / MODEL)
    if parts.normalizer is not None:
        _statistics(checkpoint, venv).save(str(folder / NORMALIZER))
    venv.close()
    return notes


class _Spaces(gymnasium.Env[Any, Any]):
    """An environment of which only the spaces matter."""

    def __init__(self, observation_space: Any, action_space: Any) -> None:
        self.observation_space = observation_space
        self.action_space = action_space


def _space(record: SpaceRecord) -> spaces.Space[Any]:
    if record.n is not None:
        return spaces.Discrete(record.n)
    dtype = np.dtype(record.dtype)
    infinite = np.inf if np.issubdtype(dtype, np.floating) else None
    low = [(-infinite if infinite else np.iinfo(dtype).min) if value is None else value for value in record.low]
    high = [(infinite if infinite else np.iinfo(dtype).max) if value is None else value for value in record.high]
    box: Any = spaces.Box
    made: spaces.Space[Any] = box(
        np.array(low, dtype).reshape(record.shape), np.array(high, dtype).reshape(record.shape), dtype=dtype.type
    )
    return made


def _policy_keywords(checkpoint: Checkpoint, parts: Parts) -> dict[str, Any]:
    record, tensors = checkpoint.record, checkpoint.tensors
    activation = ACTIVATIONS[parts.activation]
    actor = [int(weight.shape[0]) for weight, _ in parts.trunk]
    if record.algorithm == "dqn":
        return {"activation_fn": activation, "net_arch": actor}
    is_on_policy = record.algorithm in ("ppo", "a2c")
    prefix = "mlp_extractor.value_net" if is_on_policy else "critic.qf0"
    widths = _widths(tensors, prefix)
    # The last of a Q network's layers is its head.
    critic = (widths if is_on_policy else widths[:-1]) if widths else actor
    keywords: dict[str, Any] = {
        "activation_fn": activation,
        "net_arch": {"pi": actor, "vf" if is_on_policy else "qf": critic},
    }
    if not is_on_policy:
        twins = {name.split(".")[1] for name in tensors if re.match(r"critic\.qf\d+\.", name)}
        keywords["n_critics"] = len(twins) or 2
    if parts.is_state_dependent and parts.std is not None:
        keywords["full_std"] = is_full = parts.std.shape[1] == record.action_space.size and record.action_space.size > 1
        if is_on_policy:
            keywords["squash_output"] = parts.squash
        else:
            # Not an argument of SAC's policy, which always has the full matrix.
            del keywords["full_std"]
            keywords["clip_mean"] = float(parts.head_limit or 0.0)
            if not is_full and record.action_space.size > 1:
                raise RequestError("a SAC policy with one deviation a feature cannot be told to Stable-Baselines3.")
    return keywords


def _load(model: BaseAlgorithm, checkpoint: Checkpoint) -> list[str]:
    own = model.policy.state_dict()
    given = {
        name: torch.as_tensor(np.array(value))
        for name, value in checkpoint.tensors.items()
        if not name.startswith("normalizer.")
    }
    for name in own:
        network, _, rest = name.partition(".")
        if name not in given and (source := f"{TARGETS.get(network)}.{rest}") in given:
            given[name] = given[source]
    fitting = {name: value for name, value in given.items() if name in own and value.shape == own[name].shape}
    unfilled = sorted(own.keys() - fitting.keys())
    lost = [name for name in unfilled if not name.startswith(CRITICS)]
    if lost:
        raise RequestError(f"Stable-Baselines3's policy has other parts than this one: {', '.join(lost)}.")
    model.policy.load_state_dict(fitting, strict=False)
    if not unfilled:
        return []
    return ["the critics are not those that were trained: they read what the actor does not, or were not kept"]


def _statistics(checkpoint: Checkpoint, venv: VecEnv) -> VecNormalize:
    record, tensors = checkpoint.record.normalizer, checkpoint.tensors
    assert record is not None
    made = VecNormalize(venv, training=False, norm_reward=False, clip_obs=record.clip, epsilon=record.epsilon)
    statistics: Any = made.obs_rms
    statistics.mean = tensors["normalizer.mean"].astype(np.float64)
    statistics.var = tensors["normalizer.var"].astype(np.float64)
    if "normalizer.count" in tensors:
        statistics.count = float(tensors["normalizer.count"])
    return made


def _widths(tensors: Any, prefix: str) -> list[int]:
    pattern = re.compile(rf"{re.escape(prefix)}\.(\d+)\.weight")
    found = [(int(match[1]), len(tensors[name])) for name in tensors if (match := pattern.fullmatch(name))]
    return [width for _, width in sorted(found)]


def _learning(checkpoint: Checkpoint) -> tuple[dict[str, Any], list[str]]:
    """Return what the learner of the checkpoint's run was told, for who trains on; and what of it is lost."""
    run = run_of(checkpoint.path)
    try:
        spec = None if run is None else run.spec()
    except WorkbenchError:
        spec = None
    if spec is None:
        return {}, ["what the learner was told is not known: Stable-Baselines3's defaults stand for it"]
    told: dict[str, Any] = {}
    scheduled = []
    for name, value in spec.hyperparameters.model_dump().items():
        if name in SCHEDULED and isinstance(value, str):
            # A function of ours in the zip would need workbench to be read.
            told[name] = float(value.split(":")[1])
            scheduled.append(f"{name}, which was {value}, stays at {told[name]:g}")
        elif name not in NOT_TOLD:
            told[name] = value
    return told, scheduled
