"""An environment as the checks handle it: one copy, batched or plain, with its model where it has one."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from workbench.errors import RequestError
from workbench.simulation import BatchEnv, EnvSource, make_batch, make_single
from workbench.simulation.mjcf import route_warnings

Floats = NDArray[np.float64]

WARNINGS = "workbench.simulation.mjcf"
"""The logger that MuJoCo's warnings go to."""


@dataclass(frozen=True)
class Step:
    """What one step gave."""

    observation: Floats
    """(o,)"""
    reward: float
    ending: str | None
    """Why the episode ended, if it did."""
    terms: Mapping[str, float] = field(default_factory=dict)
    """Each reward term by name; empty where the environment names none."""


class Rig(logging.Handler):
    """One copy of an environment, to be reset, stepped and looked into; counts what MuJoCo warns of meanwhile.

    Args:
        source: The environment.

    Raises:
        RequestError: Its actions are no box, or its observations are none.
        WorkbenchError: It cannot be made.
    """

    def __init__(self, source: EnvSource) -> None:
        super().__init__(logging.WARNING)
        self.source = source
        self.warnings: Counter[str] = Counter()
        """What MuJoCo has warned of, and how often."""
        route_warnings()
        logging.getLogger(WARNINGS).addHandler(self)
        self._batch: BatchEnv[Any] | None = None
        self._env: Any = None
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        self._batch = make_batch(self.source)
        self._env = make_single(self.source) if self._batch is None else self._batch
        actions, observations = self._env.action_space, self._env.observation_space
        if not hasattr(actions, "low") or not hasattr(observations, "low"):
            raise RequestError(
                f"{self.source.name} takes {type(actions).__name__} actions and gives "
                f"{type(observations).__name__} observations; a preview moves joints, which needs boxes of both."
            )
        self.low = np.nan_to_num(np.asarray(actions.low, np.float64).ravel(), neginf=-1.0)
        """Lowest actions (a,); -1 where there is no bound."""
        self.high = np.nan_to_num(np.asarray(actions.high, np.float64).ravel(), posinf=1.0)
        """Highest actions (a,); 1 where there is no bound."""
        self._shape = actions.shape
        self.action_names = list(getattr(self._batch, "action_names", ())) or [
            f"action {index}" for index in range(len(self.low))
        ]
        model = self._env.model if self._batch is not None else getattr(self._env.unwrapped, "model", None)
        self.model: Any = model if isinstance(model, mujoco.MjModel) else None
        """The compiled model; None where the environment has none."""

    @property
    def rest(self) -> Floats:
        """The action (a,) that does least: zero, cut at the bounds."""
        return np.clip(np.zeros(len(self.low)), self.low, self.high)

    @property
    def control_dt(self) -> float:
        """Simulated seconds in one step; one thirtieth where the environment does not say."""
        told = self._batch.control_dt if self._batch is not None else getattr(self._env.unwrapped, "dt", None)
        return float(told) if told else 1 / 30

    @property
    def data(self) -> Any:
        """The state as an `MjData` with derived fields current; None where the environment has no model."""
        if self._batch is not None:
            return self._batch.data(0)
        return self._env.unwrapped.data if self.model is not None else None

    def reset(self, seed: int) -> Floats:
        """Begin an episode and return its first observation (o,)."""
        if self._batch is not None:
            return np.array(self._batch.reset(seed=seed)[0], np.float64).ravel()
        return np.asarray(self._env.reset(seed=seed)[0], np.float64).ravel()

    def step(self, action: Floats) -> Step:
        """Take one step, and begin no new episode."""
        if self._batch is not None:
            result = self._batch.advance(action.reshape(1, *self._shape))
            terms = {name: float(values[0]) for name, values in result.reward_terms.items()}
            ending = result.episodes[0].reason if len(result.ended) else None
            return Step(np.array(result.observations[0], np.float64).ravel(), float(result.rewards[0]), ending, terms)
        shaped = action.reshape(self._shape).astype(self._env.action_space.dtype)
        observation, reward, terminated, truncated, info = self._env.step(shaped)
        ending = None
        if terminated or truncated:
            key, plain = ("terminated_reason", "terminated") if terminated else ("truncated_reason", "time_limit")
            ending = str(info.get(key) or plain)
        terms = {
            key.removeprefix("reward_"): float(value)
            for key, value in info.items()
            if key.startswith("reward_") and np.ndim(value) == 0
        }
        return Step(np.asarray(observation, np.float64).ravel(), float(reward), ending, terms)

    def emit(self, record: logging.LogRecord) -> None:
        """Count a warning."""
        self.warnings[record.getMessage()] += 1

    def close(self) -> None:
        """Let the environment go."""
        logging.getLogger(WARNINGS).removeHandler(self)
        if self._env is not None:
            self._env.close()
        super().close()

    def __enter__(self) -> Rig:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def joint_names(model: Any) -> list[str]:
    """Return what each joint is called; those without a name by their number."""
    return [model.joint(index).name or f"joint {index}" for index in range(model.njnt)]


def geom_name(model: Any, index: int) -> str:
    """Return what a geom is called: by its own name, else by its body's."""
    own = model.geom(index).name
    return own or f"a geom of {model.body(model.geom_bodyid[index]).name or 'the world'}"
