"""A trained policy as something that acts: normaliser, network, and action map, all in NumPy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from workbench.errors import RequestError
from workbench.policies.checkpoint import Checkpoint
from workbench.policies.description import Description
from workbench.policies.network import Floats, Linear, Trunk
from workbench.policies.record import LayerNames, PolicyRecord
from workbench.simulation import EnvSource


@runtime_checkable
class Actor(Protocol):
    """Anything that answers observations with actions, a row for each copy of the environment."""

    deterministic: bool
    """Whether the same observations always give the same actions."""

    def act(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Return actions `(n, *action_shape)` for observations `(n, *observation_shape)`; row i is copy i."""
        ...

    def reset(self, ids: Sequence[int] | None = None, *, streams: Sequence[int] | None = None) -> None:
        """Tell that these copies begin an episode.

        Args:
            ids: The copies; None means all that were seen so far.
            streams: The number of each copy's random stream from here on. Where none is given the streams go on.
        """
        ...


@runtime_checkable
class Policy(Actor, Protocol):
    """Something that acts, and of which is known what it reads and gives."""

    @property
    def description(self) -> Description:
        """What is known of it."""
        ...


class Streams:
    """One random stream a row, so that what a row draws depends neither on its companions nor on its place.

    Args:
        seed: The seed of all streams; None draws one.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._entropy = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
        self._generators: dict[int, np.random.Generator] = {}

    def row(self, index: int) -> np.random.Generator:
        """Return the stream of one row; until it is told otherwise, a row's stream has the row's number."""
        if index not in self._generators:
            self._generators[index] = self._start(index)
        return self._generators[index]

    def restart(self, ids: Sequence[int], streams: Sequence[int]) -> None:
        """Start the streams of these numbers for these rows."""
        for index, stream in zip(ids, streams, strict=True):
            self._generators[index] = self._start(stream)

    def _start(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self._entropy, stream])


class PolicyActor:
    """The actor of a checkpoint.

    Args:
        checkpoint: What was read from disk.
        stochastic: Sample from the policy's distribution instead of taking its mode.
        seed: Of the sampling; None draws one.
        description: What is known of it, where that is more than the checkpoint's own record says.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        *,
        stochastic: bool = False,
        seed: int | None = None,
        description: Description | None = None,
    ) -> None:
        record, tensors = checkpoint.record, checkpoint.tensors
        self.checkpoint = checkpoint
        self.description = description or describe_checkpoint(checkpoint.path, record)
        self._record = record
        self._space = record.action_space
        self._network = record.network
        self.deterministic = not stochastic
        self._streams = Streams(seed)
        self._noise_maps: dict[int, Floats] = {}

        def layer(names: LayerNames) -> tuple[Floats, Floats]:
            return tensors[names[0]].astype(np.float32), tensors[names[1]].astype(np.float32)

        self._trunk = Trunk([layer(names) for names in self._network.trunk], self._network.activation)
        self._head = Linear(layer(self._network.head))
        log_std = self._network.log_std
        self._log_std_head = Linear(layer(log_std)) if log_std is not None and not isinstance(log_std, str) else None
        self._std = np.exp(tensors[log_std].astype(np.float32)) if isinstance(log_std, str) else np.float32(0)
        self._low, self._high = self._space.bounds()
        normalizer = record.normalizer
        self._clip = 0.0 if normalizer is None else normalizer.clip
        if normalizer is not None:
            self._mean = tensors["normalizer.mean"].ravel()
            self._scale = np.sqrt(tensors["normalizer.var"].ravel() + normalizer.epsilon)

    @property
    def deterministic(self) -> bool:
        """Whether the same observations always give the same actions: they do where there is nothing to sample from."""
        return self._deterministic

    @deterministic.setter
    def deterministic(self, value: bool) -> None:
        self._deterministic = value or self._network.distribution in ("deterministic", "values")

    @property
    def record(self) -> PolicyRecord:
        """What `policy.json` says of this policy."""
        return self._record

    def act(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Return actions for observations; a row's action does not depend on the other rows.

        Raises:
            RequestError: The observations are of another shape than the policy's.
        """
        features = self._trunk(self._inputs(np.asarray(observations)))
        outputs = self._head(features)
        if self._network.head_limit is not None:
            outputs = np.clip(outputs, -self._network.head_limit, self._network.head_limit)
        if self._network.distribution in ("categorical", "values"):
            return self._choices(outputs)
        if not self.deterministic and self._network.distribution == "gaussian":
            outputs = outputs + self._noise(features)
        return self._to_units(outputs).reshape(len(outputs), *self._space.shape)

    def reset(self, ids: Sequence[int] | None = None, *, streams: Sequence[int] | None = None) -> None:
        """Tell that these copies begin an episode; see `Actor.reset`."""
        if ids is None:
            self._noise_maps.clear()
            return
        if streams is not None:
            self._streams.restart(ids, streams)
        for index in ids:
            self._noise_maps.pop(index, None)

    def _inputs(self, observations: NDArray[Any]) -> Floats:
        space = self._record.observation_space
        if space.kind == "discrete":
            one_hot: Floats = np.eye(space.size, dtype=np.float32)[observations.astype(int).ravel()]
            return one_hot
        # A row of another length would be spread over all that the normaliser knows, and give actions all the same.
        if not observations.ndim or math.prod(observations.shape[1:]) != space.size:
            raise RequestError(
                f"observations of shape {observations.shape} are not ones of this policy: it reads "
                f"{('n', *space.shape)}, a row for each copy.".replace("'", ""),
                hint="A single observation is a row too: observation[None].",
            )
        rows = observations.reshape(len(observations), space.size)
        if self._record.normalizer is not None:
            # In double precision, as the statistics are, and as the learner's own normaliser does it.
            rows = np.clip((rows - self._mean) / self._scale, -self._clip, self._clip)
        return np.ascontiguousarray(rows, np.float32)

    def _choices(self, logits: Floats) -> NDArray[Any]:
        if not self.deterministic and self._network.distribution == "categorical":
            # The largest of the logits after Gumbel noise is a draw from their softmax.
            logits = logits + np.stack(
                [self._streams.row(row).gumbel(size=self._space.size) for row in range(len(logits))]
            )
        choices: NDArray[np.int64] = np.argmax(logits, axis=1)
        return choices

    def _noise(self, features: Floats) -> Floats:
        rows = range(len(features))
        if self._network.noise == "state_dependent":
            return np.stack([features[row] @ self._noise_map(row, features.shape[1]) for row in rows])
        noise = np.stack([self._streams.row(row).standard_normal(self._space.size, np.float32) for row in rows])
        if self._log_std_head is None:
            return noise * self._std
        log_std = self._log_std_head(features)
        if self._network.log_std_bounds is not None:
            log_std = np.clip(log_std, *self._network.log_std_bounds)
        return noise * np.exp(log_std)

    def _noise_map(self, row: int, features: int) -> Floats:
        if row not in self._noise_maps:
            draw = self._streams.row(row).standard_normal((features, self._space.size), np.float32)
            self._noise_maps[row] = draw * self._std
        return self._noise_maps[row]

    def _to_units(self, outputs: Floats) -> Floats:
        if self._record.action_map.squash:
            outputs = self._low + np.float32(0.5) * (np.tanh(outputs) + np.float32(1)) * (self._high - self._low)
        if self._record.action_map.clip:
            outputs = np.clip(outputs, self._low, self._high)
        return outputs


def describe_checkpoint(path: Path, record: PolicyRecord) -> Description:
    """Return what the record of a checkpoint says, as it is told of any policy."""
    return Description(
        path=path,
        kind="workbench",
        sha256=record.weights_sha256,
        algorithm=record.algorithm,
        steps=record.steps,
        environment=EnvSource.from_json(dict(record.environment)) if record.environment else None,
        observation_space=record.observation_space,
        action_space=record.action_space,
        control_period_s=record.control_period_s,
        observation_names=record.observation_names,
        action_names=record.action_names,
        versions=record.versions,
    )
