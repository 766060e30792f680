"""`workbench record`: film a checkpoint, an environment or recorded states with no display."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import errno
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import RequestError, WorkFailedError
from workbench.project import Project
from workbench.verbs.filming import Recording, Request, fastest_fps, states_paths
from workbench.verbs.signals import stop_on_signals
from workbench.verbs.writing import write_json
from workbench.viewer import options

if TYPE_CHECKING:
    from workbench.runs.recordings import Sidecar
    from workbench.viewer.camera import CameraName, View
    from workbench.viewer.target import Target

NICENESS = 10
"""Films are made in the background of training."""

STATES_SUFFIX = ".npz"

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
CLOSED = (errno.ENOENT, errno.ENOTDIR, errno.EPERM, errno.EACCES, errno.EROFS, errno.ENAMETOOLONG)
"""Why a file cannot be written: there is no room, or the place takes none."""

LOOK = ("--size", "--preset", "--camera", "--theme")
"""What an environment that renders itself cannot take."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `record`."""
    options.add_target_arguments(parser)
    options.add_side_by_side_arguments(parser)
    presets = ", ".join(f"{name} {preset.size[0]}x{preset.size[1]}" for name, preset in options.PRESETS.items())
    add = parser.add_argument
    add("--episodes", type=int, metavar="N", help="episodes that are played (default: 1; all of a state recording)")
    add(
        "--keep",
        choices=("worst", "best"),
        help="record only the one of them with the lowest or the highest return; of several policies the first's",
    )
    add("--seconds", type=float, metavar="S", help="cut each episode after S simulated seconds")
    add("--still", metavar="T", help="one picture: of the time 2.5s, or of the step 120")
    add(
        "--states",
        type=Path,
        metavar="FILE",
        help="keep the states in FILE.npz too; `-o FILE.npz` keeps only them; of several policies in FILE-1.npz and on",
    )
    add(
        "--preset",
        action=options.Noted,
        choices=tuple(options.PRESETS),
        default="default",
        help=f"size and edges: {presets}; draft draws one sample a pixel, so that edges show steps, the others four",
    )
    add("--size", action=options.Noted, metavar="WxH", help="pixels, even numbers (default: the preset's)")
    add(
        "--fps",
        type=float,
        metavar="N",
        help="frames a second (default: the control rate if it is 10 to 60, else 30); a GIF holds 50 at the most",
    )
    options.add_theme_argument(parser)
    add(
        "--camera",
        action=options.Noted,
        metavar="CAMERA",
        help="a camera of the model by its name, or AZIMUTH,ELEVATION[,DISTANCE] in degrees and metres as MuJoCo "
        "counts them (default: the model's own view, else 135,-16)",
    )
    add(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help=".mp4, .webp, .gif, .png or .npz (default: recordings/NAME.mp4)",
    )
    add("--json", action="store_true", help="print one JSON document about the recording")


def run(args: argparse.Namespace, project: Project) -> int:
    """Record, and return 0, or 130 where Ctrl-C cut the recording short."""
    request = _checked(args)
    from workbench.runs.recordings import JobReport, recording_path, sidecar_path
    from workbench.viewer.targets import find_targets, label_of, open_together

    targets = find_targets(project, args)
    target = targets[0]
    given = getattr(args, "given", {})
    if target.recording is not None and (args.stochastic or "--seed" in given):
        flag = "--stochastic" if args.stochastic else "--seed"
        raise RequestError(f"{flag} changes nothing in a recording of what happened.", hint=f"Leave out {flag}.")
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    path: Path | None = args.output
    try:
        if path is None:
            path = recording_path(project.recordings, label_of(targets), ".mp4" if request.still is None else ".png")
        if not _is_cached(path, project):
            look = tuple(f"{flag} {given[flag]}" for flag in LOOK if flag in given)
            request = dataclasses.replace(request, look=look)
        report = JobReport(path, _sidecar(args, target, path))
        with (
            stop_on_signals() as asked,
            report,
            open_together(targets, seed=args.seed, stochastic=args.stochastic) as session,
        ):
            Recording(session, targets, request, report, asked).run()
    except RequestError:
        # What was never going to be made leaves no trace of a failure.
        if path is not None and not path.exists():
            sidecar_path(path).unlink(missing_ok=True)
        raise
    except OSError as error:
        where, why = path.parent if path is not None else project.recordings, error.strerror or str(error)
        raise WorkFailedError(f"the recording cannot be written in {where}: {why}.", hint=place_hint(why)) from error
    except WorkFailedError as error:
        error.hint = error.hint or place_hint(error.message)
        raise
    states = [] if request.states is None else states_paths(request.states, len(targets))
    _tell(report.sidecar, path, states, as_json=args.json)
    return 130 if asked else 0


def _checked(args: argparse.Namespace) -> Request:
    if args.episodes is not None:
        options.episode_count(args.episodes)
    options.check_seed(args.seed)
    preset = options.PRESETS[args.preset]
    size = preset.size if args.size is None else options.parse_size(args.size)
    fps = options.check_fps(args.fps)
    if fps is not None and args.output is not None and fps > (most := fastest_fps(args.output)):
        raise RequestError(
            f"--fps is {fps:g}; a {args.output.suffix[1:].upper()} has at most {most:g} frames a second.",
            hint=f"Give --fps {most:g}, or name another format.",
        )
    seconds: float | None = args.seconds
    if seconds is not None and not 0 < seconds < float("inf"):
        raise RequestError(f"--seconds takes a number above 0, not {seconds:g}.")
    still = None if args.still is None else options.Instant.parse(args.still)
    if args.keep is not None and (args.episodes or 1) < 2:
        raise RequestError(
            f"--keep {args.keep} chooses from several episodes.", hint="Add --episodes with a number from 2."
        )
    from workbench.viewer.camera import parse_camera
    from workbench.viewer.look import THEMES

    states = _checked_files(args, is_still=still is not None)
    options.check_side_by_side(args)
    if still is not None and seconds is not None:
        raise RequestError("--still names one moment, and --seconds an end: give one of them.")
    if still is not None and args.keep is None and (args.episodes or 1) > 1:
        raise RequestError(
            "--still shows one episode.", hint="--seed chooses it, or --keep worst or best of those in --episodes."
        )
    return Request(
        size=size,
        samples=preset.samples,
        sees_through=preset.sees_through,
        fps=fps,
        view=None if args.camera is None else _checked_view(parse_camera(args.camera), args.camera),
        theme=next(name for name in THEMES if name == args.theme),
        episodes=args.episodes,
        kept=args.keep,
        seconds=seconds,
        still=still,
        states=states,
        layout="ghosts" if args.ghost else "tiles",
    )


def _checked_view(view: View | CameraName, text: str) -> View | CameraName:
    # Within the viewer a distance of 0 stands for one that is found; typed, it would be a camera inside the model.
    if not isinstance(view, str) and text.count(",") == 2 and view.distance <= 0:
        raise RequestError(
            f"--camera takes a distance above 0, in metres, not `{text}`.",
            hint="Leave the distance out to see the whole model.",
        )
    return view


def _checked_files(args: argparse.Namespace, *, is_still: bool) -> Path | None:
    """Return where the states go."""
    from workbench.viewer.film import check_suffix
    from workbench.viewer.film import is_still as is_picture

    output, states = args.output, args.states
    for flag, path in (("-o", output), ("--states", states)):
        if path is not None and path.is_dir():
            raise RequestError(f"{flag} takes a file, and {path} is a folder.")
    if states is not None and states.suffix.lower() != STATES_SUFFIX:
        near = states.with_suffix(STATES_SUFFIX).name
        raise RequestError(f"--states takes a {STATES_SUFFIX} file, not {states.name}.", hint=f"Name it {near}.")
    if output is not None and output.suffix.lower() == STATES_SUFFIX:
        if args.others:
            raise RequestError(
                f"-o {output} keeps the states of one policy.", hint=f"--states {output} keeps those of each."
            )
        if states is not None or is_still:
            other = "--states" if states is not None else "--still"
            raise RequestError(f"-o {output} keeps states and no pictures; leave out {other}.")
        return Path(output)
    if output is not None:
        check_suffix(output, also=(STATES_SUFFIX,))
        if is_still and not is_picture(output):
            raise RequestError(
                f"--still makes one picture, and {output.name} is none.",
                hint=f"Name it {output.with_suffix('.png').name}.",
            )
    return None if states is None else Path(states)


def place_hint(why: str) -> str:
    """Return what to do where a file cannot be written, by the system's words for it; nothing for another failure."""
    if any(os.strerror(code) in why for code in FULL):
        return "Free some space, or name another place with -o."
    return "Name another place with -o." if any(os.strerror(code) in why for code in CLOSED) else ""


def _is_cached(path: Path, project: Project) -> bool:
    """Tell whether a file is made for a cache.

    Whoever keeps one names every size and look, and takes an environment's own where it can have no other.
    """
    from workbench.project import cache_folder
    from workbench.storyboard.finding import CLIPS_FOLDER

    folders = (project.recordings / CLIPS_FOLDER, cache_folder())
    return any(path.resolve().is_relative_to(folder.resolve()) for folder in folders)


def _sidecar(args: argparse.Namespace, target: Target, path: Path) -> Sidecar:
    from workbench.runs.recordings import Sidecar
    from workbench.viewer.film import is_still

    kinds = {STATES_SUFFIX: "states"}
    return Sidecar(
        kind="picture" if is_still(path) else kinds.get(path.suffix.lower(), "recording"),
        command=_command(args),
        checkpoint=None if target.checkpoint is None else str(target.checkpoint),
        environment=target.source.env_id,
        seed=None if target.recording is not None else args.seed,
        theme=args.theme,
        stochastic=args.stochastic,
        extra={} if args.states is None else {"states": _states_told(states_paths(args.states, 1 + len(args.others)))},
    )


def _command(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the words that make the recording again."""
    words = ["workbench", "record", args.target, *args.others]
    given = {
        "--agent": args.agent,
        "--env": args.env,
        "--seed": args.seed,
        "--episodes": args.episodes if args.episodes != 1 else None,
        "--keep": args.keep,
        "--seconds": args.seconds,
        "--still": args.still,
        "--states": args.states,
        "--preset": args.preset if args.preset != "default" else None,
        "--size": args.size,
        "--fps": args.fps,
        "--theme": args.theme if args.theme != "light" else None,
        "--camera": args.camera,
        "--normalizer": args.normalizer,
        "--output": args.output,
    }
    for flag, value in given.items():
        words += [] if value is None else [flag, f"{value:g}" if isinstance(value, float) else str(value)]
    words += [flag for flag, given in (("--ghost", args.ghost), ("--trust", args.trust)) if given]
    return (*words, "--stochastic") if args.stochastic else tuple(words)


def _tell(sidecar: Sidecar, path: Path, states: list[Path], *, as_json: bool) -> None:
    is_there = sidecar.frames is not None
    if as_json:
        document: dict[str, Any] = {
            "file": str(path) if is_there else None,
            "states": _states_told(states) if is_there else None,
            "frames": sidecar.frames,
            "fps": sidecar.fps,
            "size": sidecar.size,
            "duration_s": sidecar.duration_s,
            "environment": sidecar.environment,
            "checkpoint": sidecar.checkpoint,
            "seed": sidecar.seed,
            "episodes": [episode.to_json() for episode in sidecar.episodes],
            "beside": sidecar.extra.get("beside"),
            "kept": sidecar.extra.get("kept"),
            "played": sidecar.extra.get("played"),
            "command": shlex.join(sidecar.command),
            "stopped": sidecar.job is not None and sidecar.job.state == "stopped",
        }
        write_json(document)
        return
    from workbench.runs.recordings import EpisodeResult
    from workbench.viewer.session import describe

    played = [EpisodeResult.from_json(item) for item in sidecar.extra.get("played") or ()]
    for number, episode in enumerate(played or sidecar.episodes):
        mark = f"  {sidecar.extra['kept']}, recorded" if played and episode in sidecar.episodes else ""
        sys.stderr.write(f"{describe(number, episode)}{mark}\n")
    if is_there:
        print(path)  # noqa: T201
    for file in states:
        if is_there and file != path:
            print(file)  # noqa: T201


def _states_told(states: list[Path]) -> str | list[str] | None:
    """Return the file of one policy, the files of several, or nothing."""
    return str(states[0]) if len(states) == 1 else [str(file) for file in states] or None
