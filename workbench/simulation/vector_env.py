"""A batched environment as a `gymnasium.vector.VectorEnv`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from workbench.simulation.batch_env import BatchEnv
from workbench.simulation.episodes import StepArrays
from workbench.simulation.gym_env import Picture


class BatchVectorEnv(VectorEnv[NDArray[np.float64], NDArray[np.float32], NDArray[Any]]):
    """All copies of a batched environment, stepped together, restarted in the step in which they end.

    Infos are laid out as `SyncVectorEnv` lays them out in that mode: arrays with masks, and `final_obs` and
    `final_info` for the copies that ended.

    Args:
        batch: The environment.
        render_mode: None or `rgb_array`.
    """

    def __init__(self, batch: BatchEnv[Any], render_mode: str | None = None) -> None:
        self.batch = batch
        self.render_mode = render_mode
        self._picture: Picture | None = None
        self.num_envs = batch.n_envs
        self.metadata = {
            "render_modes": ["rgb_array"],
            "render_fps": max(1, round(batch.control_hz)),
            "autoreset_mode": AutoresetMode.SAME_STEP,
        }
        self.single_observation_space = batch.observation_space
        self.single_action_space = batch.action_space
        self.observation_space = batch_space(batch.observation_space, batch.n_envs)
        self.action_space = batch_space(batch.action_space, batch.n_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Begin a new episode in every copy; an int seeds copy i with `seed + i`."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        return self.batch.reset(seed=seed), {}

    def step(
        self, actions: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Step every copy; those that end start anew in the same step."""
        result = self.batch.step_arrays(actions)
        return result.observations, result.rewards, result.terminated, result.truncated, self._infos(result)

    def render(self) -> tuple[Any, ...] | None:
        """Return a picture (height, width, 3) of every copy, or None without `rgb_array`."""
        if self.render_mode != "rgb_array":
            return None
        if self._picture is None:
            self._picture = Picture(self.batch.model, self.batch.follow_body)
        return tuple(self._picture.draw(self.batch.data(copy)) for copy in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Let simulations and renderer go."""
        if self._picture is not None:
            self._picture.close()
            self._picture = None
        self.batch.close()

    def _infos(self, result: StepArrays) -> dict[str, Any]:
        going = np.ones(self.num_envs, dtype=bool)
        going[result.ended] = False
        columns = {f"reward_{name}": value for name, value in result.reward_terms.items()} | result.infos
        infos: dict[str, Any] = {}
        if going.any():
            for name, value in columns.items():
                infos[name] = np.where(going.reshape(-1, *[1] * (value.ndim - 1)), value, np.zeros((), value.dtype))
                infos[f"_{name}"] = going.copy()
        if len(result.ended):
            infos["final_obs"] = np.full(self.num_envs, None, dtype=object)
            final_info: dict[str, Any] = {}
            for row, episode in enumerate(result.episodes):
                infos["final_obs"][episode.copy] = result.final_observations[row]
                last = {name: value[episode.copy] for name, value in columns.items()} | episode.ending()
                final_info = self._add_info(final_info, last, episode.copy)
            infos["_final_obs"] = ~going
            infos["final_info"] = final_info
            infos["_final_info"] = ~going
        return infos
