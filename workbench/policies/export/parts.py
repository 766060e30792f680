"""The parts of a policy that a program is built from: arrays, and what is done with them, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.policies.checkpoint import Checkpoint
from workbench.policies.network import Activation, Floats, Layer
from workbench.policies.record import LayerNames

Doubles = NDArray[np.float64]

FRESH, HELD = "at every step", "at the start of an episode, and held until its end"


@dataclass(frozen=True)
class Noise:
    """What a sampling program is given beside the observation."""

    shape: tuple[int, ...]
    """Of one row."""
    distribution: str
    """What each number is drawn from."""
    drawn: str
    """When."""


@dataclass(frozen=True)
class Normalizer:
    """Statistics in double precision, as the learner normalises with them."""

    mean: Doubles
    scale: Doubles
    """The square root of the variance and epsilon."""
    clip: float


class Parts:
    """The arrays of a checkpoint's actor, without its critics.

    Args:
        checkpoint: The checkpoint.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        record, tensors = checkpoint.record, checkpoint.tensors
        network = record.network

        def layer(names: LayerNames) -> Layer:
            return tensors[names[0]].astype(np.float32), tensors[names[1]].astype(np.float32)

        self.record = record
        self.trunk = [layer(names) for names in network.trunk]
        self.activation: Activation = network.activation
        self.head = layer(network.head)
        self.head_limit = network.head_limit
        self.is_choice = network.distribution in ("categorical", "values")
        self.is_distribution = network.distribution in ("categorical", "gaussian")
        self.std: Floats | None = None
        """Deviations that do not depend on the observation: one an action, or `(features, actions or 1)`."""
        self.log_std_head: Layer | None = None
        if isinstance(network.log_std, str):
            self.std = np.exp(tensors[network.log_std].astype(np.float32))
        elif network.log_std is not None:
            self.log_std_head = layer(network.log_std)
        self.log_std_bounds = network.log_std_bounds
        self.is_state_dependent = network.noise == "state_dependent"
        self.low, self.high = record.action_space.bounds() if not self.is_choice else (np.zeros(0, np.float32),) * 2
        self.squash, self.clip = record.action_map.squash, record.action_map.clip
        self.normalizer: Normalizer | None = None
        if record.normalizer is not None:
            variance = tensors["normalizer.var"].astype(np.float64).ravel()
            self.normalizer = Normalizer(
                tensors["normalizer.mean"].astype(np.float64).ravel(),
                np.sqrt(variance + record.normalizer.epsilon),
                float(record.normalizer.clip),
            )

    @property
    def observation_dtype(self) -> np.dtype[Any]:
        """The type of one number of an observation."""
        space = self.record.observation_space
        return np.dtype(np.int64 if space.kind == "discrete" else space.dtype)

    @property
    def action_dtype(self) -> np.dtype[Any]:
        """The type of one number of an action."""
        return np.dtype(np.int64 if self.is_choice else np.float32)

    @property
    def noise(self) -> Noise | None:
        """What sampling needs; None where the policy has no distribution to sample from."""
        size = self.record.action_space.size
        if not self.is_distribution:
            return None
        if self.is_choice:
            return Noise((size,), "the standard Gumbel distribution", FRESH)
        if self.is_state_dependent:
            features = self.head[0].shape[1]
            return Noise((features, size), "the standard normal distribution", HELD)
        return Noise((size,), "the standard normal distribution", FRESH)
