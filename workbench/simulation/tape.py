"""The last steps of an environment's copies, kept while they are stepped, so that what led to something can be seen.

A tape hangs itself into what steps the copies, keeps each step as it comes, and looks whether observations stay within
a limit. Nothing is copied that need not be: a step takes about a microsecond more.
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
from workbench.simulation.episodes import Episode, StepArrays
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

    limit: float | None = None
    """Size that no number of an observation may exceed."""
    every: int = 1
    """Steps of all copies from one look to the next."""

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
        limit = self.limit
        # Where the sum of all squares is within the square of the limit, each number is within the limit.
        if limit is None or np.vdot(observations, observations) <= limit * limit:
            return
        sizes = np.abs(observations).reshape(len(observations), -1)
        beyond = sizes > limit
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
        self._advance = env.advance
        self._state: Array = env.batch.state
        numbers = self._state.shape[1] + 2 * math.prod(env.observation_space.shape) + len(env.reward_names) + 8
        keeps_all = 8 * numbers * env.n_envs * steps <= KEPT_BYTES
        self._copies = np.arange(env.n_envs) if keeps_all else np.unique(copies)
        self._keeps_all = keeps_all
        self._states = np.zeros((steps, len(self._copies), self._state.shape[1]))
        self._kept: list[_Step | None] = [None] * steps
        self._count = 0
        self._fresh: Array | None = np.arange(env.n_envs)
        """Copies that may begin an episode with the next step."""
        self._asked: tuple[Array, dict[int, Array]] | None = None
        """Actions of the step that is being taken, and the states in which episodes begin with it."""
        setattr(env, "advance", self._take)  # noqa: B010 (a method of one object)

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
        before: _Step | None = None
        for count in range(max(0, self._count - self.steps), self._count):
            step = self._kept[count % self.steps]
            assert step is not None
            if copy in step.starts:
                yield self._start(step.starts[copy], before, place)
            yield self._row(step, place, copy, self._states[count % self.steps, place])
            before = step
        if self._asked is None:
            return
        actions, starts = self._asked
        last = 0 if copy in starts or before is None else int(before.lengths[place])
        if copy in starts:
            yield self._start(starts[copy], before, place)
        if self._env.lengths[copy] == last + 1:
            so_far = EpisodeResult(float(self._env.returns()[copy]), last + 1, ending)
            yield Row(last + 1, self._state[copy].copy(), action=actions[copy], ending=so_far)

    def _take(self, actions: Array) -> StepArrays:
        starts: dict[int, Array] = {}
        if self._fresh is not None:
            begun = self._fresh[self._env.lengths[self._fresh] == 0]
            starts = dict(zip(begun.tolist(), self._state[begun], strict=True))
            self._fresh = None
        self._asked = (actions, starts)
        result = self._advance(actions)
        at = self._count % self.steps
        # What an author's arrays are views of is written anew each step; what the step returns is not.
        if self._keeps_all:
            self._states[at] = self._state
            self._kept[at] = _Step(
                starts, np.array(actions), result.observations, result.rewards, result.reward_terms,
                self._env.lengths.copy(), result.ended, result.final_observations, result.episodes,
            )  # fmt: skip
        else:
            self._states[at] = self._state[self._copies]
            self._kept[at] = self._some(starts, actions, result)
        self._asked = None
        if len(result.ended):
            self._fresh = result.ended
        self._count += 1
        if self.limit is not None and self._count % self.every == 0:
            self.look(result.observations, 0, self._env.lengths)
        return result

    def _some(self, starts: dict[int, Array], actions: Array, result: StepArrays) -> _Step:
        """Return what the kept copies have of a step, as arrays of their own."""
        chosen = self._copies
        return _Step(
            {copy: state for copy, state in starts.items() if copy in chosen},
            np.asarray(actions)[chosen],
            result.observations[chosen],
            result.rewards[chosen],
            {name: values[chosen] for name, values in result.reward_terms.items()},
            self._env.lengths[chosen],
            result.ended,
            result.final_observations,
            result.episodes,
        )

    def _start(self, state: Array, before: _Step | None, place: int) -> Row:
        # The environment writes what an episode begins with into what it returned for the last step of the one before.
        seen = before.observations[place] if before is not None and self._keeps_all else None
        return Row(0, state, observation=seen)

    def _row(self, step: _Step, place: int, copy: int, state: Array) -> Row:
        observation, ending = step.observations[place], None
        for record, final in zip(step.episodes, step.final_observations, strict=True):
            if record.copy == copy:
                observation = final
                ending = EpisodeResult(record.ret, record.length, record.reason)
        return Row(
            int(step.lengths[place]),
            state,
            float(step.rewards[place]),
            {name: float(values[place]) for name, values in step.terms.items()},
            step.actions[place],
            observation,
            ending,
        )


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of the copies that are kept; where one ended, `observations` has what its next episode begins with."""

    starts: dict[int, Array]
    actions: Array
    observations: Array
    rewards: Array
    terms: Mapping[str, Array]
    lengths: Array
    ended: Array
    final_observations: Array
    episodes: list[Episode]


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
