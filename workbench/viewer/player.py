"""Playing in real time: what the panel and the keys change, and what follows from it; knows nothing of graphics."""

from __future__ import annotations

import time
from collections.abc import Callable

from workbench.runs.recordings import EpisodeResult
from workbench.viewer import clock
from workbench.viewer.clock import Pacer
from workbench.viewer.session import Session

BUDGET_S = 0.05
"""Real time that steps may take between two pictures; a slower environment plays slower than asked."""


class Player:
    """A session with a transport: play, pause, step, restart, speed.

    Args:
        session: The environment and what acts in it.
        period_s: Simulated seconds in a step.
        title: What is played, for the panel.
        has_policy: Whether what acts can be greedy or sample.
        episodes: End after so many episodes; None to go on until the window is closed.
        on_episode: Told the number and the result of each episode that ended.
        now: Seconds that only grow.
    """

    def __init__(
        self,
        session: Session,
        *,
        period_s: float,
        title: str = "",
        has_policy: bool = False,
        episodes: int | None = None,
        on_episode: Callable[[int, EpisodeResult], None] = lambda number, result: None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.session = session
        self.title = title
        self.has_policy = has_policy
        self.playing = True
        self.follow = True
        self.speed = 1.0
        self.jumped = True
        """The scene is somewhere else than in the last picture: the camera should not glide there."""
        self.finished = False
        """Nothing is left to play, or someone asked to end."""
        self.last: EpisodeResult | None = None
        """The last episode that ended."""
        self._episodes = episodes
        self._played = 0
        self._moved_s = 0.0
        self._period_s = period_s
        self._on_episode = on_episode
        self._pacer = Pacer(period_s)
        self._now = now
        session.begin(0)

    @property
    def stochastic(self) -> bool:
        """Whether a policy samples its actions."""
        return not self.session.actor.deterministic

    @stochastic.setter
    def stochastic(self, sampled: bool) -> None:
        if self.has_policy:
            self.session.actor.deterministic = not sampled

    def advance(self, wall_s: float) -> float:
        """Let real time pass and return the simulated seconds since the last call, stepped by itself or by hand.

        Raises:
            SimulationError: The environment raised.
        """
        if self.playing:
            self._pacer.wait(wall_s, self.speed)
            end = self._now() + BUDGET_S
            for _ in self._pacer.steps():
                if self.finished:
                    break
                self._step()
                if self._now() >= end:
                    self._pacer.forgive()
        moved_s, self._moved_s = self._moved_s, 0.0
        return moved_s

    def toggle(self) -> None:
        """Pause, or play on."""
        self.playing = not self.playing
        self._pacer.forgive()

    def step_once(self) -> None:
        """Pause and take one step."""
        self.playing = False
        self._pacer.forgive()
        self._step()

    def restart(self) -> None:
        """Reset the environment to the start of the episode being played."""
        self._begin(self.session.number)

    def skip(self, episodes: int) -> None:
        """Begin the episode so many seeds further on, or back."""
        self._begin(max(0, self.session.number + episodes))

    def set_speed(self, speed: float) -> None:
        """Play at another multiple of real time."""
        self.speed = clock.clamp_speed(speed)

    def quit(self) -> None:
        """End."""
        self.finished = True

    def _begin(self, number: int) -> None:
        self.session.begin(number)
        self._pacer.forgive()
        self.jumped = True

    def _step(self) -> None:
        if self.session.ended:
            self._begin(self.session.number + 1)
            return
        ended = self.session.step()
        self._moved_s += self._period_s
        if ended is None:
            return
        self.last = ended
        self._on_episode(self._played, ended)
        self._played += 1
        self.finished = self._episodes is not None and self._played >= self._episodes
