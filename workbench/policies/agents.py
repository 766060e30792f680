"""Agents that need no training: nothing, anything, and one action at a time."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from workbench.errors import RequestError
from workbench.policies.actor import Actor
from workbench.suggest import nearest_one

AgentName: TypeAlias = Literal["zero", "random", "sweep"]
AGENTS: tuple[AgentName, ...] = get_args(AgentName)

SWEEP_PERIOD_S = 4.0
"""How long the sweep moves one action dimension, and the period of its sine."""

FALLBACK_RATE_HZ = 30.0
"""The control rate of an environment that does not say its own."""


def make_agent(name: str, env: Any, *, seed: int | None = None) -> Actor:
    """Return a built-in agent for an environment.

    Args:
        name: `zero`, `random` or `sweep`.
        env: A plain or a batched environment; its action space and control rate are read.
        seed: Of the random agent; None draws one.

    Raises:
        RequestError: There is no such agent, or it cannot play these actions.
    """
    space = getattr(env, "single_action_space", env.action_space)
    if name == "random":
        return RandomAgent(space, seed=seed)
    if name == "zero":
        return ZeroAgent(space)
    if name == "sweep":
        return SweepAgent(space, control_rate(env))
    near = nearest_one(name, AGENTS)
    raise RequestError(
        f"there is no agent `{name}`; there are {', '.join(AGENTS)}.", hint=f"Did you mean {near}?" if near else ""
    )


def control_rate(env: Any) -> float:
    """Return how many actions an environment takes in a second of its own time."""
    core = getattr(env, "unwrapped", env)
    rate = getattr(core, "control_hz", None)
    period_s = getattr(core, "dt", None)
    if rate is None and isinstance(period_s, float) and period_s > 0:
        rate = 1 / period_s
    return float(rate or (getattr(core, "metadata", None) or {}).get("render_fps") or FALLBACK_RATE_HZ)


class ZeroAgent:
    """Does nothing: zero, or the bound nearest to it."""

    deterministic = True

    def __init__(self, space: Any) -> None:
        self._action = _rest(space, "zero")

    def act(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Return the same action for every row."""
        return np.stack([self._action] * len(observations))

    def reset(self, ids: Sequence[int] | None = None, *, streams: Sequence[int] | None = None) -> None:
        """Forget nothing."""


class RandomAgent:
    """Draws every action from the space, each row from its own stream."""

    deterministic = False

    def __init__(self, space: Any, *, seed: int | None = None) -> None:
        self._space = space
        self._entropy = int(np.random.SeedSequence(seed).generate_state(1)[0])
        self._rows: dict[int, Any] = {}

    def act(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Return one draw a row."""
        return np.stack([np.asarray(self._row(index).sample()) for index in range(len(observations))])

    def reset(self, ids: Sequence[int] | None = None, *, streams: Sequence[int] | None = None) -> None:
        """Start the given streams for the given rows."""
        for index, stream in zip(ids or (), streams or (), strict=False):
            self._rows[index] = self._start(stream)

    def _row(self, index: int) -> Any:
        if index not in self._rows:
            self._rows[index] = self._start(index)
        return self._rows[index]

    def _start(self, stream: int) -> Any:
        space = copy.deepcopy(self._space)
        space.seed(int(np.random.SeedSequence([self._entropy, stream]).generate_state(1)[0]))
        return space


class SweepAgent:
    """Moves one action dimension at a time between its bounds, the others at rest; of choices it makes each in turn."""

    deterministic = True

    def __init__(self, space: Any, rate_hz: float) -> None:
        self._rest = _rest(space, "sweep")
        self._rate_hz = rate_hz
        self._steps: dict[int, int] = {}
        self._choices = int(space.n) if type(space).__name__ == "Discrete" else 0
        if not self._choices:
            low, high = space.low.astype(np.float64), space.high.astype(np.float64)
            # A side without an end is taken to lie two units beyond the other, or one from zero.
            low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2, -1))
            high = np.where(np.isfinite(high), high, low + 2)
            self._middle, self._reach = (high + low).ravel() / 2, (high - low).ravel() / 2

    def act(self, observations: NDArray[Any]) -> NDArray[Any]:
        """Return each row's action at its own place in the sweep."""
        actions = np.stack([self._at(self._steps.get(index, 0)) for index in range(len(observations))])
        for index in range(len(observations)):
            self._steps[index] = self._steps.get(index, 0) + 1
        return actions

    def reset(self, ids: Sequence[int] | None = None, *, streams: Sequence[int] | None = None) -> None:
        """Begin the sweep again."""
        for index in self._steps if ids is None else ids:
            self._steps[index] = 0

    def _at(self, step: int) -> NDArray[Any]:
        turn, time_s = divmod(step / self._rate_hz, SWEEP_PERIOD_S)
        if self._choices:
            return self._rest + int(turn) % self._choices
        action = self._rest.copy()
        dimension = int(turn) % action.size
        wave = np.sin(2 * np.pi * time_s / SWEEP_PERIOD_S)
        action.flat[dimension] = self._middle[dimension] + self._reach[dimension] * wave
        return action


def _rest(space: Any, agent: str) -> NDArray[Any]:
    kind = type(space).__name__
    if kind == "Box":
        return np.clip(np.zeros(space.shape), space.low, space.high).astype(space.dtype)
    if kind == "Discrete":
        return np.asarray(space.start)
    raise RequestError(f"the agent `{agent}` cannot play a {kind} action space.", hint="Use --agent random.")
