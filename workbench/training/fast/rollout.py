"""Rollouts of PPO as arrays: the policy's actions step by step, everything else of the whole rollout at once.

Values, log-probabilities and the values of cut episodes' last observations do not change while the weights do not, so
they are computed when the rollout is complete.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.buffers import RolloutBuffer

from workbench.simulation import StepArrays
from workbench.training.fast.actor_critic import ActorCritic, Evaluation

Array = NDArray[Any]

BLOCK = 256
"""Observations whose values are computed at once."""

LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)


class Rollout:
    """One rollout of a policy, in the making. To be used within `one_thread` and inference mode.

    Args:
        network: Of the policy.
        buffer: Of Stable-Baselines3, filled as its own rollouts fill it.
        noise: (steps, n, a) standard normal: one draw for each action.
    """

    def __init__(self, network: ActorCritic, buffer: RolloutBuffer, noise: Array) -> None:
        self._network = network
        self._buffer = buffer
        self._noise = noise
        self._shifts = noise * np.exp(network.log_std.numpy())
        self._steps, self._n_envs = noise.shape[:2]
        self._means = Evaluation(network.perceptrons()[0], self._n_envs)
        self._actions = np.zeros_like(noise)
        self._cut: list[tuple[int, Array, Array]] = []
        empty(buffer)

    def act(self, step: int, observations: Array) -> Array:
        """Return actions (n, a), not clipped, for the observations of a step."""
        self._means.inputs[...] = observations.reshape(self._n_envs, -1)[:, : self._network.actor_size]
        self._buffer.observations[step] = observations
        actions: Array = self._actions[step]
        np.add(self._means(), self._shifts[step], out=actions)
        return actions

    def record(self, step: int, starts: Array, result: StepArrays) -> Array:
        """Take what the environment answered and return which copies begin an episode with the next step.

        Args:
            step: The step.
            starts: (n,), which copies began an episode with this one.
            result: The answer.
        """
        buffer = self._buffer
        buffer.rewards[step] = result.rewards
        buffer.episode_starts[step] = starts
        if not len(result.ended):
            return result.terminated
        cut = result.truncated[result.ended]
        if cut.any():
            self._cut.append((step, result.ended[cut], result.final_observations[cut]))
        ended: Array = result.terminated | result.truncated
        return ended

    def finish(self, last_observations: Array, starts: Array, gamma: float) -> None:
        """Compute values, log-probabilities, advantages and returns.

        Args:
            last_observations: (n, o), after the last step.
            starts: (n,), which copies begin an episode with them.
            gamma: What the value of a cut episode's last observation counts.
        """
        buffer = self._buffer
        buffer.actions[...] = self._actions.reshape(buffer.actions.shape)
        buffer.log_probs[...] = np.square(self._noise).sum(2) * np.float32(-0.5) - self._log_scale()
        finals = [observations for _, _, observations in self._cut]
        values = self._values([buffer.observations.reshape(-1, self._network.obs_size), last_observations, *finals])
        rows = self._steps * self._n_envs
        buffer.values[...] = values[:rows].reshape(buffer.values.shape)
        last_values, final_values = values[rows : rows + self._n_envs], values[rows + self._n_envs :]
        for step, copies, _ in self._cut:
            buffer.rewards[step, copies] += gamma * final_values[: len(copies)]
            final_values = final_values[len(copies) :]
        estimate_advantages(buffer, last_values, starts)
        buffer.pos, buffer.full = self._steps, True

    def _log_scale(self) -> float:
        log_std = self._network.log_std.numpy()
        return float(log_std.sum()) + len(log_std) * LOG_ROOT_TWO_PI

    def _values(self, parts: list[Array]) -> Array:
        """Return the values (rows,) of observations in several arrays (k, …)."""
        observations = np.concatenate([part.reshape(len(part), -1) for part in parts], dtype=np.float32)
        evaluate = Evaluation(self._network.perceptrons()[1], BLOCK)
        values = np.zeros(len(observations), np.float32)
        for start in range(0, len(observations), BLOCK):
            block = observations[start : start + BLOCK]
            # A row's value does not depend on the others, so that what is left in the last block does no harm.
            evaluate.inputs[: len(block)] = block
            values[start : start + BLOCK] = evaluate()[: len(block), 0]
        return values


def empty(buffer: RolloutBuffer) -> None:
    """Make a buffer ready for a rollout; it keeps its arrays where it can, and observations in single precision."""
    shape = (buffer.buffer_size, buffer.n_envs)
    if buffer.observations.dtype != np.float32 or buffer.observations.shape[:2] != shape or buffer.generator_ready:
        buffer.reset()
        buffer.observations = np.zeros((*shape, *buffer.obs_shape), np.float32)
    buffer.pos, buffer.full, buffer.generator_ready = 0, False, False


def estimate_advantages(buffer: RolloutBuffer, last_values: Array, starts: Array) -> None:
    """Fill `advantages` and `returns` as the buffer's own method does, operation for operation."""
    goes_on = np.empty_like(buffer.episode_starts)
    np.subtract(1.0, buffer.episode_starts[1:], out=goes_on[:-1])
    goes_on[-1] = 1.0 - starts.astype(np.float32)
    next_values = np.concatenate([buffer.values[1:], last_values[None]])
    deltas = buffer.rewards + buffer.gamma * next_values * goes_on - buffer.values
    decays = buffer.gamma * buffer.gae_lambda * goes_on
    last = np.zeros_like(last_values)
    product = np.empty_like(last)
    for delta, decay, advantage in zip(deltas[::-1], decays[::-1], buffer.advantages[::-1], strict=True):
        np.multiply(decay, last, out=product)
        last = np.add(delta, product, out=advantage)
    buffer.returns[...] = buffer.advantages + buffer.values
