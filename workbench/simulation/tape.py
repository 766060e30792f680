"""The last steps of an environment's copies, kept while they are stepped, so that what led to something can be seen.

A tape hangs itself into what steps the copies, keeps each step as it comes, and looks whether observations stay within
a limit. Nothing is copied that need not be: a step takes less than a microsecond more.
"""

from __future__ import annotations

import io
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from workbench import durable
from workbench.runs.recordings import EpisodeResult
from workbench.simulation.batch_env import BatchEnv
from workbench.simulation.episodes import StepArrays
from workbench.simulation.state_file import FIELDS, FORMAT, write_states

Array = NDArray[Any]

KEPT_BYTES = 16 * 2**20
"""Every copy is kept while that takes no more memory than this; else only those that are watched."""

STATE = mujoco.mjtState.mjSTATE_INTEGRATION
"""What a simulation goes on from."""

_PARTS = {
    "time": mujoco.mjtState.mjSTATE_TIME,
    "qpos": mujoco.mjtState.mjSTATE_QPOS,
    "qvel": mujoco.mjtState.mjSTATE_QVEL,
    "act": mujoco.mjtState.mjSTATE_ACT,
    "ctrl": mujoco.mjtState.mjSTATE_CTRL,
    "mocap_pos": mujoco.mjtState.mjSTATE_MOCAP_POS,
    "mocap_quat": mujoco.mjtState.mjSTATE_MOCAP_QUAT,
}


@dataclass(frozen=True)
class Large:
    """An observation beyond the limit."""

    copy: int
    step: int
    """The step of the copy's episode, counted from one."""
    index: int
    """Which number of the observation, counted through all of them."""
    value: float


@dataclass
class Row:
    """What is kept of one copy at one moment."""

    step: int
    """Steps of its episode; 0 for the state it began in."""
    state: Array | None = None
    """Its simulation, as `STATE` says; None where it has none."""
    reward: float = math.nan
    terms: Mapping[str, float] = field(default_factory=dict)
    action: Any = None
    observation: Any = None
    ending: EpisodeResult | None = None
    """How its episode ended with this step."""


@dataclass(frozen=True)
class Window:
    """The last steps of some copies, as arrays of one row a moment, one copy after the other."""

    arrays: Mapping[str, Array]
    """What a state recording holds, and `copy`, `action` and `observation` beside it."""
    episodes: tuple[EpisodeResult, ...]
    copies: tuple[int, ...]
    has_states: bool
    """Whether it can be played; else there are actions, observations and rewards alone."""

    def write(self, path: Path, about: Mapping[str, Any]) -> None:
        """Write a file, which is there as a whole or not at all.

        Args:
            path: Where.
            about: What it should say of itself.

        Raises:
            OSError: The disk is full or failed.
        """
        told = {**about, "episodes": [each.to_json() for each in self.episodes], "copies": list(self.copies)}
        buffer = io.BytesIO()
        write_states(buffer, {"format": FORMAT, **told}, self.arrays.items())
        durable.write_bytes(path, buffer.getvalue())


class Tape(ABC):
    """Keeps the last steps of copies, and looks at their observations.

    Args:
        steps: How many steps of each copy.
        found: Called with an observation beyond the limit, while its step is the last one on the tape.
    """

    limit_square: float = math.inf
    """The square of the size that no number of an observation may exceed."""
    every: int = 1
    """Steps of all copies from one look to the next."""
    before: int = 0
    """Steps of all copies that were taken before the tape began, in an earlier life of a run."""

    def __init__(self, steps: int, found: Callable[[Large], None]) -> None:
        self.steps = steps
        self._found = found

    @abstractmethod
    def rows(self, copy: int, ending: str) -> Iterator[Row]:
        """Yield what is kept of a copy, oldest first; nothing where it is not kept.

        Args:
            copy: Which.
            ending: Why an episode ends that has not ended.
        """

    @property
    @abstractmethod
    def taken(self) -> int:
        """Steps of all copies so far, those before included."""

    @property
    @abstractmethod
    def model(self) -> Any:
        """The `MjModel` whose states are kept; None where there are none."""

    def window(self, copies: Iterable[int], ending: str) -> Window | None:
        """Return the last steps of some copies; None where nothing is kept of any.

        Args:
            copies: Which, those first that matter most.
            ending: Why the episodes end that have not ended.
        """
        kept = {copy: [row for row in self.rows(copy, ending) if _is_whole(row)] for copy in dict.fromkeys(copies)}
        kept = {copy: rows for copy, rows in kept.items() if rows}
        if not kept:
            return None
        rows = [row for lived in kept.values() for row in lived]
        episodes, number = [], []
        for lived in kept.values():
            for at, row in enumerate(lived):
                if at == 0 or lived[at - 1].ending is not None:
                    episodes.append(EpisodeResult(length=row.step, reason=ending))
                episodes[-1] = row.ending or EpisodeResult(episodes[-1].return_, row.step, ending)
                number.append(len(episodes) - 1)
        names = dict.fromkeys(name for row in rows for name in row.terms)
        arrays: dict[str, Array] = {
            "episode": np.array(number),
            "step": np.array([row.step for row in rows]),
            "copy": np.repeat(list(kept), [len(lived) for lived in kept.values()]),
            "reward": np.array([row.reward for row in rows]),
            **{f"reward_{name}": np.array([row.terms.get(name, math.nan) for row in rows]) for name in names},
        }
        for name in ("action", "observation"):
            arrays |= _stacked(name, [getattr(row, name) for row in rows])
        has_states = self.model is not None and all(row.state is not None for row in rows)
        if has_states:
            arrays |= split_states(self.model, np.array([row.state for row in rows]))
        return Window(arrays, tuple(episodes), tuple(kept), has_states)

    def look(self, observations: Array, first_copy: int, lengths: Sequence[int] | Array) -> None:
        """Tell of the first number beyond the limit in observations (n, …), if there is one.

        Args:
            observations: Of neighbouring copies.
            first_copy: The first of these.
            lengths: Steps of each one's episode (n,).
        """
        sizes = np.abs(observations).reshape(len(observations), -1)
        beyond = sizes > math.sqrt(self.limit_square)
        if beyond.any():
            copy, index = (int(at) for at in np.argwhere(beyond)[0])
            value = float(observations.reshape(len(observations), -1)[copy, index])
            self._found(Large(first_copy + copy, int(lengths[copy]), index, value))


class BatchTape(Tape):
    """The tape of a batched environment; every step of it goes through here from now on.

    Args:
        env: The environment.
        steps: How many steps.
        copies: Those that are kept whatever memory that takes.
        found: See `Tape`.
    """

    def __init__(self, env: BatchEnv[Any], steps: int, copies: Sequence[int], found: Callable[[Large], None]) -> None:
        super().__init__(steps, found)
        self._env = env
        self._state: Array = env.batch.state
        numbers = self._state.shape[1] + 2 * math.prod(env.observation_space.shape) + len(env.reward_names) + 8
        self._keeps_all = 8 * numbers * env.n_envs * steps <= KEPT_BYTES
        self._copies = np.arange(env.n_envs) if self._keeps_all else np.unique(copies)
        self._states = list(np.zeros((steps, len(self._copies), self._state.shape[1])))
        self._kept: list[_Step] = [_NOTHING] * steps
        self._count = 0
        self._asked: Any = None
        """The actions of the newest step, which is not on the tape where it failed."""
        self._fresh: Array | None = np.arange(env.n_envs)
        """Copies that may begin an episode with the next step."""
        self._starts: dict[int, Array] = {}
        """The states in which they begin it."""
        setattr(env, "advance", self._make_step())  # noqa: B010 (a method of one object)

    @property
    def taken(self) -> int:
        """Steps of all copies so far."""
        return self.before + self._count

    @property
    def model(self) -> Any:
        """The model of all copies."""
        return self._env.model

    def rows(self, copy: int, ending: str) -> Iterator[Row]:
        """Yield what is kept of a copy; the step that failed is the last one, where its state is known."""
        places = np.flatnonzero(self._copies == copy)
        if not len(places):
            return
        place = int(places[0])
        counts = range(max(0, self._count - self.steps), self._count)
        kept = [self._kept[count % self.steps] for count in counts]
        states = [self._states[count % self.steps][place].copy() for count in counts]
        failed = self._asked is not None and (not kept or self._asked is not kept[-1][1])
        # A simulation that MuJoCo itself gave up is where it was before.
        failed = failed and not (states and np.array_equal(states[-1], self._state[copy]))
        step = self._first_step(copy, kept, failed) - 1
        for at, (taken, state) in enumerate(zip(kept, states, strict=True)):
            step += 1
            if copy in taken[0]:
                step = 1
                yield self._start(taken[0][copy], kept[at - 1] if at else None, place)
            yield self._row(taken, step, place, copy, state)
        if not failed:
            return
        step += 1
        if copy in self._starts:
            step = 1
            yield self._start(self._starts[copy], kept[-1] if kept else None, place)
        so_far = EpisodeResult(float(self._env.returns()[copy]), step, ending)
        yield Row(step, self._state[copy].copy(), action=self._asked[copy], ending=so_far)

    def _first_step(self, copy: int, kept: Sequence[_Step], failed: bool) -> int:
        """Return which step of its episode the oldest one of a copy is."""
        for at, step in enumerate(kept):
            if copy in step[0]:
                # What came before is counted back from here, or there is nothing.
                return 1 - at
            for record in step[5].episodes:
                if record.copy == copy:
                    return int(record.length) - at
        return int(self._env.lengths[copy]) - failed - len(kept) + 1

    def _make_step(self) -> Callable[[Array], StepArrays]:
        """Return what steps the environment from now on; its names are local, for it is called millions of times."""
        env, advance, state, states, kept = self._env, self._env.advance, self._state, self._states, self._kept
        chosen = None if self._keeps_all else self._copies
        steps, copyto, none = self.steps, np.copyto, self._starts

        def step(actions: Array) -> StepArrays:
            if self._fresh is not None:
                self._begin()
            self._asked = actions
            result = advance(actions)
            at = self._count % steps
            self._count += 1
            # What a step returns is never written again, but for what the next episode begins with. A normaliser puts
            # other arrays into it.
            observations, rewards = result.observations, result.rewards
            if chosen is None:
                copyto(states[at], state)
            else:
                np.take(state, chosen, axis=0, out=states[at])
                observations, rewards = observations[chosen], rewards[chosen]
            kept[at] = (self._starts, actions, observations, rewards, result.final_observations, result)
            if self._starts is not none:
                self._starts = none
            if result.episodes:
                self._fresh = result.ended
            if env.square_sum > self.limit_square and self.taken % self.every == 0:
                self.look(result.observations, 0, env.lengths)
            return result

        return step

    def _begin(self) -> None:
        """Take in the states of the copies whose episodes begin with this step."""
        assert self._fresh is not None, "the caller looked"
        begun = self._fresh[self._env.lengths[self._fresh] == 0]
        self._starts = dict(zip(begun.tolist(), self._state[begun], strict=True))
        self._fresh = None

    def _start(self, state: Array, before: _Step | None, place: int) -> Row:
        # The environment writes what an episode begins with into what it returned for the last step of the one before.
        seen = before[2][place] if before is not None and self._keeps_all else None
        return Row(0, state, observation=seen)

    def _row(self, taken: _Step, step: int, place: int, copy: int, state: Array) -> Row:
        _, actions, observations, rewards, finals, result = taken
        observation, ending = observations[place], None
        for record, final in zip(result.episodes, finals, strict=True):
            if record.copy == copy:
                observation = final
                ending = EpisodeResult(record.ret, record.length, record.reason)
        terms = {name: float(values[copy]) for name, values in result.reward_terms.items()}
        return Row(step, state, float(rewards[place]), terms, actions[copy], observation, ending)


_Step = tuple[dict[int, Array], Array, Array, Array, Array, StepArrays]
"""States in which episodes begin with it, actions, observations, rewards, last observations, and all the rest of it."""

_NOTHING: Any = None


def split_states(model: Any, states: Array) -> dict[str, Array]:
    """Return the fields of a state recording from states (n, …) as `STATE` has them: its parts in the order of bits."""
    places: dict[str, slice] = {}
    start = 0
    for bit in range(int(mujoco.mjtState.mjNSTATE)):
        part = 1 << bit
        if not part & int(STATE):
            continue
        size = mujoco.mj_stateSize(model, part)
        for name, kind in _PARTS.items():
            if int(kind) == part:
                places[name] = slice(start, start + size)
        start += size
    shapes = {"time": (), "mocap_pos": (model.nmocap, 3), "mocap_quat": (model.nmocap, 4)}
    return {
        name: states[:, places[name]].reshape(len(states), *shapes.get(name, (places[name].stop - places[name].start,)))
        for name in FIELDS
    }


def _is_whole(row: Row) -> bool:
    """Whether a row can be shown: a simulation that blew up has no state any more."""
    return row.state is None or bool(np.isfinite(row.state).all())


def _stacked(name: str, values: list[Any]) -> dict[str, Array]:
    """Return arrays of one shape as rows of one array, with gaps where there is none; nothing for anything else."""
    shapes = {np.shape(value) for value in values if value is not None}
    if len(shapes) != 1:
        return {}
    gap = np.full(shapes.pop(), math.nan)
    return {name: np.array([gap if value is None else np.asarray(value, dtype=np.float64) for value in values])}
