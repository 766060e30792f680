"""Several policies in step: each in an environment of its own, all begun with the same seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.errors import RequestError
from workbench.runs.recordings import EpisodeResult
from workbench.viewer.history import EpisodeHistory, Moment
from workbench.viewer.session import Session, has_mujoco_model

MOST = 9
"""Policies that are still told apart side by side."""

COLOURS = (
    (0.16, 0.47, 0.86), (0.90, 0.49, 0.13), (0.18, 0.63, 0.38), (0.80, 0.27, 0.42), (0.50, 0.38, 0.78),
    (0.10, 0.63, 0.67), (0.72, 0.56, 0.12), (0.45, 0.47, 0.52), (0.62, 0.36, 0.24),
)  # fmt: skip
"""What tells the policies apart, in order; the first is the panel's own."""


class Lane:
    """One session and the states of its episode.

    Args:
        session: The environment and what acts in it.
        keeps: Whether its states are kept, where there is a MuJoCo model.
    """

    def __init__(self, session: Session, *, keeps: bool = True) -> None:
        self.session = session
        has_states = keeps and has_mujoco_model(session.env)
        self.past = EpisodeHistory(session.env.unwrapped.model) if has_states else None

    @property
    def now(self) -> Moment:
        """The numbers of the newest state."""
        session = self.session
        return Moment(session.steps, session.return_, session.reward, session.terms)

    def begin(self, first_seed: int, number: int) -> None:
        """Begin an episode.

        Raises:
            SimulationError: The environment raised.
        """
        self.session.first_seed = first_seed
        self.session.begin(number)
        if self.past is not None:
            self.past.begin()
        self.keep()

    def step(self) -> EpisodeResult | None:
        """Take one step and return how the episode ended with it, or None; one that has ended stays as it is.

        Raises:
            SimulationError: The environment raised.
        """
        if self.session.ended:
            return None
        ended = self.session.step()
        self.keep()
        return ended

    def keep(self) -> None:
        """Keep the state as it is now."""
        if self.past is not None:
            self.past.add(self.session.env.unwrapped.data, self.now)

    def keep_again(self) -> None:
        """Keep the state in place of the newest kept one, because it was changed by hand."""
        if self.past is not None:
            self.past.replace(self.session.env.unwrapped.data)

    def data(self, step: int | None) -> Any:
        """Return the `MjData` after a step, or of now; an episode that ended before it stays in its last state."""
        if self.past is None or step is None or step >= self.past.last:
            return self.session.env.unwrapped.data
        return self.past.data(max(step, self.past.first))

    def moment(self, step: int | None) -> Moment:
        """Return the numbers after a step, or of now."""
        if self.past is None or step is None or step >= self.past.last:
            return self.now
        return self.past.moment(max(step, self.past.first))


class Troupe(Protocol):
    """Sessions that are played in step."""

    lanes: list[Lane]
    chosen: int
    """The one that is looked at closely."""

    @property
    def session(self) -> Session:
        """The chosen one."""

    @property
    def datas(self) -> list[Any]:
        """The `MjData` to show of each."""


class Together(Session):
    """Sessions of one environment that are recorded in step as if they were one: it ends when all have ended.

    What it tells of itself is the first one's.

    Args:
        sessions: At least one.
    """

    def __init__(self, sessions: Sequence[Session]) -> None:
        first = sessions[0]
        super().__init__(first.env, first.actor, seed=first.first_seed)
        self.lanes = [Lane(session, keeps=False) for session in sessions]
        self.chosen = 0
        self.results: list[list[EpisodeResult]] = []
        """How each episode went, for each of the sessions."""

    @property
    def session(self) -> Session:
        """The first one."""
        return self.lanes[0].session

    @property
    def datas(self) -> list[Any]:
        """The `MjData` of each."""
        return [lane.data(None) for lane in self.lanes]

    def begin(self, number: int) -> None:
        """Reset all to the start of an episode.

        Raises:
            SimulationError: An environment raised.
        """
        for lane in self.lanes:
            lane.begin(self.first_seed, number)
        self.number = number
        self._note()

    def step(self) -> EpisodeResult | None:
        """Take one step in each that goes on, and return how the first one ended once all have.

        Raises:
            SimulationError: An environment raised.
        """
        for lane in self.lanes:
            lane.step()
        self._note()
        return self.ended

    def so_far(self) -> EpisodeResult:
        """Return the first one's episode as it stands, and keep those of all."""
        self.results.append([lane.session.so_far() for lane in self.lanes])
        return self.results[-1][0]

    def _note(self) -> None:
        first = self.session
        self.return_, self.reward, self.terms = first.return_, first.reward, first.terms
        self.observation, self.action, self.info = first.observation, first.action, first.info
        self.steps = max(lane.session.steps for lane in self.lanes)
        self.ended = first.ended if all(lane.session.ended for lane in self.lanes) else None


class StateWatcher(Protocol):
    """Something that keeps every state of a session; see `recorder.Watcher`."""

    @property
    def states(self) -> int:
        """States kept so far."""

    def begin(self, session: Session) -> None:
        """Look forward to another episode, which has just been reset."""

    def see(self, session: Session) -> None:
        """Look at the state after the reset, and after each step."""


class LaneWatcher:
    """Lets something watch one of several sessions that are recorded in step, until its episode has ended.

    Args:
        watcher: What watches.
        index: Which session.
    """

    def __init__(self, watcher: StateWatcher, index: int) -> None:
        self._watcher = watcher
        self._index = index
        self._seen = -1

    @property
    def states(self) -> int:
        """States kept so far."""
        return self._watcher.states

    def begin(self, session: Session) -> None:
        """Look forward to another episode."""
        self._seen = -1
        self._watcher.begin(self._own(session))

    def see(self, session: Session) -> None:
        """Look at the state, unless it is the one that the episode ended in some steps ago."""
        own = self._own(session)
        if own.steps != self._seen:
            self._seen = own.steps
            self._watcher.see(own)

    def _own(self, session: Session) -> Session:
        assert isinstance(session, Together)
        return session.lanes[self._index].session


def check_count(count: int) -> None:
    """Refuse more policies than can be told apart.

    Raises:
        RequestError: There are too many.
    """
    if count > MOST:
        raise RequestError(f"at most {MOST} policies play side by side, not {count}.", hint="Leave some out.")


def columns_of(count: int) -> int:
    """Return in how many columns so many stand: up to three in one row, else as square as can be."""
    return count if count <= 3 else math.ceil(math.sqrt(count))


def mosaic(pictures: Sequence[NDArray[np.uint8]], columns: int) -> NDArray[np.uint8]:
    """Return pictures of one size `(h, w, c)` in rows of so many; the last row is filled up with its darkest tone."""
    rows = math.ceil(len(pictures) / columns)
    height, width, channels = pictures[0].shape
    whole = np.zeros((rows * height, columns * width, channels), dtype=np.uint8)
    for index, picture in enumerate(pictures):
        row, column = divmod(index, columns)
        whole[row * height : (row + 1) * height, column * width : (column + 1) * width] = picture
    return whole
