"""Filming episodes: which moments become frames, and the loop that draws and encodes them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from workbench.runs.recordings import EpisodeResult
from workbench.viewer.film import Film
from workbench.viewer.frames import FrameSource
from workbench.viewer.session import Session

SLOWEST_HZ, FASTEST_HZ = 10.0, 60.0
"""Control rates between these are filmed one frame a step; others are resampled."""

RESAMPLED_FPS = 30.0


def frame_rate(control_hz: float, wanted: float | None = None) -> float:
    """Return the frames a second of a film: as wanted, else every step where that is a rate that players like."""
    if wanted is not None:
        return wanted
    return control_hz if SLOWEST_HZ - 1e-6 <= control_hz <= FASTEST_HZ + 1e-6 else RESAMPLED_FPS


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


@dataclass
class Recorded:
    """What came of a recording."""

    episodes: list[EpisodeResult] = field(default_factory=list)
    """One for each filmed episode; the last may have been cut short."""
    frames: int = 0
    stopped: bool = False
    """It was asked to end before the last episode did."""


def record(
    session: Session,
    source: FrameSource,
    film: Film,
    clock: FrameClock,
    *,
    episodes: int = 1,
    seconds: float | None = None,
    on_step: Callable[[int, int], None] = lambda episode, step: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Recorded:
    """Film whole episodes, the reset included, one after another into one film.

    Args:
        session: The environment and what acts in it.
        source: Draws it.
        film: Takes the frames.
        clock: Which steps are drawn.
        episodes: How many, the first with the session's seed.
        seconds: Cut each episode after so much simulated time.
        on_step: Told the episode and the step after each one.
        should_stop: Asked before each step; the film ends there, whole, when it says so.

    Raises:
        SimulationError: The environment raised.
        WorkFailedError: The film cannot be written.
    """
    done = Recorded()
    last_step = None if seconds is None else max(1, round(seconds * clock.control_hz))
    for number in range(episodes):
        session.begin(number)
        source.restart()
        drawn_at = 0
        while True:
            due = clock.due(session.steps)
            if due:
                frame = source.draw((session.steps - drawn_at) / clock.control_hz)
                drawn_at = session.steps
                for _ in range(due):
                    film.add(frame)
            on_step(number, session.steps)
            done.stopped = should_stop()
            if session.ended or done.stopped or (last_step is not None and session.steps >= last_step):
                break
            session.step()
        done.episodes.append(session.so_far())
        if done.stopped:
            break
    done.frames = film.frames
    return done
