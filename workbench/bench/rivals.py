"""The same task as others step it: Gymnasium's own environment where it has one, else ours as plain copies of it.

Either is stepped by the vector environments of Gymnasium and of Stable-Baselines3.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import gymnasium
import numpy as np

from workbench.catalog.published import published_table
from workbench.simulation import EnvSource, make_single
from workbench.simulation.mjcf import route_warnings

Kind = Literal["Gymnasium Sync", "Gymnasium Async", "SB3 Dummy", "SB3 Subproc"]
KINDS: tuple[Kind, ...] = get_args(Kind)

MOST_PROCESSES = 16
"""Copies in processes of their own, at most: with more they take the memory and each other's CPUs."""

_RENAMED = {
    "episode_steps": "max_episode_steps",
    "include_contact_in_observation": "include_cfrc_ext_in_observation",
}
"""What options of ours are called by `gymnasium.make`."""


@dataclass(frozen=True)
class Rival:
    """Makes one copy of a task as others have it; can be sent to another process."""

    source: EnvSource
    twin: str = ""
    """The ID of Gymnasium's environment; empty where it has none."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Of `gymnasium.make`."""

    @property
    def name(self) -> str:
        """What is stepped."""
        return self.twin or f"{self.source.name} as a gymnasium.Env"

    def __call__(self) -> gymnasium.Env[Any, Any]:
        """Return one copy."""
        return make_quietly(self.twin, **self.arguments) if self.twin else make_single(self.source)


def rival_of(source: EnvSource) -> Rival:
    """Return the task of a source as others have it: Gymnasium's, where it takes the same options."""
    twin = published_table().same_task.get(source.env_id)
    if twin is None:
        return Rival(source)
    arguments = {_RENAMED.get(key, key): value for key, value in source.env_cfg.items()}
    known = {"max_episode_steps", *inspect.signature(_constructor(twin)).parameters}
    return Rival(source, twin, arguments) if arguments.keys() <= known else Rival(source)


def _constructor(env_id: str) -> Any:
    from gymnasium.envs.registration import load_env_creator

    entry_point = gymnasium.spec(env_id).entry_point
    return load_env_creator(entry_point) if isinstance(entry_point, str) else entry_point


def make_quietly(env_id: str, **arguments: Any) -> gymnasium.Env[Any, Any]:
    """Return one of Gymnasium's environments, without what MuJoCo says of its model each time it is made."""
    route_warnings()
    logger = logging.getLogger(route_warnings.__module__)
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        return gymnasium.make(env_id, **arguments)
    finally:
        logger.setLevel(before)


class Stepped:
    """Copies of a rival under one of the vector environments, to be stepped by random actions.

    Args:
        rival: What is stepped.
        kind: By what.
        copies: How many.
    """

    def __init__(self, rival: Rival, kind: Kind, copies: int) -> None:
        self._env = _vector(rival, kind, copies)
        if kind.startswith("SB3"):
            self._env.seed(0)
            self._env.reset()
        else:
            self._env.reset(seed=0)
        space = self._env.action_space if kind.startswith("SB3") else self._env.single_action_space
        self._shape = (copies, *space.shape)
        self._low, self._high = (
            np.where(np.isfinite(bound), bound, one) for bound, one in ((space.low, -1.0), (space.high, 1.0))
        )
        self._random = np.random.default_rng(0)

    def draw(self, steps: int) -> Any:
        """Return actions (steps, copies, a) spread evenly over their space."""
        return self._random.uniform(self._low, self._high, (steps, *self._shape)).astype(np.float32)

    def drive(self, actions: Any) -> None:
        """Take one step an action of each copy."""
        step = self._env.step
        for each in actions:
            step(each)

    def close(self) -> None:
        """Let the copies and their processes go."""
        self._env.close()


def _vector(rival: Rival, kind: Kind, copies: int) -> Any:
    makers: list[Callable[[], gymnasium.Env[Any, Any]]] = [rival] * copies
    if kind == "Gymnasium Sync":
        return gymnasium.vector.SyncVectorEnv(makers)
    if kind == "Gymnasium Async":
        # Forking a process with threads of the simulator and of torch may never end.
        return gymnasium.vector.AsyncVectorEnv(makers, context="forkserver")
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

    # Its workers are forked from a server too, by its own choice.
    return DummyVecEnv(makers) if kind == "SB3 Dummy" else SubprocVecEnv(makers)
