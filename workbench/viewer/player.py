"""Playing in real time: what the panel and the keys change, and what follows from it; knows nothing of graphics."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from workbench.errors import RequestError
from workbench.runs.recordings import EpisodeResult
from workbench.viewer import clock
from workbench.viewer.clock import Pacer
from workbench.viewer.ensemble import Lane
from workbench.viewer.history import Moment
from workbench.viewer.session import Session

BUDGET_S = 0.05
"""Real time that steps may take between two pictures; a slower environment plays slower than asked."""

COURSE = 400
"""Steps whose rewards are kept for plots."""

PACE_S = 1.0
"""Over how much real time the pace is measured."""


class Player:
    """A session with a transport: play, pause, step, restart, speed, and back to any state of the episode.

    Played on from a past state, it shows what is recorded up to the newest state, then goes on live. Several sessions
    are played in step; one whose episode has ended waits until those of all have.

    Args:
        session: The environment and what acts in it.
        others: More of them, of the same environment, played beside it with the same seeds.
        period_s: Simulated seconds in a step.
        title: What is played, for the panel.
        has_policy: Whether what acts can be greedy or sample.
        episodes: End after so many episodes; None to go on until the window is closed.
        on_episode: Told of each episode that ended its number, its result and which of the sessions played it, from 0.
        on_begin: Called before an episode begins that is not the first; may change who acts in it.
        now: Seconds that only grow.
    """

    def __init__(
        self,
        session: Session,
        *,
        others: Sequence[Session] = (),
        period_s: float,
        title: str = "",
        has_policy: bool = False,
        episodes: int | None = None,
        on_episode: Callable[[int, EpisodeResult, int], None] = lambda number, result, lane: None,
        on_begin: Callable[[], None] = lambda: None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.lanes = [Lane(one) for one in (session, *others)]
        self.chosen = 0
        """Which of several sessions is looked at closely."""
        self.title = title
        self.has_policy = has_policy
        self.playing = True
        self.speed = 1.0
        self.jumped = True
        """The scene is somewhere else than in the last picture: the camera should not glide there."""
        self.finished = False
        """Nothing is left to play, or someone asked to end."""
        self.last: EpisodeResult | None = None
        """The last episode that ended."""
        self.pace = 0.0
        """Simulated seconds in a second of real time, as measured of late."""
        self.course: deque[Moment] = deque(maxlen=COURSE)
        """The last steps of the chosen session, oldest first."""
        self._episodes = episodes
        self._played = 0
        self._moved_s = 0.0
        self._period_s = period_s
        self._on_episode = on_episode
        self._on_begin = on_begin
        self._at: int | None = None
        """The past step that is shown; None for now."""
        self._pacer = Pacer(period_s)
        self._now = now
        self._begin_all(session.first_seed, 0)

    @property
    def session(self) -> Session:
        """The session that is looked at closely."""
        return self.lanes[self.chosen].session

    @property
    def seekable(self) -> bool:
        """Whether past states can be shown; only MuJoCo environments keep them."""
        return self.lanes[0].past is not None

    @property
    def data(self) -> Any:
        """The `MjData` to show: that of now, or of a past state."""
        return self.lanes[self.chosen].data(self._at)

    @property
    def datas(self) -> list[Any]:
        """The `MjData` to show of each session."""
        return [lane.data(self._at) for lane in self.lanes]

    @property
    def shown(self) -> Moment:
        """The numbers of what is shown."""
        return self.lanes[self.chosen].moment(self._at)

    @property
    def at(self) -> int:
        """The step of the episode that is shown; of several sessions, that of the one that has come furthest."""
        return self.last_step if self._at is None else self._at

    @property
    def first(self) -> int:
        """The earliest step that can be gone back to."""
        past = [lane.past.first for lane in self.lanes if lane.past is not None]
        return max(past) if past else self.last_step

    @property
    def last_step(self) -> int:
        """The newest step."""
        return max(lane.session.steps for lane in self.lanes)

    @property
    def has_ended(self) -> bool:
        """Whether the episode is over, for all."""
        return all(lane.session.ended for lane in self.lanes)

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
        if wall_s > 0:
            share = min(1.0, wall_s / PACE_S)
            self.pace += share * (moved_s / wall_s - self.pace)
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
            self.seek(self.at + steps)
        self.playing = False
        self._pacer.forgive()
        for taken in range(max(0, steps)):
            if taken and self.is_live and self.has_ended:
                break
            self._step()
        self.jumped = True

    def skip_seconds(self, seconds: float) -> None:
        """Go on or back by simulated time, within the episode.

        Raises:
            RequestError: Back, in an environment that keeps no states.
        """
        steps = round(seconds / self._period_s)
        if steps < 0:
            self.seek(self.at + steps)
            return
        for _ in range(steps):
            if self.is_live and self.has_ended:
                break
            self._step()
        self.jumped = True

    def seek(self, step: int) -> None:
        """Show the recorded state after `step` steps of the episode, or the nearest one.

        Raises:
            RequestError: The environment keeps no states.
        """
        if not self.seekable:
            raise RequestError(
                "this environment keeps no states to go back to; only those with a MuJoCo model do.",
                hint="0 plays the episode again from its start.",
            )
        nearest = min(max(step, self.first), self.last_step)
        self._at = None if nearest == self.last_step else nearest
        self._pacer.forgive()
        self.jumped = True

    def restart(self) -> None:
        """Reset the environment to the start of the episode being played."""
        self._begin(self.session.number)

    def skip(self, episodes: int) -> None:
        """Begin the episode so many seeds further on, or back.

        Raises:
            RequestError: It would have a seed that `begin_seed` does not take.
        """
        number = max(0, self.session.number + episodes)
        if number > self.session.last_number:
            highest = self.session.first_seed + self.session.last_number
            raise RequestError(f"seeds go to {highest}.", hint="Go back, or choose another seed.")
        self._begin(number)

    def begin_seed(self, seed: int) -> None:
        """Reset with another seed; the episodes after it count up from there."""
        self.lanes[0].session.first_seed = seed
        self._begin(0)

    def set_speed(self, speed: float) -> None:
        """Play at another multiple of real time."""
        self.speed = clock.clamp_speed(speed)

    def quit(self) -> None:
        """End."""
        self.finished = True

    def choose(self, index: int) -> None:
        """Look closely at another of several sessions.

        Raises:
            RequestError: There are not so many.
        """
        if not 0 <= index < len(self.lanes):
            raise RequestError(f"there are {len(self.lanes)} policies, counted from 0; {index} is none of them.")
        self.chosen = index
        self.course.clear()
        self.jumped = True

    def edited(self) -> None:
        """Note that the newest state of the chosen session was changed by hand."""
        self.lanes[self.chosen].keep_again()
        self.jumped = True

    def _begin(self, number: int) -> None:
        self._on_begin()
        self._begin_all(self.lanes[0].session.first_seed, number)

    def _begin_all(self, first_seed: int, number: int) -> None:
        self._at = None
        for lane in self.lanes:
            lane.begin(first_seed, number)
        self.course.clear()
        self._pacer.forgive()
        self.jumped = True

    def _step(self) -> None:
        if self._at is not None:
            self._at = self._at + 1 if self._at + 1 < self.last_step else None
            self._moved_s += self._period_s
            return
        if self.has_ended:
            # Beyond the highest seed there is none: that episode is played again.
            self._begin(min(self.session.number + 1, self.session.last_number))
            return
        for index, lane in enumerate(self.lanes):
            ended = lane.step()
            if ended is not None:
                self.last = ended if index == self.chosen else self.last
                self._on_episode(self._played, ended, index)
        self.course.append(self.lanes[self.chosen].now)
        self._moved_s += self._period_s
        if self.has_ended:
            self._played += 1
            self.finished = self.played_all
