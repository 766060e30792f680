"""`workbench plot`: curves of runs in the shell, by plotext; once, or again and again while they train."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from workbench.errors import NotFoundError, RequestError
from workbench.project import Project
from workbench.verbs.writing import can_show

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from workbench.runs.directory import RunDirectory
    from workbench.runs.history import History

RETURN_METRIC = "rollout/ep_rew_mean"
AXES = ("steps", "time", "episodes")
WATCH_S = 2.0
"""Between two drawings of `--watch`."""
HEIGHT = 20
SMALLEST = (30, 8)
"""Columns and rows; with fewer nothing can be told."""
_X_TICKS = 6
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_FRAME = {"─": "-", "│": "|", "┌": "+", "┐": "+", "└": "+", "┘": "+", "┤": "|", "┬": "-"}
_PLAIN_FRAME = str.maketrans(_FRAME)
"""What the frame is made of where the output has no such signs."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `plot`."""
    parser.add_argument("run", nargs="+", metavar="RUN", help="runs to draw over each other")
    parser.add_argument(
        "--metric", default=RETURN_METRIC, metavar="NAME", help=f"what to draw (default: {RETURN_METRIC}); ? lists them"
    )
    parser.add_argument(
        "--smooth",
        type=float,
        default=0.9,
        metavar="W",
        help="weight of the exponential mean, 0 for none (default: 0.9)",
    )
    parser.add_argument("--x", choices=AXES, default="steps", help="what runs along the bottom (default: steps)")
    parser.add_argument("--size", metavar="WxH", help="columns and rows (default: the terminal's width, 20 rows)")
    parser.add_argument("--watch", action="store_true", help="draw again every 2 s until all have ended or Ctrl-C")
    parser.add_argument("-o", "--output-dir", type=Path, metavar="DIR", help="folder of runs (default: the project's)")


@dataclass(frozen=True, eq=False)
class _Curve:
    label: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]


def run(args: argparse.Namespace, project: Project) -> int:
    """Draw and return 0.

    Raises:
        RequestError: A run or a metric is not there, or a flag makes no sense.
    """
    from workbench.runs.history import History
    from workbench.runs.references import find_run
    from workbench.verbs.foreign import ForeignRuns

    size = _size(args.size)
    if not 0 <= args.smooth < 1:
        raise RequestError(f"--smooth takes a weight from 0 to below 1, not {args.smooth:g}.")
    if args.watch and not sys.stdout.isatty():
        raise RequestError("--watch draws over what it drew, which needs a terminal.", hint="Leave out --watch.")
    root: Path = args.output_dir or project.runs
    ForeignRuns(project, root).refresh()
    histories = [History(item) for item in dict.fromkeys(find_run(root, text) for text in args.run)]
    for history in histories:
        history.refresh()
    if args.metric == "?":
        print("\n".join(sorted({name for history in histories for name in history.series})))  # noqa: T201
        return 0
    _check_metric(args.metric, histories)
    if not args.watch:
        _write(_picture(histories, args, size or (_columns(), HEIGHT)))
        return 0
    with contextlib.suppress(KeyboardInterrupt):
        _watch(histories, args, size)
    return 0


def _watch(histories: Sequence[History], args: argparse.Namespace, size: tuple[int, int] | None) -> None:
    from workbench.runs.state import observe

    while True:
        for history in histories:
            history.refresh()
        picture = _picture(histories, args, size or (_columns(), HEIGHT))
        # Over the last picture, without a blank moment between.
        _write(f"\x1b[H{picture}\x1b[J", first="\x1b[2J")
        if all(observe(history.run).state.is_ended for history in histories):
            return
        time.sleep(WATCH_S)


def _write(text: str, first: str = "") -> None:
    sys.stdout.write(f"{first}{text}\n")
    sys.stdout.flush()


def _picture(histories: Sequence[History], args: argparse.Namespace, size: tuple[int, int]) -> str:
    curves = [_curve(history, args) for history in histories]
    drawn = [curve for curve in curves if len(curve.x)]
    if not drawn:
        return f"No point of {args.metric} yet."
    return draw(drawn, size=size, title=f"{args.metric}, smooth {args.smooth:g}", x_label=args.x)


def draw(curves: Sequence[_Curve], *, size: tuple[int, int], title: str, x_label: str) -> str:
    """Return curves as lines of text, with colours where the output shows them.

    Args:
        curves: Finite points, at least one a curve.
        size: Columns and rows.
        title: Stands above.
        x_label: Stands below.
    """
    from plotext._figure import _figure_class

    # Never the global figure: what another part of a process draws must not show up here.
    figure = _figure_class()
    figure._limit_size(False, False)
    figure.theme("clear" if _colourless() else "pro")
    figure.plot_size(*size)
    figure.title(title)
    figure.xlabel(x_label)
    colourless = _colourless()
    is_plain = not can_show(f"⠿{''.join(_FRAME)}", sys.stdout)
    for curve, letter in zip(curves, itertools.cycle(ascii_lowercase), strict=False):
        # Without colours lines are told apart by what they are made of.
        marker = letter if is_plain or (colourless and len(curves) > 1) else "braille"
        figure.plot(curve.x.tolist(), curve.y.tolist(), marker=marker, label=curve.label)
    _label(figure, curves, x_label)
    text = str(figure.build())
    text = _COLOURS.sub("", text) if colourless else text
    text = text.translate(_PLAIN_FRAME) if is_plain else text
    return "\n".join(line.rstrip() for line in text.splitlines())


def _label(figure: Any, curves: Sequence[_Curve], x_label: str) -> None:
    from workbench import formatting
    from workbench.axes import ticks

    low = min(float(curve.x.min()) for curve in curves)
    high = max(float(curve.x.max()) for curve in curves)
    if not high > low:
        return
    places = [tick.at for tick in ticks(low, high, _X_TICKS)]
    say = formatting.duration if x_label == "time" else formatting.amount
    figure.xticks(places, [say(place) if x_label == "time" or place else "0" for place in places])


def _curve(history: History, args: argparse.Namespace) -> _Curve:
    import numpy as np

    from workbench.ui.charts.smoothing import smooth

    run: RunDirectory = history.run
    label = f"{run.short_name} {run.short_id}"
    series = history.series.get(args.metric)
    if series is None:
        return _Curve(label, np.empty(0), np.empty(0))
    x = {"steps": series.steps, "time": series.wall_s, "episodes": series.episodes}[args.x]
    values = smooth(series.values, args.smooth)
    known = np.isfinite(values) & np.isfinite(x)
    return _Curve(label, x[known], values[known])


def _check_metric(metric: str, histories: Sequence[History]) -> None:
    from workbench.suggest import nearest

    names = {name for history in histories for name in history.series}
    # A run that has just begun has written none; what it will write is not known here.
    if metric in names or not names or metric == RETURN_METRIC:
        return
    close = nearest(metric, names)
    hint = f"Did you mean {' or '.join(close)}?" if close else "--metric ? lists what there is."
    raise NotFoundError(f"these runs have no metric `{metric}`.", hint=hint)


def _size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    parts = text.lower().split("x")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise RequestError(f"--size takes WxH such as 100x30, not `{text}`.")
    width, height = map(int, parts)
    if width < SMALLEST[0] or height < SMALLEST[1]:
        raise RequestError(f"--size takes at least {SMALLEST[0]}x{SMALLEST[1]}, not {text}.")
    return width, height


def _columns() -> int:
    return max(SMALLEST[0], shutil.get_terminal_size((100, HEIGHT)).columns)


def _colourless() -> bool:
    return bool(os.environ.get("NO_COLOR")) or not sys.stdout.isatty()
