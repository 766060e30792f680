"""`workbench montage`: a labelled film, a grid or a poster of a run's checkpoints."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import NotFoundError, RequestError
from workbench.project import Project
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.montage import Montage, MontageRequest
    from workbench.runs import RunDirectory
    from workbench.storyboard.selection import Choice

LOCATIONS = ("bottom-left", "bottom-right", "top-left", "top-right", "center")
BAR_WIDTH = 24


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `montage`."""
    parser.add_argument("run", nargs="+", metavar="RUN", help="a run: its folder, name, last four digits, environment")
    parser.add_argument(
        "--layout",
        choices=("film", "grid", "poster"),
        default="film",
        help="one clip after another, all side by side, or one picture (default: film)",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: recordings/ENV_RUN_LAYOUT.mp4")
    parser.add_argument("--json", action="store_true", help="print one JSON document about the montage")
    _add_choice(parser.add_argument_group("which checkpoints"))
    _add_clips(parser.add_argument_group("clips"))
    _add_look(parser.add_argument_group("time and look"))


def _add(group: argparse._ArgumentGroup, flag: str, *, also: str | None = None, **how: Any) -> None:
    """Add a flag, and the spelling with underscores that scripts written for others use, without showing it."""
    action = group.add_argument(flag, **how)
    quiet = {**how, "default": argparse.SUPPRESS, "help": argparse.SUPPRESS, "dest": action.dest}
    group.add_argument(also or f"--{flag.strip('-').replace('-', '_')}", **quiet)


def _add_choice(group: argparse._ArgumentGroup) -> None:
    _add(group, "--num-videos", type=int, metavar="N", help="clips of each run, at most (default: 6)")
    group.add_argument(
        "--schedule",
        choices=("linear", "exponential"),
        default="linear",
        help="spread over the run evenly, or ever more widely (default: linear); the last is always shown",
    )
    group.add_argument("--base", type=float, default=2.0, metavar="B", help="of the exponential schedule (default: 2)")
    group.add_argument(
        "--checkpoint",
        action="append",
        default=[],
        metavar="STEPS",
        help="show this one (STEPS, best or latest) and no others; PLACE=STEPS swaps one of the sampled; repeatable",
    )


def _add_clips(group: argparse._ArgumentGroup) -> None:
    _add(
        group,
        "--generate-missing",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="film the checkpoints that have no film yet (default: yes)",
    )
    group.add_argument("--seed", type=int, metavar="N", help="of every clip (default: that of the run's evaluations)")
    _add(
        group,
        "--episodes",
        also="--inference_episodes",
        type=int,
        default=1,
        metavar="N",
        help="in every clip (default: 1)",
    )
    group.add_argument("--size", metavar="WxH", help="of every clip, in pixels (default: 480x360)")
    group.add_argument("--theme", choices=("light", "dark"), help="what surrounds the model (default: light)")


def _add_look(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--speed", type=float, default=1.0, metavar="S", help="times real time (default: 1)")
    group.add_argument("--fps", type=float, metavar="F", help="frames a second (default: those of the smoothest clip)")
    for name, default, what in (
        ("head", 1.0, "stand still before a clip plays"),
        ("tail", 1.0, "stand still after it played"),
        ("transition", 0.5, "fade into the next clip"),
    ):
        _add(
            group, f"--{name}-seconds", type=float, default=default, metavar="S", help=f"{what} (default: {default:g})"
        )
    group.add_argument("--columns", type=int, metavar="N", help="of a grid or poster (default: chosen by shape)")
    group.add_argument(
        "--moment",
        type=float,
        default=0.5,
        metavar="X",
        help="part of the episode a poster shows, 0 to 1 (default: 0.5)",
    )
    group.add_argument("--curve", action="store_true", help="the return curve under the clips, with a dot that moves")
    _add(
        group,
        "--text-location",
        choices=LOCATIONS,
        default="bottom-left",
        help="of a film's labels (default: bottom-left)",
    )
    _add(
        group,
        "--text-height-pct",
        type=float,
        default=5.0,
        metavar="P",
        help="of a film's labels, in percent of its height (default: 5)",
    )
    _add(
        group,
        "--margin-pct",
        type=float,
        default=3.0,
        metavar="P",
        help="around a film's labels, in percent of its height (default: 3)",
    )
    _add(group, "--font-color", default="white", metavar="COLOUR", help="a name or #rrggbb")
    _add(group, "--font-path", type=Path, metavar="FILE", help="a TrueType file for a film's labels")


def run(args: argparse.Namespace, project: Project) -> int:
    """Make the montage, print where it is, and return 0."""
    request = build_request(args, project)
    from workbench.montage import make_montage

    with _interrupted_by_sigterm(), _progress() as tell:
        montage = make_montage(request, project, on_progress=tell)
    if args.json:
        write_json(document(montage))
    else:
        sys.stderr.write(summary(montage) + "\n")
        sys.stdout.write(f"{montage.path}\n")
    return 0


def build_request(args: argparse.Namespace, project: Project) -> MontageRequest:
    """Return what the flags ask for.

    Raises:
        RequestError: A flag makes no sense, or names a run that is not there.
    """
    from workbench.montage import MontageRequest
    from workbench.montage.labels import LabelStyle
    from workbench.montage.timing import Pace
    from workbench.viewer import options

    return MontageRequest(
        runs=tuple(dict.fromkeys(find_run(project, text) for text in args.run)),
        layout=args.layout,
        choice=_choice(args),
        generate_missing=args.generate_missing,
        columns=args.columns,
        seeds=() if args.seed is None else (options.check_seed(args.seed),),
        size=None if args.size is None else options.parse_size(args.size),
        theme=args.theme,
        episodes=args.episodes,
        pace=Pace(args.speed, args.fps, args.head_seconds, args.tail_seconds, args.transition_seconds),
        style=LabelStyle(args.text_location, args.text_height_pct, args.margin_pct, args.font_color, args.font_path),
        moment=args.moment,
        curve=args.curve,
        output=args.output,
        command=command(args),
    )


def find_run(project: Project, text: str) -> RunDirectory:
    """Return the run that `text` names, an environment's name standing for its newest run.

    Raises:
        NotFoundError: It names none, or several.
    """
    from workbench import runs

    try:
        return runs.find_run(project.runs, text)
    except NotFoundError as miss:
        try:
            run = runs.RunDirectory(runs.resolve_checkpoint(project, text).parent)
        except RequestError:
            raise miss from None
        if ":" in text or not run.is_run():
            raise miss from None
        return run


def _choice(args: argparse.Namespace) -> Choice:
    from workbench.storyboard.selection import Choice

    only = [text for text in args.checkpoint if "=" not in text]
    swaps = [text.partition("=") for text in args.checkpoint if "=" in text]
    for place, _, _ in swaps:
        if not place.isdecimal():
            raise RequestError(f"--checkpoint {place}=…: PLACE=STEPS takes the number of a clip, counted from 1.")
    if only and (swaps or args.num_videos is not None):
        raise RequestError(
            f"--checkpoint {only[0]} shows only the checkpoints named.",
            hint="Leave out --num-videos, or write PLACE=STEPS to swap one of the sampled.",
        )
    return Choice(
        wanted=6 if args.num_videos is None else args.num_videos,
        schedule=args.schedule,
        base=args.base,
        only=tuple(only),
        swaps=tuple((int(place), steps) for place, _, steps in swaps),
    )


def command(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the words that make the montage again, without those that say what is so anyway."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    words = ["workbench", "montage", *args.run]
    told = set[str]()
    for action in parser._actions:
        name, value = action.dest, getattr(args, action.dest, None)
        if name in told or name in {"run", "help", "json"} or value is None or value == parser.get_default(name):
            continue
        told.add(name)
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        else:
            for item in value if isinstance(value, list) else [value]:
                words += [flag, f"{item:g}" if isinstance(item, float) else str(item)]
    return tuple(words)


def document(montage: Montage) -> dict[str, object]:
    """Return the JSON document about a montage."""
    sidecar = montage.sidecar
    return {
        "file": str(montage.path),
        "layout": sidecar.extra["layout"],
        "size": sidecar.size,
        "fps": sidecar.fps,
        "frames": sidecar.frames,
        "duration_s": sidecar.duration_s,
        "environment": sidecar.environment,
        "seed": sidecar.seed,
        "command": shlex.join(sidecar.command),
        "clips": [
            {
                "run": str(clip.shown.run.directory.path),
                "checkpoint": str(clip.shown.path),
                "steps": clip.shown.steps,
                "iteration": clip.shown.iteration,
                "return": clip.return_,
                "evaluation_mean_return": clip.shown.evaluation_mean,
                "film": str(clip.film),
                "filmed_now": clip.made,
            }
            for clip in montage.clips
        ],
    }


def summary(montage: Montage) -> str:
    """Return what was made in one line."""
    sidecar, made = montage.sidecar, sum(clip.made for clip in montage.clips)
    width, height = sidecar.size or (0, 0)
    length = "" if sidecar.duration_s is None else f", {sidecar.duration_s:.1f} s at {sidecar.fps:g} frames a second"
    there = len(montage.clips) - made
    clips = f"{len(montage.clips)} clip{'s' * (len(montage.clips) != 1)} ({made} filmed now, {there} there before)"
    return f"{sidecar.extra['layout']} of {clips}, {width}x{height}{length}"


@contextmanager
def _progress() -> Iterator[_Tell]:
    tell = _Tell()
    try:
        yield tell
    finally:
        tell.clear()


class _Tell:
    """Progress on stderr: one line redrawn on a terminal, elsewhere one line for each thing begun."""

    def __init__(self) -> None:
        self._redraw = sys.stderr.isatty()
        self._last = ""

    def __call__(self, share: float, message: str) -> None:
        line = message
        if self._redraw:
            full = round(share * BAR_WIDTH)
            line = f"{'▓' * full}{'░' * (BAR_WIDTH - full)} {share:4.0%}  {message}"
        if line != self._last:
            self._last = line
            sys.stderr.write(f"\r\033[K{line}" if self._redraw else f"{line}\n")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._redraw:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


@contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """Let SIGTERM, which ends a job from outside, clean up as Ctrl-C does."""

    def interrupt(_number: int, _frame: object) -> None:
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # Not the main thread, which alone hears signals.
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
