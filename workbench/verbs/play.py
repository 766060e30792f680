"""`workbench play`: watch a checkpoint or an environment in a window, or several side by side."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from workbench.errors import RequestError, WorkbenchError
from workbench.project import Project
from workbench.viewer import options

if TYPE_CHECKING:
    from workbench.runs.recordings import EpisodeResult


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `play`."""
    options.add_play_arguments(parser)
    parser.add_argument(
        "--remote", action="store_true", help="take commands from stdin and tell events on stdout, as lines of JSON"
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "In the window: space plays and pauses; right arrow, l and n step; left arrow and h step back; up and down\n"
        "go along the checkpoints; r and 0 restart the episode; . and , go to the next and the previous seed; + and -\n"
        "change the speed; f follows with the camera, a shows the whole model; c, v, j and m show contacts, forces,\n"
        "joints and centres of mass; t changes the theme; tab hides the panel; 1 to 9 look at one of several; q ends.\n"
        "Drag to look around; hold ctrl and drag to pull at a body."
    )


def run(args: argparse.Namespace, project: Project) -> int:
    """Play until the window is closed, and return 0."""
    options.check_play(args)
    if args.remote:
        from workbench.viewer import remote

        return remote.run(args, project)
    if args.frames_fd is not None or not args.window:
        raise RequestError("--frames-fd and --no-window are for --remote.")
    from workbench.viewer import backend, window
    from workbench.viewer.opening import open_show
    from workbench.viewer.targets import find_targets

    find_targets(project, args)
    # Before environments are made: without a display that would be seconds for nothing.
    backend.require("window")
    with open_show(args, project, on_fault=_warn, on_episode=_tell, on_lost=_lose) as show:
        show.orders.screens.show_window(True)
        with window.ends_on_signals(show.orders.player):
            window.play(show.orders.player, show.orders.screens)
    return 0


def _tell(number: int, episode: EpisodeResult, lane: int) -> None:
    from workbench.viewer.session import describe

    print(describe(number, episode), flush=True)  # noqa: T201


def _lose() -> int:
    sys.stderr.write("workbench: the display is gone, and the window with it.\n")
    sys.stderr.flush()
    return 1


def _warn(error: WorkbenchError) -> None:
    sys.stderr.write(f"workbench: {error.message}\n")
