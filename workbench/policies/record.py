"""What `policy.json` says of a policy: everything needed to rebuild, run and judge it besides the weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveFloat, StringConstraints

from workbench.policies.network import Activation
from workbench.policies.spaces import SpaceRecord

FORMAT = 1
"""The version of the format written here, and the only one read."""

AlgorithmName = Literal["ppo", "sac", "td3", "a2c", "ddpg", "dqn", "tqc", "trpo"]

LayerNames = tuple[str, str]
"""The names of a layer's weight and bias among the tensors."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class NetworkRecord(_Record):
    """Which tensors make the actor, and how: a trunk, then a head that gives the action or its distribution."""

    trunk: tuple[LayerNames, ...]
    """Layers that the activation follows."""
    activation: Activation
    """What follows every layer of the trunk."""
    head: LayerNames
    """The last layer: mean, action or logits, one output an action element or choice."""
    distribution: Literal["gaussian", "deterministic", "categorical", "values"]
    """What the head's outputs are; of values the choice with the highest is taken."""
    log_std: str | LayerNames | None
    """A Gaussian's log standard deviation: a tensor, or a second head."""
    log_std_bounds: tuple[float, float] | None
    """What the second head's outputs are clamped to."""
    noise: Literal["independent", "state_dependent"]
    """Whether a sample's noise is drawn afresh at every step, or is a linear map of the trunk's features that is
    drawn once an episode."""
    head_limit: PositiveFloat | None
    """What the head's outputs are clamped to, either side of zero."""


class ActionMapRecord(_Record):
    """How the network's output becomes an action in the environment's units."""

    low: tuple[float | None, ...]
    """Lower bounds of the actions, flattened; null is minus infinity, empty for choices."""
    high: tuple[float | None, ...]
    """Upper bounds of the actions, flattened; null is infinity."""
    squash: bool
    """Through tanh, then from ±1 to the bounds."""
    clip: bool
    """Cut at the bounds."""


class NormalizerRecord(_Record):
    """How observations are normalised; mean and variance are the tensors `normalizer.mean` and `normalizer.var`."""

    epsilon: PositiveFloat
    """Added to the variance."""
    clip: PositiveFloat
    """What normalised observations are cut at, either side of zero."""


class PolicyRecord(_Record):
    """The contents of `policy.json`."""

    format: Literal[1]
    """The version of the format."""
    algorithm: AlgorithmName
    """What trained it; only policies of other tools are of others than PPO, SAC and TD3."""
    environment: Mapping[str, Any]
    """The environment it was trained on, as `run.json` has it."""
    observation_space: SpaceRecord
    """What it reads."""
    action_space: SpaceRecord
    """What it gives."""
    action_map: ActionMapRecord
    """From the network's output to the environment's units."""
    control_period_s: PositiveFloat | None
    """Simulated time between two actions; null where the environment does not say."""
    network: NetworkRecord
    """The actor's shape."""
    observation_names: tuple[str, ...]
    """One name an observation element; empty where the environment names none."""
    action_names: tuple[str, ...]
    """One name an action element; empty where the environment names none."""
    steps: NonNegativeInt
    """Environment steps it was trained for, the parent's included."""
    iteration: NonNegativeInt
    """Iterations it was trained for."""
    seed: int
    """The run's seed."""
    versions: Mapping[str, str]
    """Of the libraries it was trained with."""
    weights_sha256: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
    """Of `policy.safetensors`."""
    normalizer: NormalizerRecord | None
    """Null where observations go in as they are."""
