"""Policies of Stable-Baselines3 that are no plain perceptrons, run by its own classes, which are built from plain data.

Of the file come numbers, texts and tensors. Classes are those of the tables below, from the library that is installed.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from workbench.errors import CheckpointError, RequestError
from workbench.policies.actor import Streams
from workbench.policies.description import Description
from workbench.policies.opening.inert import NeedsTrustError, path_of
from workbench.policies.opening.normalizer import Normalizer
from workbench.policies.opening.plain_networks import Saved

_POLICIES = {
    f"stable_baselines3.{module}.policies.{name}"
    for module, names in {
        "common": ("ActorCriticPolicy", "ActorCriticCnnPolicy", "MultiInputActorCriticPolicy"),
        "sac": ("SACPolicy", "CnnPolicy", "MultiInputPolicy"),
        "td3": ("TD3Policy", "CnnPolicy", "MultiInputPolicy"),
        "dqn": ("DQNPolicy", "CnnPolicy", "MultiInputPolicy"),
    }.items()
    for name in names
}
_EXTRACTORS = {
    f"stable_baselines3.common.torch_layers.{name}" for name in ("FlattenExtractor", "NatureCNN", "CombinedExtractor")
}
# fmt: off
_ACTIVATIONS = {
    f"torch.nn.modules.activation.{name}" for name in (
        "CELU", "ELU", "GELU", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "Mish", "ReLU", "ReLU6", "SELU",
        "SiLU", "Sigmoid", "Softplus", "Softsign", "Tanh",
    )
} | {"torch.nn.modules.linear.Identity"}
_PLAIN_KEYWORDS = frozenset({
    "net_arch", "ortho_init", "log_std_init", "full_std", "use_expln", "squash_output", "features_extractor_kwargs",
    "share_features_extractor", "normalize_images", "clip_mean", "n_critics",
})
_NOT_TO_ACT = frozenset({"optimizer_class", "optimizer_kwargs", "device", "use_sde", "sde_net_arch"})
# fmt: on
"""Keywords that change nothing of how a policy acts, or that are given from elsewhere."""

_SMALL = 1024
"""Sizes above it must be those of some tensor, so that no layer is made larger than what the file fills it with."""

_CRITIC = ("critic", "value_net", "mlp_extractor.value_net", "vf_features_extractor", "q_net_target")
_ALIASES = ("pi_features_extractor.", "vf_features_extractor.")


class TorchActor:
    """The actor of a policy that needs torch.

    Each row is computed by itself: how a sum is rounded depends on how many rows there are.

    Args:
        policy: A policy of Stable-Baselines3.
        description: What is known of it.
        normalizer: What its observations go through.
        stochastic: Sample actions instead of taking the policy's best.
        seed: Of the sampling; None draws one.
    """

    def __init__(
        self,
        policy: Any,
        description: Description,
        normalizer: Normalizer | None,
        *,
        stochastic: bool = False,
        seed: int | None = None,
    ) -> None:
        self.description = description
        self._policy = policy
        self._normalizer = normalizer
        self._streams = Streams(seed)
        self._deterministic = True
        self.deterministic = not stochastic

    @property
    def deterministic(self) -> bool:
        """Whether the same observations always give the same actions."""
        return self._deterministic

    @deterministic.setter
    def deterministic(self, value: bool) -> None:
        if not value and getattr(self._policy, "use_sde", False):
            raise RequestError(
                f"{self.description.path} draws a map of its features for its noise, which only a perceptron can here.",
                hint="Leave out --stochastic.",
            )
        self._deterministic = value

    def act(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Return actions for observations; those with parts are dictionaries, one a row."""
        return np.stack([self._act(row, observation) for row, observation in enumerate(observations)])

    def reset(self, ids: Sequence[int] | None = None, *, streams: Sequence[int] | None = None) -> None:
        """Tell that these copies begin an episode; see `Actor.reset`."""
        if ids is not None and streams is not None:
            self._streams.restart(ids, streams)

    def _act(self, row: int, observation: Any) -> Any:
        import torch

        normalized = observation if self._normalizer is None else self._normalizer(observation)
        if self._deterministic:
            return self._policy.predict(normalized, deterministic=True)[0]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(self._streams.row(row).integers(2**63)))
            return self._policy.predict(normalized, deterministic=False)[0]


def build_policy(saved: Saved, path: Any) -> Any:
    """Return a policy of Stable-Baselines3 with the weights of a file.

    Args:
        saved: What the file holds.
        path: The file, for the sentence that refuses it.

    Raises:
        CheckpointError: Its class, or a setting of it, is none of Stable-Baselines3's own, or its weights do not fit.
    """
    if saved.policy_class not in _POLICIES:
        raise NeedsTrustError(
            f"{path} needs the class {saved.policy_class}, which is not one of Stable-Baselines3's own policies.",
            hint="If you trust whoever made it, --trust imports that class.",
        )
    import torch

    keywords = _keywords(saved, path)
    try:
        with torch.random.fork_rng(devices=[]):
            policy = _imported(saved.policy_class)(
                saved.observation_space, saved.action_space, lambda progress: 0.0, **keywords
            )
    except Exception as error:
        said = " ".join(str(error).split())[:200]
        raise CheckpointError(f"{path}: {saved.policy_class} cannot be made of its settings: {said}") from None
    _load(policy, {name: torch.from_numpy(np.array(value)) for name, value in saved.tensors.items()}, path)
    policy.set_training_mode(False)
    return policy


def _keywords(saved: Saved, path: Any) -> dict[str, Any]:
    sides = {side for tensor in saved.tensors.values() for side in tensor.shape}
    made: dict[str, Any] = {}
    for name, value in saved.keywords.items():
        if name in _NOT_TO_ACT:
            continue
        if name == "features_extractor_class":
            made[name] = _one_of(value, _EXTRACTORS, f"{path}: its features extractor")
        elif name == "activation_fn":
            made[name] = _one_of(value, _ACTIVATIONS, f"{path}: its activation")
        elif name in _PLAIN_KEYWORDS and _is_plain(value):
            made[name] = value
        else:
            what = path_of(value) or type(value).__name__
            raise NeedsTrustError(
                f"{path}: the setting {name} ({what}) of its policy is not known here.",
                hint="If you trust whoever made it, --trust lets Stable-Baselines3 load it.",
            )
    arch = made.get("net_arch")
    if isinstance(arch, list) and arch and isinstance(arch[0], dict):
        made["net_arch"] = arch[0]
    sizes = [*_widths(made.get("net_arch")), *_widths(made.get("features_extractor_kwargs"))]
    numbers = sum(math.prod(tensor.shape) for tensor in saved.tensors.values())
    choices = [*_choices(saved.observation_space), *_choices(saved.action_space)]
    if (
        not all(size <= _SMALL or size in sides for size in sizes)
        or not 0 < made.get("n_critics", 1) <= _SMALL
        or max(choices, default=0) > numbers
    ):
        raise CheckpointError(f"{path}: its weights are not of the layers that its settings name.")
    if saved.use_sde:
        made["use_sde"] = True
    return made


def _load(policy: Any, tensors: Mapping[str, Any], path: Any) -> None:
    own = policy.state_dict()
    # Policies that were saved before 1.7 name a shared extractor once.
    shared = {
        f"{alias}{name.removeprefix('features_extractor.')}": value
        for alias in _ALIASES
        for name, value in tensors.items()
        if name.startswith("features_extractor.") and f"{alias}{name.removeprefix('features_extractor.')}" in own
    }
    given = {**shared, **tensors}
    faults = [f"{name} is missing" for name in own if name not in given and not name.startswith(_CRITIC)]
    faults += [f"{name} is not of such a policy" for name in given if name not in own and not name.startswith(_CRITIC)]
    faults += [
        f"{name} has shape {tuple(given[name].shape)}, expected {tuple(value.shape)}"
        for name, value in own.items()
        if name in given and given[name].shape != value.shape
    ]
    if faults:
        raise CheckpointError(f"{path}: its weights are not those of its settings: {'; '.join(faults[:3])}.")
    policy.load_state_dict({name: value for name, value in given.items() if name in own}, strict=False)


def _one_of(value: Any, known: set[str], what: str) -> Any:
    name = path_of(value)
    if name not in known:
        raise NeedsTrustError(
            f"{what} {name or type(value).__name__} is not one of the library's own.",
            hint="If you trust whoever made it, --trust imports it.",
        )
    return _imported(name)


def _imported(path: str) -> Any:
    """Import a class of the tables above."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))


def _choices(space: Any) -> Iterator[int]:
    """Yield how many inputs or outputs the choices of a space take: no array of the file is as large as those."""
    if isinstance(space, spaces.Dict):
        for part in space.spaces.values():
            yield from _choices(part)
    elif not isinstance(space, spaces.Box):
        yield int(spaces.flatdim(space))


def _widths(value: Any) -> list[int]:
    if isinstance(value, Mapping):
        return [width for item in value.values() for width in _widths(item)]
    if isinstance(value, list | tuple):
        return [width for item in value for width in _widths(item)]
    return [value] if isinstance(value, int) else []
