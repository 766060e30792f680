"""What `record` does once it knows what was asked for: play, watch, and say how far it is."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from workbench.errors import RequestError, WorkFailedError
from workbench.viewer.options import FASTEST_FPS, Instant

if TYPE_CHECKING:
    from workbench.runs.recordings import EpisodeResult, JobReport
    from workbench.viewer.camera import CameraName, View
    from workbench.viewer.company import Layout
    from workbench.viewer.ensemble import StateWatcher, Together
    from workbench.viewer.frames import FrameSource
    from workbench.viewer.look import ThemeName
    from workbench.viewer.recorder import Kept, Recorded, Watcher
    from workbench.viewer.session import Session
    from workbench.viewer.target import Target

CHOOSING = 0.2
"""The share of the work that playing counts for, where one episode of several is filmed."""

PICTURE_S = 1.0
"""The moment that a picture shows unless told otherwise."""


@dataclass(frozen=True)
class Request:
    """What was asked for, checked."""

    size: tuple[int, int]
    samples: int
    sees_through: bool
    fps: float | None
    view: View | CameraName | None
    theme: ThemeName
    episodes: int | None
    """How many; None for one, and for all of a state recording."""
    kept: Kept | None
    """Which of them is recorded; None for all."""
    seconds: float | None
    """Where each is cut, in simulated time."""
    still: Instant | None
    """The moment of a picture."""
    states: Path | None
    """Where the states go."""
    layout: Layout = "tiles"
    """How several policies are arranged."""
    look: tuple[str, ...] = ()
    """The flags of size and look that were given and have to be honoured."""
    numbers: tuple[int, ...] = ()
    """Which episodes, counted from the session's seed; none for the first ones."""


def states_paths(path: Path, count: int) -> list[Path]:
    """Return where the states of so many policies go: to `path`, or to files beside it that are counted from 1."""
    if count == 1:
        return [path]
    return [path.with_name(f"{path.stem}-{number}{path.suffix}") for number in range(1, count + 1)]


def fastest_fps(path: Path) -> float:
    """Return how many frames a second a film of that name can hold and be shown at."""
    from workbench.montage.ffmpeg import GIF_MOST_FPS

    return GIF_MOST_FPS if path.suffix.lower() == ".gif" else FASTEST_FPS


class Recording:
    """One call of `record`.

    Args:
        session: What is played; for several policies a `Together`.
        targets: What it was made from.
        request: What was asked for.
        report: Takes in how it goes; its file is what is made.
        asked: Holds something once someone asked to stop.
    """

    def __init__(
        self,
        session: Session,
        targets: Sequence[Target],
        request: Request,
        report: JobReport,
        asked: Sequence[object],
    ) -> None:
        from workbench.viewer.film import is_still
        from workbench.viewer.recorder import FrameClock, frame_rate
        from workbench.viewer.session import control_period, longest_episode
        from workbench.viewer.states import SUFFIX

        self._session = session
        self._targets = targets
        self._target = targets[0]
        self._request = request
        self._report = report
        self._asked = asked
        self._control_hz = 1 / control_period(session.env)
        fps = frame_rate(self._control_hz, request.fps, fastest=fastest_fps(report.film))
        self._clock = FrameClock(self._control_hz, fps)
        self._is_picture = is_still(report.film)
        self._has_film = report.film.suffix.lower() != SUFFIX
        self._cut = self._last_step()
        known = [steps for steps in (longest_episode(session.env), self._cut) if steps]
        self._progress = Progress(report, min(known) if known else None)

    def run(self) -> None:
        """Record.

        Raises:
            RequestError: It cannot be done with this environment.
            SimulationError: The environment raised.
            GraphicsError: Nothing can be drawn here.
            WorkFailedError: A file cannot be written, or there is no such moment.
        """
        numbers, chosen = self._numbers()
        if not numbers:
            self._report.finish("stopped", "stopped by hand before anything was recorded")
            return
        with self._progress:
            recorded = self._record(numbers)
        if chosen is not None and recorded.episodes[0] != chosen and not recorded.stopped:
            sys.stderr.write("The episode went otherwise than when it was chosen: the environment is not repeatable.\n")
        if recorded.stopped:
            self._report.finish("stopped", "stopped by hand")

    def _numbers(self) -> tuple[list[int], EpisodeResult | None]:
        """Return which episodes are recorded, and how the only one went when it was chosen from several."""
        from workbench.viewer.recorder import pick, record
        from workbench.viewer.replay import Replay

        request, session = self._request, self._session
        if request.numbers:
            self._progress.episodes = len(request.numbers)
            return list(request.numbers), None
        there = len(session.recording.episodes) if isinstance(session, Replay) else None
        count = request.episodes or there or 1
        if there is not None and count > there:
            raise RequestError(f"--episodes asks for {count}, and {self._target.label} holds {there}.")
        if request.kept is None:
            self._progress.episodes = count
            return list(range(count)), None
        self._progress.episodes, self._progress.to = count, CHOOSING
        with self._progress:
            played = record(
                session,
                (),
                numbers=range(count),
                last_step=self._cut,
                on_step=self._progress.playing,
                should_stop=lambda: bool(self._asked),
            )
        if played.stopped:
            return [], None
        number = pick(played.episodes, request.kept)
        self._progress.episodes, self._progress.begin, self._progress.to = 1, CHOOSING, 1.0
        told = [episode.to_json() for episode in played.episodes]
        self._report.update(extra={**self._report.sidecar.extra, "kept": request.kept, "played": told})
        return [number], played.episodes[number]

    def _last_step(self) -> int | None:
        """Return where episodes are cut."""
        still, seconds = self._request.still, self._request.seconds
        if still is not None:
            return still.step_at(self._control_hz)
        if seconds is None and self._is_picture:
            seconds = PICTURE_S
        return None if seconds is None else max(1, round(seconds * self._control_hz))

    def _record(self, numbers: list[int]) -> Recorded:
        from workbench.viewer.film import open_film
        from workbench.viewer.recorder import Filming, Snapshot, record

        session, request, report = self._session, self._request, self._report
        watchers: list[Watcher] = []
        with contextlib.ExitStack() as stack:
            states = self._open_states(stack)
            watchers += states
            film = None
            if self._has_film:
                # Environments render nothing before their first reset.
                session.begin(numbers[0])
                source = self._open_source()
                stack.callback(source.close)
                self._check_look(source)
                report.update(size=source.format.size, fps=round(self._clock.fps, 3))
                film = stack.enter_context(open_film(report.film, source.format, self._clock.fps))
                if self._is_picture:
                    assert self._cut is not None
                    watchers.append(Snapshot(source, film, self._cut, or_last=request.still is None))
                else:
                    watchers.append(Filming(source, film, self._clock))
            recorded = record(
                session,
                watchers,
                numbers=numbers,
                last_step=self._cut,
                on_step=self._progress.recording,
                should_stop=lambda: bool(self._asked),
            )
            if film is not None and not film.frames and not recorded.stopped:
                raise WorkFailedError(self._too_short(recorded.episodes[-1].length or 0))
        frames = (film.frames if film is not None else max((log.states for log in states), default=0)) or None
        if len(self._targets) > 1:
            self._tell_of_others(len(recorded.episodes))
        fps = self._clock.fps if film is not None else self._control_hz
        report.update(
            episodes=tuple(recorded.episodes),
            frames=frames,
            fps=round(fps, 3),
            duration_s=None if frames is None or self._is_picture else round(frames / fps, 3),
        )
        return recorded

    def _tell_of_others(self, count: int) -> None:
        """Note in the sidecar who plays beside the first one, and how the recorded episodes went for each."""
        from workbench.viewer.cast import names_of
        from workbench.viewer.ensemble import Together

        assert isinstance(self._session, Together)
        beside = [
            {
                "name": name,
                "checkpoint": None if target.checkpoint is None else str(target.checkpoint),
                "episodes": [results[index].to_json() for results in self._session.results[-count:]],
            }
            for index, (name, target) in enumerate(zip(names_of(self._targets), self._targets, strict=True))
        ]
        self._report.update(extra={**self._report.sidecar.extra, "beside": beside})

    def _open_states(self, stack: contextlib.ExitStack) -> list[StateWatcher]:
        """Open a state recording for each of the policies."""
        from workbench.viewer.ensemble import LaneWatcher, Together
        from workbench.viewer.session import has_mujoco_model
        from workbench.viewer.states import StateLog

        path, session = self._request.states, self._session
        if path is None:
            return []
        if not has_mujoco_model(session.env):
            raise RequestError(f"{self._target.name} has no MuJoCo model, and so no states to record.")
        sessions = [lane.session for lane in session.lanes] if isinstance(session, Together) else [session]
        opened: list[StateWatcher] = []
        for index, (target, one) in enumerate(zip(self._targets, sessions, strict=True)):
            about = {
                "environment": target.source.to_json(),
                "agent": target.agent,
                "checkpoint": None if target.checkpoint is None else str(target.checkpoint),
                "steps": target.steps,
                "run": target.run,
                "seed": one.first_seed,
            }
            log = StateLog(states_paths(path, len(sessions))[index], one, about, period_s=1 / self._control_hz)
            stack.enter_context(log)
            opened.append(log if len(sessions) == 1 else LaneWatcher(log, index))
        return opened

    def _open_source(self) -> FrameSource:
        from workbench.viewer.ensemble import Together
        from workbench.viewer.frames import MujocoFrames, RenderedFrames
        from workbench.viewer.look import theme_named
        from workbench.viewer.session import has_mujoco_model

        request, env = self._request, self._session.env
        if isinstance(self._session, Together):
            return self._open_several(self._session)
        if not has_mujoco_model(env):
            return RenderedFrames(env)
        theme = theme_named(request.theme)
        return MujocoFrames(
            env,
            size=request.size,
            samples=request.samples,
            theme=theme,
            view=request.view,
            sees_through=request.sees_through,
        )

    def _check_look(self, source: FrameSource) -> None:
        """Refuse a size and a look that an environment cannot take which renders itself."""
        from workbench.viewer.session import has_mujoco_model

        look = self._request.look
        if not look or has_mujoco_model(self._session.env):
            return
        width, height = source.format.size
        raise RequestError(
            f"{self._target.name} has no MuJoCo model: it renders itself in its own size, {width}x{height}, and look, "
            f"so {' and '.join(look)} {'has' if len(look) == 1 else 'have'} no say.",
            hint=f"Leave {'it' if len(look) == 1 else 'them'} out.",
        )

    def _open_several(self, together: Together) -> FrameSource:
        from workbench.viewer.camera import View
        from workbench.viewer.cast import names_of
        from workbench.viewer.look import theme_named
        from workbench.viewer.session import has_mujoco_model
        from workbench.viewer.side_by_side import CompanyFrames, MosaicFrames
        from workbench.viewer.view import ViewSettings

        request, titles = self._request, names_of(self._targets)
        if not has_mujoco_model(together.env):
            return MosaicFrames(together, titles)
        view = request.view if isinstance(request.view, View) else None
        return CompanyFrames(
            together,
            titles,
            size=request.size,
            samples=request.samples,
            theme=theme_named(request.theme),
            layout=request.layout,
            view=ViewSettings(theme=request.theme, camera=view),
            camera=None if request.view is view else request.view,  # type: ignore[arg-type]
        )

    def _too_short(self, length: int) -> str:
        return (
            f"the episode has no step {self._cut}: it ended after {length} steps, "
            f"{length / self._control_hz:g} simulated seconds."
        )


class Progress:
    """Says how far a recording is: in the sidecar for the app, and in one line on a terminal's stderr.

    Args:
        report: Takes it in.
        steps: How many steps an episode has at the most, where that is known.
    """

    def __init__(self, report: JobReport, steps: int | None) -> None:
        self.episodes = 1
        """How many are played."""
        self.begin, self.to = 0.0, 1.0
        """Which part of the whole work that is."""
        self._report = report
        self._steps = steps
        self._line = sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._line:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def recording(self, episode: int, step: int) -> None:
        """Note a step that was recorded."""
        self._tell("recording", episode, step)

    def playing(self, episode: int, step: int) -> None:
        """Note a step that was only played."""
        self._tell("playing", episode, step)

    def _tell(self, doing: str, episode: int, step: int) -> None:
        share = 0.0 if self._steps is None else min(1.0, step / max(1, self._steps))
        count = f"episode {episode + 1} of {self.episodes}, " if self.episodes > 1 else ""
        message = f"{count}step {step}" + ("" if self._steps is None else f" of {self._steps}")
        whole = self.begin + (self.to - self.begin) * (episode + share) / self.episodes
        self._report.progress(whole, message)
        if self._line and step % 5 == 0:
            sys.stderr.write(f"\r\033[K{doing} {self._report.film.name}: {message}")
            sys.stderr.flush()
