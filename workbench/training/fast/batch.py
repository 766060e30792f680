"""A batch of transitions in one buffer, and the slices of it that networks read."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.vec_env import VecNormalize
from torch import Tensor

from workbench.training.fast.replay import TAIL, RowReplayBuffer


class Batch:
    """Rows drawn from a replay buffer: `size` observations with their actions, then `size` next observations.

    Args:
        size: How many transitions.
        obs_size: Numbers in an observation.
        action_size: Numbers in an action.
    """

    def __init__(self, size: int, obs_size: int, action_size: int) -> None:
        width = obs_size + action_size
        self.size = size
        self.rows = torch.zeros(2 * size, width + TAIL)
        self.observations = self.rows[:, :obs_size]
        """(2 size, o): both halves."""
        self.pairs = self.rows[:size, :width]
        """(size, o + a): what a critic reads."""
        self.actions = self.rows[:size, obs_size:width]
        """(size, a): those that were taken."""
        self.own_pairs = torch.zeros(size, width)
        """(size, o + a): the same observations with the policy's own actions, once `write_own` has put them there."""
        self._own_observations, self._own_actions = self.own_pairs[:, :obs_size], self.own_pairs[:, obs_size:]
        self.next_pairs = self.rows[size:, :width]
        """(size, o + a): what a target reads, once the next actions are written."""
        self.next_actions = self.rows[size:, obs_size:width]
        """(size, a)"""
        self.action_columns = slice(obs_size, width)
        """Where in a pair the action is."""
        self.rewards = self.rows[:size, width]
        """(size,)"""
        self.discounts = self.rows[:size, width + 1]
        """(size,): what the next state's value counts; nothing after a terminal."""
        self._normalizer: VecNormalize | None = None
        self._offset = self._factor = torch.zeros(0)
        self._reward_factor = 1.0

    def begin(self, normalizer: VecNormalize | None) -> None:
        """Take the statistics that the next draws are normalised with.

        Args:
            normalizer: None where everything is used as it is.
        """
        self._normalizer = normalizer
        if normalizer is None:
            return
        if normalizer.norm_obs:
            statistics: Any = normalizer.obs_rms
            factor = 1 / np.sqrt(statistics.var + normalizer.epsilon)
            self._offset = torch.from_numpy(statistics.mean.astype(np.float32).ravel())
            self._factor = torch.from_numpy(factor.astype(np.float32).ravel())
        self._reward_factor = float(1 / np.sqrt(normalizer.ret_rms.var + normalizer.epsilon))

    def draw(self, buffer: ReplayBuffer, gamma: float) -> None:
        """Fill the rows with transitions, the same that `buffer.sample` would give now."""
        if isinstance(buffer, RowReplayBuffer):
            buffer.gather(self.rows)
            self.discounts.mul_(gamma)
            self._normalize()
            return
        samples = buffer.sample(self.size, env=self._normalizer)
        self.observations[: self.size] = samples.observations.flatten(1)
        self.observations[self.size :] = samples.next_observations.flatten(1)
        self.actions.copy_(samples.actions)
        self.rewards.copy_(samples.rewards[:, 0])
        discounts = gamma if samples.discounts is None else samples.discounts[:, 0]
        self.discounts.copy_((1 - samples.dones[:, 0]) * discounts)

    def write_own(self, actions: Tensor) -> None:
        """Fill `own_pairs` with the policy's actions (size, a)."""
        self._own_observations.copy_(self.observations[: self.size])
        self._own_actions.copy_(actions)

    def _normalize(self) -> None:
        normalizer = self._normalizer
        if normalizer is None:
            return
        if normalizer.norm_obs:
            self.observations.sub_(self._offset).mul_(self._factor)
            self.observations.clamp_(-normalizer.clip_obs, normalizer.clip_obs)
        if normalizer.norm_reward:
            self.rewards.mul_(self._reward_factor).clamp_(-normalizer.clip_reward, normalizer.clip_reward)
