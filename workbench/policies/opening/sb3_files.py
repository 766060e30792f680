"""A `.zip` of Stable-Baselines3 as something that acts: on NumPy where its network is plain, else by its classes."""

from __future__ import annotations

import contextlib
import importlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.errors import CheckpointError, RequestError, WorkbenchError
from workbench.policies.actor import Policy, PolicyActor
from workbench.policies.description import Description
from workbench.policies.opening.archive import Archive
from workbench.policies.opening.inert import NeedsTrustError, path_of, plain
from workbench.policies.opening.manifests import Told
from workbench.policies.opening.normalizer import Normalizer, read_normalizer
from workbench.policies.opening.plain_networks import NotPlainError, Saved, read_network
from workbench.policies.opening.recorded_spaces import read_space
from workbench.policies.opening.torch_policies import TorchActor, build_policy
from workbench.policies.record import AlgorithmName
from workbench.policies.spaces import describe_space
from workbench.simulation import EnvSource

_NOT_TO_ACT: Mapping[str, Any] = {
    "learning_rate": 0.0,
    "lr_schedule": lambda progress: 0.0,
    "clip_range": lambda progress: 0.2,
    "clip_range_vf": None,
    "exploration_schedule": lambda progress: 0.0,
    "ep_info_buffer": None,
    "ep_success_buffer": None,
    "_last_obs": None,
    "_last_original_obs": None,
    "_last_episode_starts": None,
    "action_noise": None,
    "replay_buffer_class": None,
    "replay_buffer_kwargs": {},
    "rollout_buffer_class": None,
    "rollout_buffer_kwargs": {},
    "buffer_size": 1,
    "tensorboard_log": None,
    "env": None,
}
"""Settings that are not loaded even from a trusted file: nothing that acts needs them."""


_CONTRIBUTED = {
    "common.maskable": "MaskablePPO",
    "qrdqn": "QRDQN",
    "crossq": "CrossQ",
    "ars": "ARS",
    "tqc": "TQC",
}
"""Learners of sb3-contrib by the module of their policies."""


def open_sb3(
    path: Path,
    *,
    environment: EnvSource | None,
    normalizer: Path | None,
    told: Told,
    trust: bool,
    tell: Callable[[str], None],
    stochastic: bool,
    seed: int | None,
) -> Policy:
    """Return the actor of a `.zip`.

    Args:
        path: The file.
        environment: Where it is to act.
        normalizer: The file of what its observations go through.
        told: What a manifest beside it says.
        trust: Whether what cannot be read as data may be run.
        tell: Told what is run, before it is.
        stochastic: Sample actions instead of taking the policy's best.
        seed: Of the sampling; None draws one.

    Raises:
        CheckpointError: It is not whole, or cannot be read without running what it holds.
    """
    archive = Archive(path)
    moments = None if normalizer is None else read_normalizer(normalizer)
    known = Description(
        path=path,
        kind="sb3",
        sha256=archive.sha256,
        algorithm=algorithm_of(archive),
        steps=steps_of(archive),
        environment=environment,
        control_period_s=told.control_period_s,
        observation_names=told.observation_names,
        action_names=told.action_names,
        versions=archive.versions,
        normalizer=None if moments is None else normalizer,
    )
    try:
        return _open_as_data(archive, known, moments, stochastic=stochastic, seed=seed)
    except NeedsTrustError as refusal:
        if not trust:
            raise
        model = _load_trusted(archive, refusal, tell)
    known = _with_spaces(replace(known, algorithm=type(model).__name__.lower()), *_spaces_of(model))
    _require_shape(moments, model.observation_space, path)
    return TorchActor(model.policy, known, moments, stochastic=stochastic, seed=seed)


def _open_as_data(
    archive: Archive, known: Description, moments: Normalizer | None, *, stochastic: bool, seed: int | None
) -> Policy:
    """Return the actor of a file of which nothing is run.

    Raises:
        CheckpointError: It is not whole, or cannot be read without running what it holds.
    """
    try:
        saved = read_saved(archive)
        known = _with_spaces(known, saved.observation_space, saved.action_space)
        _require_shape(moments, saved.observation_space, archive.path)
        try:
            checkpoint = read_network(saved, archive, moments)
        except NotPlainError:
            policy = build_policy(saved, archive.path)
            return TorchActor(policy, known, moments, stochastic=stochastic, seed=seed)
        return PolicyActor(checkpoint, stochastic=stochastic, seed=seed, description=known)
    except WorkbenchError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        # A setting may be anything, and each is used as what Stable-Baselines3 would have written.
        said = " ".join(str(error).split())[:160]
        raise CheckpointError(f"{archive.path}: its settings are not those of a policy: {said}.") from None


def read_saved(archive: Archive) -> Saved:
    """Return what a file holds of which an actor is made.

    Raises:
        CheckpointError: A part of it is missing, is not whole, or is no data.
    """
    policy_class = archive.get("policy_class")
    name = path_of(policy_class)
    if not name or "." not in name:
        raise CheckpointError(f"{archive.path} does not say what class its policy is of.")
    if ".recurrent." in name:
        raise CheckpointError(
            f"{archive.path} is a {name.rpartition('.')[2]}, which has a memory; policies here act on one observation."
        )
    keywords = archive.get("policy_kwargs") or {}
    if not isinstance(keywords, Mapping):
        raise CheckpointError(f"{archive.path}: the settings of its policy are no dictionary.")
    spaces = [
        read_space(archive.get(f"{what}_space"), f"{archive.path}: its {what}_space")
        for what in ("observation", "action")
    ]
    seed = plain(archive.get("seed"))
    return Saved(
        policy_class=name,
        algorithm=algorithm_of(archive),
        keywords={str(key): plain(value) for key, value in keywords.items()},
        use_sde=bool(archive.get("use_sde", False)),
        observation_space=spaces[0],
        action_space=spaces[1],
        tensors=archive.weights(),
        steps=steps_of(archive) or 0,
        seed=seed if isinstance(seed, int) else 0,
    )


def algorithm_of(archive: Archive) -> AlgorithmName:
    """Return what trained a policy, by the settings that only that has."""
    settings = archive.settings
    if "cg_max_steps" in settings:
        return "trpo"
    if "clip_range" in settings:
        return "ppo"
    if "top_quantiles_to_drop_per_net" in settings:
        return "tqc"
    if "target_entropy" in settings:
        return "sac"
    if "policy_delay" in settings:
        # DDPG is TD3 that does not wait, and does not smooth its targets.
        return "ddpg" if settings["policy_delay"] == 1 and not settings.get("target_noise_clip") else "td3"
    return "dqn" if "exploration_fraction" in settings else "a2c"


def steps_of(archive: Archive) -> int | None:
    """Return for how many steps a policy was trained."""
    steps = archive.settings.get("num_timesteps")
    return steps if isinstance(steps, int) and steps >= 0 else None


def _spaces_of(model: Any) -> tuple[Any, Any]:
    return model.observation_space, model.action_space


def _with_spaces(known: Description, observation: Any, action: Any) -> Description:
    spaces = []
    for space, what in ((observation, "observations"), (action, "actions")):
        try:
            spaces.append(describe_space(space, what))
        except RequestError:
            spaces.append(space)
    return replace(known, observation_space=spaces[0], action_space=spaces[1])


def _require_shape(normalizer: Normalizer | None, space: Any, path: Path) -> None:
    if normalizer is None:
        return
    for name, (mean, _) in normalizer.parts.items():
        part = space if name == "" else getattr(space, "spaces", {}).get(name)
        shape = getattr(part, "shape", None)
        if shape != mean.shape:
            what = f"`{name}`" if name else "observations"
            raise CheckpointError(
                f"{normalizer.path} does not belong to {path}: it normalises {what} of shape {mean.shape}, and the "
                f"policy reads {'none' if shape is None else f'shape {shape}'}.",
                hint="--normalizer FILE names another one, `--normalizer none` none.",
            )


def _load_trusted(archive: Archive, refusal: CheckpointError, tell: Callable[[str], None]) -> Any:
    """Load a model by Stable-Baselines3's own function, which runs what the file holds."""
    name, names = _model_class(archive), archive.names_of_code()
    lines = [f"  {setting}: {', '.join(found)}" for setting, found in names.items() if setting not in _NOT_TO_ACT]
    tell(
        f"{archive.path} is trusted: {refusal.message} It is loaded by {name}, and that imports and calls:\n"
        + "\n".join(lines)
    )
    module, _, kind = name.rpartition(".")
    try:
        learner = getattr(importlib.import_module(module), kind)
        with warnings.catch_warnings(), contextlib.suppress(Warning):
            warnings.simplefilter("ignore")
            return learner.load(archive.path, device="cpu", custom_objects=dict(_NOT_TO_ACT))
    except Exception as error:
        said = " ".join(str(error).split())[:200]
        raise CheckpointError(f"{archive.path} cannot be loaded by {name}: {type(error).__name__}: {said}") from error


def _model_class(archive: Archive) -> str:
    """Return the dotted name of the learner that loads a file."""
    names = " ".join(archive.names_of_code().get("policy_class", ()))
    for module, name in _CONTRIBUTED.items():
        if f"sb3_contrib.{module}." in names:
            return f"sb3_contrib.{name}"
    algorithm = algorithm_of(archive)
    return f"{'sb3_contrib' if algorithm in ('trpo', 'tqc') else 'stable_baselines3'}.{algorithm.upper()}"
