"""The flags of `workbench montage`, and the words that say a parsed line again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

LOCATIONS = ("bottom-left", "bottom-right", "top-left", "top-right", "center")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `montage`."""
    parser.add_argument("run", nargs="*", metavar="RUN", help="a run: its folder, name, last four digits, environment")
    parser.add_argument(
        "--layout",
        choices=("film", "grid", "poster"),
        default="film",
        help="one clip after another, all side by side, or one picture (default: film)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help=".mp4, .webp or .gif, of a poster .png or .pdf (default: recordings/ENV_RUN_LAYOUT.mp4)",
    )
    parser.add_argument(
        "--again",
        type=Path,
        metavar="SIDECAR",
        help="make a montage again, of the same checkpoints: MONTAGE.json, or the montage beside it; only -o besides",
    )
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
    group.add_argument("--seeds", metavar="N,N", help="every checkpoint from each of these; in a grid, a column each")
    _add(
        group,
        "--episodes",
        also="--inference_episodes",
        type=int,
        default=1,
        metavar="N",
        help="in every clip (default: 1)",
    )
    _add(
        group,
        "--stochastic",
        also="--explore_during_inference",
        action="store_true",
        help="draw actions rather than taking the likeliest ones",
    )
    _add(
        group,
        "--video-name",
        metavar="FILE",
        help="show this film of each checkpoint, as training left it, and no other",
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
    group.add_argument(
        "--by",
        choices=("checkpoint", "seed", "run", "algorithm"),
        help="what a column of a grid or poster is; what else differs makes the rows; a seed is that of the episodes, "
        "where they have one in common that of the training (default: a seed where episodes have several, else a "
        "checkpoint, with a row a run)",
    )
    group.add_argument(
        "--columns", type=int, metavar="N", help="of a grid or poster, filled row by row (default: chosen by shape)"
    )
    group.add_argument(
        "--moment",
        type=float,
        default=0.5,
        metavar="X",
        help="part of the episode a poster shows, 0 to 1 (default: 0.5)",
    )
    group.add_argument("--curve", action="store_true", help="the return curve under the clips, with a dot that moves")
    group.add_argument("--title", default="", metavar="TEXT", help="opens a film, stands over a grid or poster")
    _add(group, "--end-card", action="store_true", help="end a film or grid with the command that makes it")
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
    _add(
        group,
        "--font-path",
        type=Path,
        metavar="FILE",
        help="a TrueType file for all that is written (default: one that has the title's letters)",
    )


def command(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the words that make the montage again, without those that say what is so anyway."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    words = ["workbench", "montage", *args.run]
    told = set[str]()
    for action in parser._actions:
        name, value = action.dest, getattr(args, action.dest, None)
        if (
            name in told
            or name in {"run", "help", "json", "again"}
            or value is None
            or value == parser.get_default(name)
        ):
            continue
        told.add(name)
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        else:
            for item in value if isinstance(value, list) else [value]:
                words += [flag, f"{item:g}" if isinstance(item, float) else str(item)]
    return tuple(words)
