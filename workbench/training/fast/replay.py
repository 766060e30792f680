"""Replay rows: everything of a transition side by side in float32, gathered by one indexing call."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.buffers import ReplayBuffer
from torch import Tensor

Rows = NDArray[np.float32]

TAIL = 2
"""Columns of a row besides observation and action."""


class RowReplayBuffer(ReplayBuffer):
    """A replay buffer of Stable-Baselines3 whose arrays are views of one.

    A transition is two rows of `observation, action, 2 numbers`. The first row has the reward and 1 where the next
    state has a value, that is, where the episode did not terminate; a time limit does not end a value. The second
    row begins with the next observation, leaves room for an action to be written beside it, and has Stable-Baselines3's
    `dones` and `timeouts`. So observations, next observations, and either with actions are slices of what is gathered.

    The same calls of NumPy's global generator as in Stable-Baselines3 draw the same transitions.
    """

    rows: Rows
    """(size, copies, 2, columns)"""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        if self.optimize_memory_usage:
            raise ValueError("rows hold both observations of a transition; optimize_memory_usage has no room for that")
        columns = self.obs_size + self.action_dim + TAIL
        # Untouched pages of zeros take no memory until they are written.
        self._adopt(np.zeros((self.buffer_size, self.n_envs, 2, columns), np.float32))

    @property
    def obs_size(self) -> int:
        """Numbers in an observation."""
        return math.prod(self.obs_shape)

    @property
    def columns(self) -> int:
        """Numbers in a row."""
        return int(self.rows.shape[3])

    def add(
        self,
        obs: NDArray[Any],
        next_obs: NDArray[Any],
        action: NDArray[Any],
        reward: NDArray[Any],
        done: NDArray[Any],
        infos: list[dict[str, Any]],
    ) -> None:
        """Add one transition of every copy, as Stable-Baselines3 does."""
        cut = np.zeros(self.n_envs, bool)
        if self.handle_timeout_termination:
            cut[:] = [info.get("TimeLimit.truncated", False) for info in infos]
        self.add_arrays(obs, next_obs, action, reward, done, cut)

    def add_arrays(
        self,
        obs: NDArray[Any],
        next_obs: NDArray[Any],
        action: NDArray[Any],
        reward: NDArray[Any],
        done: NDArray[np.bool_],
        cut: NDArray[np.bool_],
    ) -> None:
        """Add one transition of every copy.

        Args:
            obs: (n, …)
            next_obs: (n, …), the last observation of an episode where it ended.
            action: (n, a), scaled to -1 to 1.
            reward: (n,)
            done: (n,), the episode ended, either way.
            cut: (n,), it was cut, and its last state has a value; ignored where time limits count as terminals.
        """
        n, size, width = self.n_envs, self.obs_size, self.obs_size + self.action_dim
        first, second = self.rows[self.pos].swapaxes(0, 1)
        first[:, :size] = obs.reshape(n, size)
        first[:, size:width] = action.reshape(n, self.action_dim)
        first[:, width] = reward
        second[:, :size] = next_obs.reshape(n, size)
        second[:, width] = done
        second[:, width + 1] = cut if self.handle_timeout_termination else 0
        first[:, width + 1] = 1 - second[:, width] * (1 - second[:, width + 1])
        self.pos += 1
        if self.pos == self.buffer_size:
            self.full = True
            self.pos = 0

    def gather(self, out: Tensor) -> None:
        """Draw transitions into `out` (2b, columns): the first rows of all of them, then the second rows."""
        count = len(out) // 2
        steps = np.random.randint(0, self.buffer_size if self.full else self.pos, size=count)
        copies = np.random.randint(0, high=self.n_envs, size=count)
        first = (steps * self.n_envs + copies) * 2
        torch.index_select(self._table, 0, torch.from_numpy(np.concatenate((first, first + 1))), out=out)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the views, which `rows` makes again."""
        views = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts", "_table")
        return {name: value for name, value in self.__dict__.items() if name not in views}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the views again."""
        self.__dict__.update(state)
        self._adopt(self.rows)

    def _adopt(self, rows: Rows) -> None:
        size, width = self.obs_size, self.obs_size + self.action_dim
        self.rows = rows
        self._table = torch.from_numpy(rows).view(-1, rows.shape[3])
        shape = (self.buffer_size, self.n_envs, *self.obs_shape)
        first, second = rows[:, :, 0], rows[:, :, 1]
        # Views, never copies, as only the last axis is split.
        self.observations = first[:, :, :size].reshape(shape)
        self.next_observations = second[:, :, :size].reshape(shape)
        self.actions = first[:, :, size:width]
        self.rewards = first[:, :, width]
        self.dones = second[:, :, width]
        self.timeouts = second[:, :, width + 1]
