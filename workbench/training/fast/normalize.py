"""Normalisation of observations and rewards with the statistics of `VecNormalize`, for steps as arrays too."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.running_mean_std import RunningMeanStd
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from workbench.simulation import StepArrays


class ArrayEnv(Protocol):
    """A vector environment whose steps are arrays."""

    num_envs: int

    def step_arrays(self, actions: NDArray[Any]) -> StepArrays:
        """Step all copies with actions, clipped to their bounds, and return arrays."""
        ...


class Normalizer(VecNormalize):
    """`VecNormalize`, which also steps arrays where what it wraps does.

    Attributes, statistics and order are those of Stable-Baselines3's: the return of the rewards is updated before it
    starts anew where an episode ended, observations are counted as they are after that start, and the last
    observations of episodes are normalised with the statistics of the step. `save` writes what its `load` reads.
    """

    old_final_observations: Any = None
    """The last observations of the episodes that ended with the last step, as the environment gave them."""

    def step_arrays(self, actions: NDArray[Any]) -> StepArrays:
        """Step all copies and return arrays, observations and rewards normalised and in single precision."""
        result: StepArrays = self.venv.step_arrays(actions)  # type: ignore[attr-defined]
        observations, rewards = result.observations, result.rewards.astype(np.float32)
        self.old_obs, self.old_reward, self.old_final_observations = observations, rewards, result.final_observations
        if self.training:
            if self.norm_obs:
                update(self.obs_rms, observations)  # type: ignore[arg-type]
            self.returns = self.returns * self.gamma + rewards
            update(self.ret_rms, self.returns)
        if self.norm_obs:
            scale = np.sqrt(self.obs_rms.var + self.epsilon)  # type: ignore[attr-defined]
            result.observations = self._scaled(observations, scale)
            if len(result.ended):
                result.final_observations = self._scaled(result.final_observations, scale)
        if self.norm_reward:
            scaled = rewards / math.sqrt(self.ret_rms.var + self.epsilon)
            rewards = np.minimum(np.maximum(scaled, -self.clip_reward), self.clip_reward)
        result.rewards = rewards  # type: ignore[assignment]
        if len(result.ended):
            self.returns[result.ended] = 0
        return result

    def save(self, save_path: str) -> None:
        """Write statistics and settings for `VecNormalize.load`, which need know nothing of this class."""
        plain = object.__new__(VecNormalize)
        plain.__dict__.update(self.__dict__)
        with Path(save_path).open("wb") as file:
            pickle.dump(plain, file)

    def _scaled(self, observations: NDArray[Any], scale: NDArray[np.float64]) -> NDArray[np.float32]:
        scaled = observations - self.obs_rms.mean  # type: ignore[attr-defined]
        scaled /= scale
        single: NDArray[np.float32] = scaled.clip(-self.clip_obs, self.clip_obs, out=scaled).astype(np.float32)
        return single


def steps_arrays(env: VecEnv) -> bool:
    """Return whether an environment steps arrays: by itself, for wrappers answer with what they wrap."""
    if isinstance(env, Normalizer):
        return (not env.norm_obs or isinstance(env.obs_rms, RunningMeanStd)) and steps_arrays(env.venv)
    return hasattr(type(env), "step_arrays")


def update(statistics: RunningMeanStd, rows: NDArray[Any]) -> None:
    """Count rows (n, …) in: the formulas of `RunningMeanStd.update` in fewer operations."""
    n = len(rows)
    before, total = statistics.count, statistics.count + n
    mean = rows[0] if n == 1 else np.add.reduce(rows, axis=0) / n
    delta = mean - statistics.mean
    step = delta * (n / total)
    variance = (statistics.var + delta * step) * (before / total)
    if n > 1:
        spread = rows - mean
        variance += np.add.reduce(np.multiply(spread, spread, out=spread), axis=0) / total
    statistics.mean = statistics.mean + step
    statistics.var = variance
    statistics.count = total
