"""`workbench record`: film a checkpoint or an environment with no display."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import RequestError, WorkFailedError
from workbench.project import Project
from workbench.verbs.writing import write_json
from workbench.viewer import options

if TYPE_CHECKING:
    from workbench.runs.recordings import JobReport, Sidecar
    from workbench.viewer.camera import View
    from workbench.viewer.frames import FrameSource
    from workbench.viewer.session import Session
    from workbench.viewer.target import Target

NICENESS = 10
"""Films are made in the background of training."""

STILL_SECONDS = 1.0
"""The moment that a picture shows unless told otherwise."""


@dataclass(frozen=True)
class _Request:
    """What was asked for, checked."""

    size: tuple[int, int]
    samples: int
    fps: float | None
    view: View | None
    seconds: float | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `record`."""
    options.add_target_arguments(parser)
    presets = ", ".join(f"{name} {preset.size[0]}x{preset.size[1]}" for name, preset in options.PRESETS.items())
    parser.add_argument("--episodes", type=int, default=1, metavar="N", help="episodes in the film (default: 1)")
    parser.add_argument("--seconds", type=float, metavar="S", help="cut each episode after S simulated seconds")
    parser.add_argument("--preset", choices=tuple(options.PRESETS), default="default", help=f"size: {presets}")
    parser.add_argument("--size", metavar="WxH", help="pixels, even numbers (default: the preset's)")
    parser.add_argument(
        "--fps",
        type=float,
        metavar="N",
        help="frames a second (default: the control rate if it is 10 to 60, else 30)",
    )
    options.add_theme_argument(parser)
    parser.add_argument(
        "--camera",
        metavar="AZIMUTH,ELEVATION[,DISTANCE]",
        help="degrees and metres as MuJoCo counts them (default: the model's own view, else 135,-16)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help=".mp4, .webp, .gif or .png (default: recordings/NAME.mp4)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document about the film")


def run(args: argparse.Namespace, project: Project) -> int:
    """Film, and return 0, or 130 where Ctrl-C cut the film short."""
    request = _checked(args)
    from workbench.runs.recordings import JobReport, recording_path
    from workbench.viewer.target import find_target

    target = find_target(project, args.target, agent=args.agent, env=args.env)
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    try:
        path: Path = args.output or recording_path(project.recordings, target.label, ".mp4")
        report = JobReport(path, _sidecar(args, target, path))
        with _stop_on_signals() as asked, report:
            session = target.open(seed=args.seed, stochastic=args.stochastic)
            try:
                _film(session, args, request, report, asked)
            finally:
                session.env.close()
    except OSError as error:
        where = args.output.parent if args.output else project.recordings
        raise WorkFailedError(
            f"the film cannot be written in {where}: {error.strerror or error}.",
            hint="Free some space, or name another place with -o.",
        ) from error
    _tell(report.sidecar, path, as_json=args.json)
    return 130 if asked else 0


def _checked(args: argparse.Namespace) -> _Request:
    options.episode_count(args.episodes)
    options.check_seed(args.seed)
    preset = options.PRESETS[args.preset]
    size = preset.size if args.size is None else options.parse_size(args.size)
    fps = options.check_fps(args.fps)
    seconds: float | None = args.seconds
    if seconds is not None and not 0 < seconds < float("inf"):
        raise RequestError(f"--seconds takes a number above 0, not {seconds:g}.")
    from workbench.viewer.camera import View
    from workbench.viewer.film import check_suffix, is_still

    if args.output is not None:
        if args.output.is_dir():
            raise RequestError(f"-o takes a file, and {args.output} is a folder.")
        check_suffix(args.output)
        seconds = STILL_SECONDS if seconds is None and is_still(args.output) else seconds
    view = None if args.camera is None else View.parse(args.camera)
    return _Request(size=size, samples=preset.samples, fps=fps, view=view, seconds=seconds)


def _sidecar(args: argparse.Namespace, target: Target, path: Path) -> Sidecar:
    from workbench.runs.recordings import Sidecar
    from workbench.viewer.film import is_still

    return Sidecar(
        kind="picture" if is_still(path) else "recording",
        command=_command(args),
        checkpoint=None if target.checkpoint is None else str(target.checkpoint),
        environment=target.source.env_id,
        seed=args.seed,
        theme=args.theme,
        stochastic=args.stochastic,
    )


def _command(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the words that make the film again."""
    words = ["workbench", "record", args.target]
    given = {
        "--agent": args.agent,
        "--env": args.env,
        "--seed": args.seed,
        "--episodes": args.episodes if args.episodes != 1 else None,
        "--seconds": args.seconds,
        "--preset": args.preset if args.preset != "default" else None,
        "--size": args.size,
        "--fps": args.fps,
        "--theme": args.theme if args.theme != "light" else None,
        "--camera": args.camera,
        "--output": args.output,
    }
    for flag, value in given.items():
        words += [] if value is None else [flag, f"{value:g}" if isinstance(value, float) else str(value)]
    return (*words, "--stochastic") if args.stochastic else tuple(words)


def _film(session: Session, args: argparse.Namespace, request: _Request, report: JobReport, asked: list[int]) -> None:
    from workbench.viewer.film import open_film
    from workbench.viewer.recorder import FrameClock, frame_rate, record
    from workbench.viewer.session import control_period, longest_episode

    control_hz = 1 / control_period(session.env)
    clock = FrameClock(control_hz, frame_rate(control_hz, request.fps))
    longest = longest_episode(session.env)
    progress = _Progress(report, episodes=args.episodes, steps=_steps(longest, request.seconds, control_hz))
    # Environments render nothing before their first reset.
    session.begin(0)
    source = _source(session, args, request)
    try:
        report.update(size=source.format.size, fps=round(clock.fps, 3))
        with progress, open_film(report.film, source.format, clock.fps) as film:
            recorded = record(
                session,
                source,
                film,
                clock,
                episodes=args.episodes,
                seconds=request.seconds,
                on_step=progress.step,
                should_stop=lambda: bool(asked),
            )
    finally:
        source.close()
    report.update(
        episodes=tuple(recorded.episodes), frames=recorded.frames, duration_s=round(recorded.frames / clock.fps, 3)
    )
    if recorded.stopped:
        report.finish("stopped", "stopped by hand")


def _source(session: Session, args: argparse.Namespace, request: _Request) -> FrameSource:
    from workbench.viewer.frames import MujocoFrames, RenderedFrames
    from workbench.viewer.look import theme_named
    from workbench.viewer.session import has_mujoco_model

    if not has_mujoco_model(session.env):
        return RenderedFrames(session.env)
    return MujocoFrames(
        session.env, size=request.size, samples=request.samples, theme=theme_named(args.theme), view=request.view
    )


def _steps(longest: int | None, seconds: float | None, control_hz: float) -> int | None:
    cut = None if seconds is None else max(1, round(seconds * control_hz))
    known = [steps for steps in (longest, cut) if steps]
    return min(known) if known else None


class _Progress:
    """Says how far the film is: in the sidecar for the app, and in one line on a terminal's stderr."""

    def __init__(self, report: JobReport, *, episodes: int, steps: int | None) -> None:
        self._report = report
        self._episodes = episodes
        self._steps = steps
        self._line = sys.stderr.isatty()

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *raised: Any) -> None:
        if self._line:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()

    def step(self, episode: int, step: int) -> None:
        """Note the step that was filmed."""
        share = 0.0 if self._steps is None else min(1.0, step / self._steps)
        count = f"episode {episode + 1} of {self._episodes}, " if self._episodes > 1 else ""
        message = f"{count}step {step}" + ("" if self._steps is None else f" of {self._steps}")
        self._report.progress((episode + share) / self._episodes, message)
        if self._line and step % 5 == 0:
            sys.stderr.write(f"\r\033[Kfilming {self._report.film.name}: {message}")
            sys.stderr.flush()


@contextlib.contextmanager
def _stop_on_signals() -> Iterator[list[int]]:
    """Collect the first Ctrl-C or SIGTERM, so that the film ends after a whole frame; a second one interrupts."""
    asked: list[int] = []

    def note(number: int, _frame: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    try:
        before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # Not the main thread, which alone hears signals.
        yield asked
        return
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell(sidecar: Sidecar, path: Path, *, as_json: bool) -> None:
    if as_json:
        document = {
            "file": str(path),
            "frames": sidecar.frames,
            "fps": sidecar.fps,
            "size": sidecar.size,
            "duration_s": sidecar.duration_s,
            "environment": sidecar.environment,
            "checkpoint": sidecar.checkpoint,
            "seed": sidecar.seed,
            "episodes": [episode.to_json() for episode in sidecar.episodes],
            "command": shlex.join(sidecar.command),
            "stopped": sidecar.job is not None and sidecar.job.state == "stopped",
        }
        write_json(document)
        return
    from workbench.viewer.session import describe

    for number, episode in enumerate(sidecar.episodes):
        sys.stderr.write(f"{describe(number, episode)}\n")
    print(path)  # noqa: T201
