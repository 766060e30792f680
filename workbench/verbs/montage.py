"""`workbench montage`: a labelled film, a grid or a poster of a run's checkpoints."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import NotFoundError, RequestError
from workbench.project import Project
from workbench.verbs.montage_flags import add_arguments, command
from workbench.verbs.signals import interrupted_by_sigterm
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.montage import Montage, MontageRequest
    from workbench.runs import RunDirectory
    from workbench.storyboard.selection import Choice

__all__ = ["add_arguments", "build_request", "command", "document", "find_run", "run", "summary"]

BAR_WIDTH = 24


def run(args: argparse.Namespace, project: Project) -> int:
    """Make the montage, print where it is, and return 0."""
    request = build_request(args, project)
    from workbench.montage import make_montage

    with interrupted_by_sigterm(), _progress() as tell:
        montage = make_montage(request, project, on_progress=tell)
    for note in montage.notes:
        sys.stderr.write(f"{note}\n")
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
    if args.again is not None:
        return _build_again(args, project)
    if not args.run:
        raise RequestError("name at least one run.", hint="`workbench runs` lists them.")
    runs = dict.fromkeys(find_run(project, text) for text in args.run)
    return _build(args, tuple(runs))


def _build_again(args: argparse.Namespace, project: Project) -> MontageRequest:
    """Return what a montage that was made before was asked for, of the very checkpoints that it shows."""
    from workbench.verbs.montage_again import read_made

    alone = argparse.Namespace(**{**vars(args), "output": None})
    words = command(alone)[2:]
    if words:
        raise RequestError(
            f"--again takes everything from {args.again}, so `{shlex.join(words)}` has no say.",
            hint="Give only -o FILE besides it.",
        )
    made = read_made(args.again, project)
    if args.output is not None:
        made.args.output = args.output
    return replace(_build(made.args, made.runs), pinned=made.checkpoints)


def _build(args: argparse.Namespace, runs: tuple[RunDirectory, ...]) -> MontageRequest:
    from workbench.montage import MontageRequest
    from workbench.montage.labels import LabelStyle
    from workbench.montage.timing import Pace
    from workbench.viewer import options

    return MontageRequest(
        runs=runs,
        layout=args.layout,
        choice=_choice(args),
        generate_missing=args.generate_missing,
        columns=args.columns,
        by=args.by,
        seeds=tuple(options.check_seed(seed) for seed in _seeds(args)),
        size=None if args.size is None else options.parse_size(args.size),
        theme=args.theme,
        episodes=args.episodes,
        stochastic=args.stochastic,
        own_film=args.video_name,
        pace=Pace(args.speed, args.fps, args.head_seconds, args.tail_seconds, args.transition_seconds),
        style=LabelStyle(args.text_location, args.text_height_pct, args.margin_pct, args.font_color, args.font_path),
        moment=args.moment,
        curve=args.curve,
        title=args.title,
        end_card=args.end_card,
        output=args.output,
        command=command(args),
    )


def _seeds(args: argparse.Namespace) -> list[int]:
    if args.seeds is None:
        return [] if args.seed is None else [args.seed]
    if args.seed is not None:
        raise RequestError(f"--seed {args.seed} and --seeds {args.seeds} say the same.", hint="Give one of them.")
    try:
        return list(dict.fromkeys(int(text) for text in args.seeds.split(",")))
    except ValueError:
        raise RequestError(f"--seeds {args.seeds}: it takes whole numbers with commas between them.") from None


def find_run(project: Project, text: str) -> RunDirectory:
    """Return the run that `text` names, an environment's name standing for its newest run; RLlib's trial by its folder.

    Raises:
        NotFoundError: It names none, or several.
    """
    from workbench import runs
    from workbench.storyboard.trial_labels import is_of_rllib

    folder = Path(text).expanduser()
    if any(is_of_rllib(path) for path in folder.glob("checkpoint_*")):
        return runs.RunDirectory(folder.resolve())
    try:
        return runs.find_run(project.runs, text)
    except NotFoundError as miss:
        try:
            run = runs.RunDirectory(runs.resolve_checkpoint(project, text).parent)
        except RequestError:
            raise miss from None
        if not run.is_run():
            raise miss from None
        name, colon, checkpoint = text.partition(":")
        if colon:
            # A montage takes runs, and its checkpoints by a flag.
            hint = f"`workbench montage {name} --checkpoint {checkpoint}` shows that checkpoint alone."
            raise NotFoundError(miss.message, hint=hint) from None
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
