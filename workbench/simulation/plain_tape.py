"""The tape of plain Gymnasium environments: with their states where they have a MuJoCo model, else without."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from gymnasium import spaces

from workbench.runs.recordings import EpisodeResult
from workbench.simulation.tape import KEPT_BYTES, STATE, Array, BatchTape, Large, Row, Tape

if TYPE_CHECKING:
    from workbench.simulation.sb3_env import GymVecEnv

_TERM = "reward_"
_STATE = int(STATE)


class PlainTape(Tape):
    """The tape of plain environments; every step of the copies it keeps goes through here from now on.

    Args:
        venv: The environments.
        steps: How many steps.
        copies: Those that are kept whatever memory that takes.
        found: See `Tape`.
    """

    def __init__(self, venv: GymVecEnv, steps: int, copies: Sequence[int], found: Callable[[Large], None]) -> None:
        super().__init__(steps, found)
        core: Any = venv.envs[0].unwrapped
        has_states = all(hasattr(core, name) for name in ("model", "data")) and isinstance(core.model, mujoco.MjModel)
        self._model = core.model if has_states else None
        self._size = size = 0 if self._model is None else mujoco.mj_stateSize(self._model, _STATE)
        space = venv.observation_space
        self._is_vector = isinstance(space, spaces.Box) and space.dtype.kind == "f"
        numbers = size + 8 + (math.prod(space.shape) if isinstance(space, spaces.Box) else 0)
        self._sees = isinstance(space, spaces.Box) and 8 * numbers * steps <= KEPT_BYTES
        keeps_all = self._sees and 8 * numbers * steps * venv.num_envs <= KEPT_BYTES
        self._kept: dict[int, deque[Row]] = {}
        self._returns: dict[int, float] = {}
        self._lengths: dict[int, int] = {}
        self._counts: dict[int, int] = {}
        for copy in range(venv.num_envs) if keeps_all else copies:
            env: Any = venv.envs[copy]
            # Each episode may have one row more than it has steps.
            self._kept[copy] = deque(maxlen=2 * steps)
            self._lengths[copy], self._counts[copy] = -1, 0
            env.step = partial(self._step, copy, env, env.step)
            env.reset = partial(self._reset, copy, env, env.reset)

    @property
    def taken(self) -> int:
        """Steps of all copies so far."""
        return self.before + max(self._counts.values(), default=0)

    @property
    def model(self) -> Any:
        """The model of the environments; None where they have none."""
        return self._model

    def rows(self, copy: int, ending: str) -> Iterator[Row]:
        """Yield what is kept of a copy."""
        kept = list(self._kept.get(copy, ()))
        steps = [at for at, row in enumerate(kept) if row.step]
        # The oldest step of the window, and the state that its episode began in where it is the first one.
        first = steps[-self.steps] if len(steps) >= self.steps else 0
        first -= first > 0 and kept[first - 1].step == 0
        if kept and kept[-1].step and kept[-1].ending is None:
            kept[-1] = replace(kept[-1], ending=EpisodeResult(self._returns[copy], kept[-1].step, ending))
        yield from kept[first:]

    def _reset(self, copy: int, env: Any, reset: Callable[..., Any], **asked: Any) -> Any:
        answer = reset(**asked)
        self._returns[copy], self._lengths[copy] = 0.0, 0
        self._kept[copy].append(Row(0, self._state(env), observation=self._seen(answer[0])))
        return answer

    def _step(self, copy: int, env: Any, step: Callable[[Any], Any], action: Any) -> Any:
        answer = step(action)
        seen, reward, terminated, truncated, info = answer
        self._lengths[copy] = length = self._lengths[copy] + 1
        self._returns[copy] += float(reward)
        terms = {
            key[len(_TERM) :]: float(value)
            for key, value in info.items()
            if key.startswith(_TERM) and isinstance(value, Real)
        }
        ending = None
        if terminated or truncated:
            kind = "terminated" if terminated else "truncated"
            ending = EpisodeResult(self._returns[copy], length, str(info.get(f"{kind}_reason") or kind))
        row = Row(length, self._state(env), float(reward), terms, np.array(action), self._seen(seen), ending)
        self._kept[copy].append(row)
        self._counts[copy] += 1
        if self._is_vector and np.vdot(seen, seen) > self.limit_square and self._is_look_due(copy):
            self.look(np.asarray(seen)[None], copy, (length,))
        return answer

    def _is_look_due(self, copy: int) -> bool:
        return (self.before + self._counts[copy]) % self.every == 0

    def _state(self, env: Any) -> Array | None:
        if self._model is None:
            return None
        state = np.empty(self._size)
        mujoco.mj_getState(self._model, env.unwrapped.data, state, _STATE)
        return state

    def _seen(self, observation: Any) -> Any:
        return np.array(observation) if self._sees else None


def make_tape(venv: Any, steps: int, copies: Sequence[int], found: Callable[[Large], None]) -> Tape | None:
    """Return the tape of a vector environment; None where nothing is known of how it steps.

    Args:
        venv: All copies, without a normaliser around them.
        steps: How many steps of each copy are kept.
        copies: Those that are kept whatever memory that takes.
        found: Called with an observation beyond the limit.
    """
    from workbench.simulation.sb3_env import BatchVecEnv, GymVecEnv

    if isinstance(venv, BatchVecEnv):
        return BatchTape(venv.env, steps, copies, found)
    return PlainTape(venv, steps, copies, found) if isinstance(venv, GymVecEnv) else None
