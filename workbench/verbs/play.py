"""`workbench play`: watch a checkpoint or an environment in a window."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.errors import RequestError
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
        "In the window: space plays and pauses; right arrow, l and n step; left arrow and h step back; r and 0\n"
        "restart the episode; . and , go to the next and the previous seed; + and - change the speed; f follows;\n"
        "q ends. Drag to look around."
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
    from workbench.viewer.look import theme_named
    from workbench.viewer.player import Player
    from workbench.viewer.session import control_period
    from workbench.viewer.stage import make_stage
    from workbench.viewer.target import find_target

    target = find_target(project, args.target, agent=args.agent, env=args.env)
    # Before the environment is made: without a display that would be seconds for nothing.
    backend.require("window")
    session = target.open(seed=args.seed, stochastic=args.stochastic)
    try:
        player = Player(
            session,
            period_s=control_period(session.env),
            title=target.title,
            has_policy=target.agent == "policy",
            episodes=args.episodes,
            on_episode=_tell,
        )
        stage = make_stage(player, theme_named(args.theme))
        try:
            with window.ends_on_signals(player):
                window.play(player, stage)
        finally:
            stage.close()
    finally:
        session.env.close()
    return 0


def _tell(number: int, episode: EpisodeResult, lane: int) -> None:
    from workbench.viewer.session import describe

    print(describe(number, episode), flush=True)  # noqa: T201
