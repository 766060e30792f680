"""The observation normaliser that Stable-Baselines3 keeps in a file of its own, read as data."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import CheckpointError
from workbench.policies.opening.inert import class_of, plain, read_pickle

Moments = tuple[NDArray[np.float64], NDArray[np.float64]]

_CLASS = ".VecNormalize"
_NAMES = ("vecnormalize.pkl", "vec_normalize.pkl")
_RUNG = re.compile(r"(?P<prefix>.+)_(?P<steps>\d+)_steps")


@dataclass(frozen=True)
class Normalizer:
    """Running moments of observations, frozen."""

    path: Path
    """The file."""
    parts: Mapping[str, Moments]
    """Mean and variance; by name where an observation has parts, else under the empty name."""
    epsilon: float
    """Added to the variance."""
    clip: float
    """What normalised observations are cut at, either side of zero."""

    def moments(self) -> Moments:
        """Return mean and variance of observations without parts.

        Raises:
            CheckpointError: They have parts.
        """
        if "" not in self.parts:
            raise CheckpointError(f"{self.path} normalises {', '.join(self.parts)}, and the policy reads no parts.")
        return self.parts[""]

    def __call__(self, observations: Any) -> Any:
        """Return observations, or the parts of some, normalised as Stable-Baselines3 does it: in double precision."""
        if isinstance(observations, Mapping):
            return {
                name: self._apply(part, self.parts[name]) if name in self.parts else part
                for name, part in observations.items()
            }
        return self._apply(observations, self.moments())

    def _apply(self, values: Any, moments: Moments) -> NDArray[np.float32]:
        mean, variance = moments
        scaled = np.clip((values - mean) / np.sqrt(variance + self.epsilon), -self.clip, self.clip)
        return np.asarray(scaled, np.float32)


def find_normalizer(policy: Path, settings: Path | None = None) -> Path | None:
    """Return the file of the normaliser that belongs to a policy by its name and place, or None.

    Args:
        policy: The `.zip`.
        settings: The folder of settings of an RL-Zoo run.
    """
    rung = _RUNG.fullmatch(policy.stem)
    own = [f"{policy.stem}_vecnormalize.pkl"]
    if rung is not None:
        own.append(f"{rung['prefix']}_vecnormalize_{rung['steps']}_steps.pkl")
    folders = [policy.parent, *([] if settings is None else [settings])]
    places = [policy.parent / name for name in own] + [folder / name for folder in folders for name in _NAMES]
    return next((place for place in places if place.is_file()), None)


def read_normalizer(path: Path) -> Normalizer | None:
    """Read the file of a normaliser; None where it normalises rewards alone.

    Raises:
        CheckpointError: It is no such file, or is not whole.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror or error}.") from None
    value = read_pickle(content, str(path))
    found = class_of(value)
    if not found.endswith(_CLASS):
        raise CheckpointError(f"{path} is no VecNormalize of Stable-Baselines3 but {found or type(value).__name__}.")
    state = value.state
    try:
        if not plain(state.get("norm_obs", True)):
            return None
        statistics = state["obs_rms"]
        if isinstance(statistics, Mapping):
            parts = {str(name): _moments(one) for name, one in statistics.items()}
        else:
            parts = {"": _moments(statistics)}
        epsilon, clip = float(plain(state["epsilon"])), float(plain(state["clip_obs"]))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(f"{path} is no whole VecNormalize: {error}.") from None
    if not (clip > 0 and epsilon > 0 and math.isfinite(epsilon)):
        raise CheckpointError(f"{path} cuts at {clip:g} and adds {epsilon:g}; both must be above zero.")
    return Normalizer(path, parts, epsilon, clip)


def _moments(record: Any) -> Moments:
    mean, variance = (np.asarray(plain(record.state[name]), np.float64) for name in ("mean", "var"))
    if mean.shape != variance.shape:
        raise ValueError(f"its means are of shape {mean.shape} and its variances of {variance.shape}")
    if not (np.isfinite(mean).all() and np.isfinite(variance).all() and (variance >= 0).all()):
        raise ValueError("its statistics are not finite")
    return mean, variance
