"""Playing in real time: what the panel and the keys change, and what follows from it; knows nothing of graphics."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from workbench.errors import RequestError
from workbench.runs.recordings import EpisodeResult
from workbench.viewer import clock
from workbench.viewer.clock import Pacer
from workbench.viewer.history import EpisodeHistory, Moment
from workbench.viewer.session import Session, has_mujoco_model

BUDGET_S = 0.05
"""Real time that steps may take between two pictures; a slower environment plays slower than asked."""


class Player:
    """A session with a transport: play, pause, step, restart, speed, and back to any state of the episode.

    Played on from a past state, it shows what is recorded up to the newest state, then goes on live.

    Args:
        session: The environment and what acts in it.
        period_s: Simulated seconds in a step.
        title: What is played, for the panel.
        has_policy: Whether what acts can be greedy or sample.
        episodes: End after so many episodes; None to go on until the window is closed.
        on_episode: Told the number and the result of each episode that ended.
        on_begin: Called before an episode begins that is not the first; may change who acts in it.
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
        on_begin: Callable[[], None] = lambda: None,
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
        self._on_begin = on_begin
        self._past = EpisodeHistory(session.env.unwrapped.model) if has_mujoco_model(session.env) else None
        self._at: int | None = None
        """The past step that is shown; None for now."""
        self._pacer = Pacer(period_s)
        self._now = now
        session.begin(0)
        self._keep()

    @property
    def seekable(self) -> bool:
        """Whether past states can be shown; only MuJoCo environments keep them."""
        return self._past is not None

    @property
    def data(self) -> Any:
        """The `MjData` to show: that of now, or of a past state."""
        if self._past is None or self._at is None:
            return self.session.env.unwrapped.data
        return self._past.data(self._at)

    @property
    def shown(self) -> Moment:
        """The numbers of what is shown."""
        if self._past is None or self._at is None:
            session = self.session
            return Moment(session.steps, session.return_, session.reward, session.terms)
        return self._past.moment(self._at)

    @property
    def first(self) -> int:
        """The earliest step that can be gone back to."""
        return self.session.steps if self._past is None else self._past.first

    @property
    def is_live(self) -> bool:
        """Whether the newest state is shown."""
        return self._at is None

    @property
    def period_s(self) -> float:
        """Simulated seconds in a step."""
        return self._period_s

    @property
    def played_all(self) -> bool:
        """Whether as many episodes ended as were asked for."""
        return self._episodes is not None and self._played >= self._episodes

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
        self.step_by(1)

    def step_by(self, steps: int) -> None:
        """Pause and take steps, none past the end of the episode but the first; negative ones go back.

        Raises:
            RequestError: Back, in an environment that keeps no states.
        """
        if steps < 0:
            self.seek(self.shown.step + steps)
        self.playing = False
        self._pacer.forgive()
        for taken in range(max(0, steps)):
            if taken and self.is_live and self.session.ended:
                break
            self._step()

    def skip_seconds(self, seconds: float) -> None:
        """Go on or back by simulated time, within the episode.

        Raises:
            RequestError: Back, in an environment that keeps no states.
        """
        steps = round(seconds / self._period_s)
        if steps < 0:
            self.seek(self.shown.step + steps)
            return
        for _ in range(steps):
            if self.is_live and self.session.ended:
                break
            self._step()

    def seek(self, step: int) -> None:
        """Show the recorded state after `step` steps of the episode, or the nearest one.

        Raises:
            RequestError: The environment keeps no states.
        """
        if self._past is None:
            raise RequestError(
                "this environment keeps no states to go back to; only those with a MuJoCo model do.",
                hint="0 plays the episode again from its start.",
            )
        nearest = min(max(step, self._past.first), self._past.last)
        self._at = None if nearest == self._past.last else nearest
        self._pacer.forgive()
        self.jumped = True

    def restart(self) -> None:
        """Reset the environment to the start of the episode being played."""
        self._begin(self.session.number)

    def skip(self, episodes: int) -> None:
        """Begin the episode so many seeds further on, or back."""
        self._begin(max(0, self.session.number + episodes))

    def begin_seed(self, seed: int) -> None:
        """Reset with another seed; the episodes after it count up from there."""
        self.session.first_seed = seed
        self._begin(0)

    def set_speed(self, speed: float) -> None:
        """Play at another multiple of real time."""
        self.speed = clock.clamp_speed(speed)

    def quit(self) -> None:
        """End."""
        self.finished = True

    def _begin(self, number: int) -> None:
        self._on_begin()
        self._at = None
        self.session.begin(number)
        if self._past is not None:
            self._past.begin()
        self._keep()
        self._pacer.forgive()
        self.jumped = True

    def _keep(self) -> None:
        if self._past is not None:
            self._past.add(self.session.env.unwrapped.data, self.shown)

    def _step(self) -> None:
        if self._past is not None and self._at is not None:
            self._at = self._at + 1 if self._at + 1 < self._past.last else None
            self._moved_s += self._period_s
            return
        if self.session.ended:
            self._begin(self.session.number + 1)
            return
        ended = self.session.step()
        self._moved_s += self._period_s
        self._keep()
        if ended is None:
            return
        self.last = ended
        self._on_episode(self._played, ended)
        self._played += 1
        self.finished = self.played_all
