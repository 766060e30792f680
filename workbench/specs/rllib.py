"""Recipes written for RLlib, put into Stable-Baselines3's words.

Only what an author wrote is translated; RLlib's own defaults are not brought along. What has no counterpart is
dropped with a word, never in silence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.errors import Problem
from workbench.specs.algorithms import Algorithm
from workbench.specs.fields import show
from workbench.specs.kinds import is_count
from workbench.suggest import nearest_one

NESTED = ("env_runners", "training", "train_batch_size_per_runner")
"""Keys of a ppo block that tell RLlib's shape."""

PPO_NAMES = {
    "lr": "learning_rate",
    "lambda_": "gae_lambda",
    "lambda": "gae_lambda",
    "clip_param": "clip_range",
    "vf_loss_coeff": "vf_coef",
    "entropy_coeff": "ent_coef",
    "grad_clip": "max_grad_norm",
    "minibatch_size": "batch_size",
    "sgd_minibatch_size": "batch_size",
    "num_epochs": "n_epochs",
    "num_sgd_iter": "n_epochs",
}
SAC_NAMES: dict[str, str | None] = {
    "lr": "learning_rate",
    "actor_lr": "learning_rate",
    "critic_lr": "learning_rate",
    "train_batch_size": "batch_size",
    "train_batch_size_per_learner": "batch_size",
    "num_steps_sampled_before_learning_starts": "learning_starts",
    "n_step": "n_steps",
    "target_network_update_freq": "target_update_interval",
    "grad_clip": None,
    "alpha_lr": None,
}
ROLLOUT_NAMES = ("train_batch_size", "train_batch_size_per_learner", "train_batch_size_per_runner")

DROPPED_TRAINING = {
    "kl_coeff": "a KL penalty has no counterpart; target_kl, which ends the epochs early, is the nearest",
    "kl_target": "a KL penalty has no counterpart; target_kl, which ends the epochs early, is the nearest",
    "use_kl_loss": "a KL penalty has no counterpart; target_kl, which ends the epochs early, is the nearest",
    "vf_clip_param": "it bounds the squared error there; clip_range_vf here bounds the change of the value",
    "use_critic": "there is always a critic",
    "use_gae": "advantages are always estimated by GAE",
    "vf_share_layers": "policy and value network are always apart",
    "shuffle_batch_per_epoch": "mini-batches are always shuffled",
}
DROPPED_RUNNERS = {
    "batch_mode": "rollouts have a fixed number of steps, and episodes go on across them",
    "rollout_fragment_length": "a rollout is n_steps of each copy",
    "sample_timeout_s": "copies step together in one process",
    "explore": "training always explores",
    "observation_filter": "set normalize_observations",
    "num_cpus_per_env_runner": "copies step together in one process",
    "num_gpus_per_env_runner": "copies step together in one process",
    "gym_env_vectorize_mode": "copies step together in one process",
}


@dataclass
class Translation:
    """A block in Stable-Baselines3's words, and what was said on the way."""

    block: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    """Which key of the file each translated field came from."""
    rollout_steps: int | None = None
    """Steps of one rollout over all copies, where the file gave that."""
    notes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def put(self, name: str, value: Any, origin: str) -> None:
        """Set a field; setting it twice is a problem."""
        if name in self.block:
            self.problems.append(Problem(origin, f"sets ppo.{name}, which ppo.{self.origins[name]} sets already"))
            return
        self.block[name] = value
        self.origins[name] = origin.removeprefix("ppo.")


def other_name(algorithm: Algorithm, name: str) -> str | None:
    """Say what RLlib's `name` is called here, or None where it is not one of RLlib's."""
    names: Mapping[str, str | None] = PPO_NAMES if algorithm == "ppo" else SAC_NAMES
    if name in names:
        ours = names[name]
        if ours is not None:
            return f"is RLlib's name; here it is {algorithm}.{ours}"
        return "is RLlib's and has no counterpart here"
    if algorithm == "ppo" and name in ROLLOUT_NAMES:
        return "is RLlib's name; here it is ppo.n_steps, steps of each copy: train_batch_size ÷ n_envs"
    if algorithm == "ppo" and name in DROPPED_TRAINING:
        return f"is RLlib's: {DROPPED_TRAINING[name]}"
    if name == "initial_alpha" and algorithm != "ppo":
        return f'is RLlib\'s name; here it is {algorithm}.ent_coef, as "auto_" and the value'
    if name in NESTED[:2] and algorithm != "ppo":
        return "is RLlib's shape, which is translated for ppo only; write Stable-Baselines3's names"
    return None


def is_nested(block: object) -> bool:
    """Say whether a ppo block has RLlib's shape."""
    return isinstance(block, Mapping) and any(key in block for key in NESTED)


def rollout_length(rollout_steps: int, n_envs: int) -> tuple[int, str | None]:
    """Return `n_steps` of each copy for a rollout of that many steps, and what to say where it was rounded up."""
    n_steps = max(1, math.ceil(rollout_steps / n_envs))
    if n_steps * n_envs == rollout_steps:
        return n_steps, None
    note = (
        f"train_batch_size {show(rollout_steps)} ÷ {show(n_envs)} copies is rounded up to ppo.n_steps {show(n_steps)}"
    )
    return n_steps, f"{note}: a rollout has {show(n_steps * n_envs)} steps"


def translate(block: Mapping[str, Any], n_envs: object) -> Translation:
    """Translate a ppo block of RLlib's shape.

    Args:
        block: The block; flat fields beside the nested ones are kept as they are.
        n_envs: Copies that the recipe names outside the block, if it does.
    """
    done = Translation()
    for name, value in block.items():
        if name not in NESTED:
            done.put(name, value, f"ppo.{name}")
    runners = _part(block, "env_runners", done)
    training = _part(block, "training", done)
    copies = _runners(runners, done)
    if "n_envs" not in done.block and not is_count(n_envs):
        if copies is not None:
            done.put("n_envs", copies, "ppo.env_runners")
    elif copies is not None:
        done.notes.append(f"ppo.env_runners would give {show(copies)} copies; n_envs, which the recipe sets, holds")
    for name, value in training.items():
        _training(name, value, done)
    _rollout(block, training, runners, done)
    if done.rollout_steps is not None and "n_steps" not in done.block:
        held = done.block.get("n_envs", n_envs)
        n_steps, note = rollout_length(done.rollout_steps, held if is_count(held) else 1)
        nested = "train_batch_size" in training
        done.put("n_steps", n_steps, "ppo.training.train_batch_size" if nested else "ppo.train_batch_size_per_runner")
        done.notes += [note] if note else []
    return done


def _part(block: Mapping[str, Any], name: str, done: Translation) -> Mapping[str, Any]:
    part = block.get(name, {})
    if isinstance(part, Mapping):
        return part
    done.problems.append(Problem(f"ppo.{name}", f"must be an object of fields, got {show(part)}"))
    return {}


def _runners(runners: Mapping[str, Any], done: Translation) -> int | None:
    known = ("num_env_runners", "num_envs_per_env_runner")
    counts: dict[str, int] = {}
    for name, value in runners.items():
        key = f"ppo.env_runners.{name}"
        if name in known:
            least = 0 if name == "num_env_runners" else 1
            if is_count(value, least):
                counts[name] = max(1, value)
            else:
                done.problems.append(Problem(key, f"must be a whole number of at least {least}, got {show(value)}"))
        elif name in DROPPED_RUNNERS:
            done.notes.append(f"{key} is dropped: {DROPPED_RUNNERS[name]}")
        else:
            near = nearest_one(name, (*known, *DROPPED_RUNNERS))
            done.problems.append(Problem(key, "has no translation", nearest=near))
    return math.prod(counts.values()) if counts else None


def _training(name: str, value: Any, done: Translation) -> None:
    key = f"ppo.training.{name}"
    keep: Mapping[str, str] = {**PPO_NAMES, "gamma": "gamma"}
    if name in keep:
        # Without a bound RLlib does not clip; here that is written out.
        done.put(keep[name], "inf" if name == "grad_clip" and value is None else value, key)
    elif name in DROPPED_TRAINING:
        done.notes.append(f"{key} is dropped: {DROPPED_TRAINING[name]}")
    elif name not in ROLLOUT_NAMES:
        near = nearest_one(name, (*keep, *DROPPED_TRAINING, *ROLLOUT_NAMES))
        done.problems.append(Problem(key, "has no translation", nearest=near))


def _rollout(
    block: Mapping[str, Any], training: Mapping[str, Any], runners: Mapping[str, Any], done: Translation
) -> None:
    each, whole = block.get("train_batch_size_per_runner"), training.get("train_batch_size")
    if each is not None and whole is not None:
        message = "and ppo.training.train_batch_size are the same setting: give only one of them"
        done.problems.append(Problem("ppo.train_batch_size_per_runner", message))
    elif whole is not None:
        if is_count(whole):
            done.rollout_steps = whole
        else:
            done.problems.append(_not_a_count("ppo.training.train_batch_size", whole))
    elif each is not None:
        count = runners.get("num_env_runners", 1)
        if not is_count(each):
            done.problems.append(_not_a_count("ppo.train_batch_size_per_runner", each))
        elif is_count(count, 0):
            done.rollout_steps = each * max(1, count)


def _not_a_count(key: str, value: object) -> Problem:
    return Problem(key, f"must be a whole number of at least 1, got {show(value)}")
