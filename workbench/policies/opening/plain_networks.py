"""Policies of Stable-Baselines3 that are plain perceptrons, as the record and tensors that NumPy acts on.

What the tensors are called tells the network; which activation lies between them, and what becomes of the last
outputs, is what the settings say, else what Stable-Baselines3 takes where nobody says anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from workbench.policies.checkpoint import Checkpoint, Tensors, check_tensors
from workbench.policies.network import Activation
from workbench.policies.opening.archive import Archive
from workbench.policies.opening.inert import path_of
from workbench.policies.opening.normalizer import Normalizer
from workbench.policies.record import (
    ActionMapRecord,
    AlgorithmName,
    LayerNames,
    NetworkRecord,
    NormalizerRecord,
    PolicyRecord,
)
from workbench.policies.sb3 import LOG_STD_BOUNDS
from workbench.policies.spaces import SpaceRecord, describe_space

Family = Literal["actor_critic", "sac", "td3", "dqn"]

PERCEPTRONS: Mapping[str, Family] = {
    "stable_baselines3.common.policies.ActorCriticPolicy": "actor_critic",
    "stable_baselines3.ppo.policies.ActorCriticPolicy": "actor_critic",
    "stable_baselines3.sac.policies.SACPolicy": "sac",
    "stable_baselines3.td3.policies.TD3Policy": "td3",
    "stable_baselines3.dqn.policies.DQNPolicy": "dqn",
    # Its actor is SAC's.
    "sb3_contrib.tqc.policies.TQCPolicy": "sac",
}
"""Policy classes whose actor is a perceptron unless the settings say otherwise."""

_FLAT = "stable_baselines3.common.torch_layers.FlattenExtractor"
_ACTIVATIONS: Mapping[str, Activation] = {
    "Tanh": "tanh",
    "ReLU": "relu",
    "ELU": "elu",
    "LeakyReLU": "leaky_relu",
    "SiLU": "silu",
    "Sigmoid": "sigmoid",
    "SELU": "selu",
}
_CLIP_MEAN = 2.0
"""What SAC cuts its means at where its noise depends on the state."""


@dataclass(frozen=True)
class Saved:
    """What a file of Stable-Baselines3 holds, read as data."""

    policy_class: str
    """Its dotted name."""
    algorithm: AlgorithmName
    """What trained it, as far as the settings tell it apart."""
    keywords: Mapping[str, Any]
    """Of the policy's constructor, as plain data and records."""
    use_sde: bool
    """Whether its noise depends on the state."""
    observation_space: Any
    """A `gymnasium.Space`."""
    action_space: Any
    """A `gymnasium.Space`."""
    tensors: Tensors
    """By their names in Stable-Baselines3."""
    steps: int
    """Environment steps it was trained for."""
    seed: int
    """The seed; 0 where it had none."""


class NotPlainError(Exception):
    """The network is none that NumPy runs."""


def read_network(saved: Saved, archive: Archive, normalizer: Normalizer | None) -> Checkpoint:
    """Return a policy as a checkpoint.

    Args:
        saved: What the file holds.
        archive: The file; its path, digest and versions are taken.
        normalizer: What its observations go through.

    Raises:
        NotPlainError: It is no plain perceptron on a vector of numbers or a choice.
        CheckpointError: Its tensors do not fit together.
    """
    family = PERCEPTRONS.get(saved.policy_class)
    extractor = path_of(saved.keywords.get("features_extractor_class"))
    if family is None or extractor not in ("", _FLAT):
        raise NotPlainError
    spaces = (saved.observation_space, saved.action_space)
    if any(type(space).__name__ not in ("Box", "Discrete") for space in spaces) or _is_image(spaces[0]):
        raise NotPlainError
    # Choices that do not count from zero are refused with the sentence that says so.
    observation, action = describe_space(spaces[0], "observations"), describe_space(spaces[1], "actions")
    network = _describe(family, saved, action)
    squash = action.kind == "box" and (family in ("sac", "td3") or bool(saved.keywords.get("squash_output")))
    tensors = dict(saved.tensors)
    if isinstance(network.log_std, str) and saved.keywords.get("use_expln"):
        tensors[network.log_std] = np.log(_expln(tensors[network.log_std]))
    if normalizer is not None:
        tensors["normalizer.mean"], tensors["normalizer.var"] = normalizer.moments()
    record = PolicyRecord(
        format=1,
        algorithm=saved.algorithm,
        environment={},
        observation_space=observation,
        action_space=action,
        action_map=ActionMapRecord(
            low=action.low, high=action.high, squash=squash, clip=action.kind == "box" and not squash
        ),
        control_period_s=None,
        network=network,
        observation_names=(),
        action_names=(),
        steps=saved.steps,
        iteration=0,
        seed=saved.seed,
        versions=dict(archive.versions),
        weights_sha256=archive.sha256,
        normalizer=None if normalizer is None else NormalizerRecord(epsilon=normalizer.epsilon, clip=normalizer.clip),
    )
    check_tensors(archive.path, record, tensors)
    return Checkpoint(archive.path, record, tensors)


def _describe(family: Family, saved: Saved, action: SpaceRecord) -> NetworkRecord:
    tensors = saved.tensors
    activation = _activation(saved.keywords.get("activation_fn"), "tanh" if family == "actor_critic" else "relu")
    sde, box = saved.use_sde, action.kind == "box"
    if any(name.startswith(("features_extractor.", "pi_features_extractor.", "actor.features")) for name in tensors):
        raise NotPlainError
    head: LayerNames
    log_std: str | LayerNames | None = None
    limit = None
    if family == "actor_critic":
        # Before 1.8 the first layers could be those of the critic too.
        trunk = (*_chain(tensors, "mlp_extractor.shared_net"), *_chain(tensors, "mlp_extractor.policy_net"))
        head = ("action_net.weight", "action_net.bias")
        log_std = "log_std" if box else None
    elif family == "sac":
        trunk = _chain(tensors, "actor.latent_pi")
        clip_mean = float(saved.keywords.get("clip_mean", _CLIP_MEAN))
        limit = clip_mean if sde and clip_mean > 0 else None
        mean = "actor.mu" if limit is None else "actor.mu.0"
        head = (f"{mean}.weight", f"{mean}.bias")
        log_std = "actor.log_std" if sde else ("actor.log_std.weight", "actor.log_std.bias")
    else:
        layers = _chain(tensors, "actor.mu" if family == "td3" else "q_net.q_net")
        if not layers:
            raise NotPlainError
        trunk, head = layers[:-1], layers[-1]
    kind: Literal["gaussian", "deterministic", "categorical", "values"]
    kind = {"td3": "deterministic", "dqn": "values"}.get(family, "gaussian" if box else "categorical")  # type: ignore[assignment]
    return NetworkRecord(
        trunk=trunk,
        activation=activation,
        head=head,
        distribution=kind,
        log_std=log_std,
        log_std_bounds=LOG_STD_BOUNDS if isinstance(log_std, tuple) else None,
        noise="state_dependent" if sde and log_std is not None else "independent",
        head_limit=limit,
    )


def _chain(tensors: Tensors, prefix: str) -> tuple[LayerNames, ...]:
    """Return the linear layers of a sequence in which every other module is an activation."""
    pattern = re.compile(rf"{re.escape(prefix)}\.(\d+)\.(weight|bias)")
    found = {name: pattern.fullmatch(name) for name in tensors if name.startswith(f"{prefix}.")}
    if not all(found.values()):
        raise NotPlainError
    places = sorted({int(match[1]) for match in found.values() if match is not None})
    if places != list(range(0, 2 * len(places), 2)) or len(found) != 2 * len(places):
        raise NotPlainError
    return tuple((f"{prefix}.{place}.weight", f"{prefix}.{place}.bias") for place in places)


def _activation(value: Any, default: Activation) -> Activation:
    if value is None:
        return default
    module, _, name = path_of(value).rpartition(".")
    found = _ACTIVATIONS.get(name) if module == "torch.nn.modules.activation" else None
    if found is None or found not in get_args(Activation):
        raise NotPlainError
    return found


def _is_image(space: Any) -> bool:
    return space.shape is not None and len(space.shape) == 3 and space.dtype == np.uint8


def _expln(values: Any) -> Any:
    # Of gSDE (Raffin et al. 2021): exponential below zero, one more than the logarithm of one more above.
    below = np.exp(np.minimum(values, 0))
    return np.where(values > 0, np.log1p(np.maximum(values, 0)) + 1.0, below).astype(np.float32)
