"""Policies whose critic sees more than their actor: Stable-Baselines3's own, the actor reading the first numbers alone.

An observation is what the actor sees, then what only the critic sees. Everything else is as Stable-Baselines3 has it,
names of parameters included, so that its own code trains them too.
"""

from __future__ import annotations

from typing import Any

from gymnasium import spaces
from stable_baselines3.common.policies import ActorCriticPolicy, BasePolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor, FlattenExtractor, MlpExtractor
from stable_baselines3.sac.policies import Actor as SACActor
from stable_baselines3.sac.policies import SACPolicy
from stable_baselines3.td3.policies import Actor as TD3Actor
from stable_baselines3.td3.policies import TD3Policy
from torch import Tensor, nn


class ActorExtractor(FlattenExtractor):
    """The first numbers of an observation.

    Args:
        observation_space: Of the whole observations.
        actor_size: How many.
    """

    def __init__(self, observation_space: spaces.Box, actor_size: int) -> None:
        super().__init__(observation_space)
        self._features_dim = actor_size

    def forward(self, observations: Tensor) -> Tensor:
        """Return the first numbers (rows, actor_size) of observations (rows, …)."""
        return super().forward(observations)[:, : self._features_dim]


class AsymmetricMlpExtractor(MlpExtractor):
    """Two perceptrons, the policy's over the first numbers of the features.

    Args:
        feature_dim: Numbers in an observation.
        actor_size: How many of them the policy reads.
        net_arch: As Stable-Baselines3 has it.
        activation_fn: After every layer.
        device: Where to.
    """

    def __init__(
        self,
        feature_dim: int,
        actor_size: int,
        net_arch: list[int] | dict[str, list[int]],
        activation_fn: type[nn.Module],
        device: Any = "auto",
    ) -> None:
        super().__init__(feature_dim, net_arch, activation_fn, device)
        narrow = MlpExtractor(actor_size, net_arch, activation_fn, device)
        self.policy_net, self.latent_dim_pi = narrow.policy_net, narrow.latent_dim_pi
        self.actor_size = actor_size

    def forward_actor(self, features: Tensor) -> Tensor:
        """Return what the policy's layers make of the first numbers (rows, latent)."""
        latent: Tensor = self.policy_net(features[:, : self.actor_size])
        return latent


class AsymmetricActorCriticPolicy(ActorCriticPolicy):
    """PPO's policy; `actor_size` is how many numbers of an observation its actor reads."""

    def __init__(self, *args: Any, actor_size: int, **keywords: Any) -> None:
        self._actor_size = actor_size
        super().__init__(*args, **keywords)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = AsymmetricMlpExtractor(
            self.features_dim, self._actor_size, self.net_arch, self.activation_fn, self.device
        )

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "actor_size": self._actor_size}


class AsymmetricSACPolicy(SACPolicy):
    """SAC's policy; `actor_size` is how many numbers of an observation its actor reads."""

    def __init__(self, *args: Any, actor_size: int, **keywords: Any) -> None:
        self._actor_size = actor_size
        super().__init__(*args, **keywords)

    def make_actor(self, features_extractor: BaseFeaturesExtractor | None = None) -> SACActor:
        """Return an actor that reads the first numbers."""
        return super().make_actor(_narrow(self, self._actor_size))

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "actor_size": self._actor_size}


class AsymmetricTD3Policy(TD3Policy):
    """TD3's policy; `actor_size` is how many numbers of an observation its actor reads."""

    def __init__(self, *args: Any, actor_size: int, **keywords: Any) -> None:
        self._actor_size = actor_size
        super().__init__(*args, **keywords)

    def make_actor(self, features_extractor: BaseFeaturesExtractor | None = None) -> TD3Actor:
        """Return an actor that reads the first numbers."""
        return super().make_actor(_narrow(self, self._actor_size))

    def _get_constructor_parameters(self) -> dict[str, Any]:
        return {**super()._get_constructor_parameters(), "actor_size": self._actor_size}


POLICIES: dict[str, type[BasePolicy]] = {
    "ppo": AsymmetricActorCriticPolicy,
    "sac": AsymmetricSACPolicy,
    "td3": AsymmetricTD3Policy,
}


def _narrow(policy: BasePolicy, actor_size: int) -> ActorExtractor:
    space = policy.observation_space
    assert isinstance(space, spaces.Box), "what a critic sees besides are numbers"
    return ActorExtractor(space, actor_size)
