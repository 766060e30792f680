"""Recording episodes: which moments become frames, what watches them, and the loop that plays them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from workbench.runs.recordings import EpisodeResult
from workbench.viewer.film import Film
from workbench.viewer.frames import FrameSource
from workbench.viewer.session import Session

SLOWEST_HZ, FASTEST_HZ = 10.0, 60.0
"""Control rates between these are filmed one frame a step; others are resampled."""

RESAMPLED_FPS = 30.0


def frame_rate(control_hz: float, wanted: float | None = None, *, fastest: float = FASTEST_HZ) -> float:
    """Return the frames a second of a film: as wanted, else every step where that is a rate that players like.

    Args:
        control_hz: Steps a second.
        wanted: What was asked for.
        fastest: What the format of the film can hold.
    """
    if wanted is not None:
        return wanted
    return control_hz if SLOWEST_HZ - 1e-6 <= control_hz <= min(FASTEST_HZ, fastest) + 1e-6 else RESAMPLED_FPS


@dataclass(frozen=True)
class FrameClock:
    """Which steps of an episode are drawn, so that the film runs at the speed of the simulation."""

    control_hz: float
    fps: float

    def frames_by(self, step: int) -> int:
        """Return how many frames the film has when the state after `step` steps has been drawn; 0 is the reset."""
        return math.floor(step * self.fps / self.control_hz + 1e-6) + 1

    def due(self, step: int) -> int:
        """Return how many frames show the state after `step` steps: none, one, or more at a slow control rate."""
        return self.frames_by(step) - (self.frames_by(step - 1) if step else 0)


class Watcher(Protocol):
    """Something that looks at every state of an episode."""

    def begin(self, session: Session) -> None:
        """Look forward to another episode, which has just been reset."""

    def see(self, session: Session) -> None:
        """Look at the state after the reset, and after each step."""


class Filming:
    """Draws the frames that are due and adds them to a film."""

    def __init__(self, source: FrameSource, film: Film, clock: FrameClock) -> None:
        self._source = source
        self._film = film
        self._clock = clock
        self._drawn_at = 0

    def begin(self, session: Session) -> None:
        """Let the camera jump to where the episode begins."""
        self._source.restart()
        self._drawn_at = 0

    def see(self, session: Session) -> None:
        """Draw the state as often as it is due.

        Raises:
            GraphicsError: It cannot be drawn.
            WorkFailedError: The film cannot be written.
        """
        due = self._clock.due(session.steps)
        if due:
            frame = self._source.draw((session.steps - self._drawn_at) / self._clock.control_hz)
            self._drawn_at = session.steps
            for _ in range(due):
                self._film.add(frame)


class Snapshot:
    """Draws one state.

    Args:
        source: Draws it.
        film: Takes the picture.
        step: Which one.
        or_last: Whether the state that the episode ends in will do where it is shorter.
    """

    def __init__(self, source: FrameSource, film: Film, step: int, *, or_last: bool) -> None:
        self._source = source
        self._film = film
        self._step = step
        self._or_last = or_last

    def begin(self, session: Session) -> None:
        """Let the camera jump to where the model is when it is drawn."""
        self._source.restart()

    def see(self, session: Session) -> None:
        """Draw the state if it is the one."""
        if session.steps == self._step or (self._or_last and session.ended):
            self._film.add(self._source.draw(0.0))


@dataclass
class Recorded:
    """What came of a recording."""

    episodes: list[EpisodeResult] = field(default_factory=list)
    """One for each recorded episode; the last may have been cut short."""
    stopped: bool = False
    """It was asked to end before the last episode did."""


def record(
    session: Session,
    watchers: Sequence[Watcher],
    *,
    numbers: Iterable[int] = (0,),
    last_step: int | None = None,
    on_step: Callable[[int, int], None] = lambda episode, step: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Recorded:
    """Play whole episodes one after another, the reset included, before those who watch.

    Args:
        session: The environment and what acts in it.
        watchers: What looks at each state.
        numbers: Which episodes, counted from the session's seed.
        last_step: Cut each episode after so many steps.
        on_step: Told which episode it is, from 0, and the step, after each one.
        should_stop: Asked before each step; the recording ends there, whole, when it says so.

    Raises:
        SimulationError: The environment raised.
        WorkFailedError: What watches cannot go on.
    """
    done = Recorded()
    for index, number in enumerate(numbers):
        session.begin(number)
        for watcher in watchers:
            watcher.begin(session)
        while True:
            for watcher in watchers:
                watcher.see(session)
            on_step(index, session.steps)
            done.stopped = should_stop()
            if session.ended or done.stopped or (last_step is not None and session.steps >= last_step):
                break
            session.step()
        done.episodes.append(session.so_far())
        if done.stopped:
            break
    return done


Kept = Literal["worst", "best"]


def pick(episodes: Sequence[EpisodeResult], kept: Kept) -> int:
    """Return which episode has the lowest or the highest return; of equal ones the first."""
    returns = [episode.return_ or 0.0 for episode in episodes]
    return returns.index(min(returns) if kept == "worst" else max(returns))
