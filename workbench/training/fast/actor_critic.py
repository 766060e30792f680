"""The policies of PPO whose gradients are written out here: two perceptrons and a diagonal Gaussian."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.distributions import DiagGaussianDistribution
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor, MlpExtractor
from torch import nn

from workbench.training.fast import flat as flat_parameters
from workbench.training.fast.asymmetric import AsymmetricActorCriticPolicy, AsymmetricMlpExtractor
from workbench.training.fast.flat import FlatParameters
from workbench.training.fast.perceptron import Pass, Perceptrons, parameters_in_order, read_layers


def why_not(policy: Any) -> str | None:
    """Return why the gradients of a policy are not those written out here, or None where they are."""
    if type(policy) not in (ActorCriticPolicy, AsymmetricActorCriticPolicy):
        return f"the policy is a {type(policy).__name__}"
    space = policy.observation_space
    if not isinstance(space, spaces.Box) or space.dtype is None or space.dtype.kind != "f":
        return "the observations are not vectors of real numbers"
    if type(policy.action_dist) is not DiagGaussianDistribution:
        return f"the actions come from a {type(policy.action_dist).__name__}"
    extractors = (policy.features_extractor, policy.pi_features_extractor, policy.vf_features_extractor)
    if any(type(extractor) is not FlattenExtractor for extractor in extractors):
        return "there is a features extractor of its own"
    if type(policy.mlp_extractor) not in (MlpExtractor, AsymmetricMlpExtractor) or None in _read(policy):
        return "the networks are not plain perceptrons"
    if not all(parameter.requires_grad for parameter in policy.parameters()):
        return "some parameters are frozen"
    return flat_parameters.why_not(policy.optimizer)


class ActorCritic:
    """The networks of a policy over flat parameters; see `why_not` for which.

    Args:
        policy: Stays what it is; its parameters become views.
    """

    def __init__(self, policy: ActorCriticPolicy) -> None:
        self.policy = policy
        self.log_std = policy.log_std
        self._layers, self._activations = zip(*cast(Any, _read(policy)), strict=True)
        layers = [[layer] for network in self._layers for layer in network]
        self.flat = FlatParameters([*parameters_in_order(layers), policy.log_std], policy.optimizer)
        self._identities = list(map(id, policy.parameters()))

    @property
    def obs_size(self) -> int:
        """Numbers in an observation."""
        return int(self._layers[1][0].in_features)

    @property
    def actor_size(self) -> int:
        """How many of them, from the first, the actor reads; the critic reads all."""
        return int(self._layers[0][0].in_features)

    @property
    def action_size(self) -> int:
        """Numbers in an action."""
        return self.log_std.numel()

    def perceptrons(self, flat: FlatParameters | None = None) -> tuple[Perceptrons, Perceptrons]:
        """Return the networks of the means and of the value, the gradients going into `flat`."""
        mean, value = (
            Perceptrons(flat or self.flat, [[layer] for layer in layers], activation)
            for layers, activation in zip(self._layers, self._activations, strict=True)
        )
        return mean, value

    def belongs_to(self, policy: nn.Module) -> bool:
        """Return whether these are still the networks of a policy."""
        return policy is self.policy and list(map(id, policy.parameters())) == self._identities


class Evaluation:
    """One of the networks forward, for a fixed number of rows.

    Args:
        perceptrons: The network.
        rows: How many observations at once.
    """

    def __init__(self, perceptrons: Perceptrons, rows: int) -> None:
        self.inputs: NDArray[Any] = np.zeros((rows, perceptrons.weights[0].shape[2]), np.float32)
        """(rows, o) float32, written before each call."""
        self._pass = Pass(perceptrons, torch.from_numpy(self.inputs))
        self._outputs: NDArray[Any] = self._pass.output[0].numpy()

    def __call__(self) -> NDArray[Any]:
        """Return the outputs (rows, outputs) for `inputs`, in the same array every time."""
        self._pass.forward()
        return self._outputs


def _read(policy: ActorCriticPolicy) -> list[tuple[list[nn.Linear], type[nn.Module]] | None]:
    """Return the layers and the activation of both networks, their heads last."""
    trunks = (policy.mlp_extractor.policy_net, policy.mlp_extractor.value_net)
    heads = (policy.action_net, policy.value_net)
    return [read_layers([*trunk, head]) for trunk, head in zip(trunks, heads, strict=True)]
