"""`workbench play`: watch a checkpoint or an environment in a window."""

from __future__ import annotations

import argparse
import contextlib
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.project import Project
from workbench.viewer import options

if TYPE_CHECKING:
    from workbench.runs.recordings import EpisodeResult
    from workbench.viewer.player import Player
    from workbench.viewer.stage import Stage


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `play`."""
    options.add_target_arguments(parser)
    parser.add_argument("--episodes", type=int, metavar="N", help="end after N episodes (default: until closed)")
    options.add_theme_argument(parser)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "In the window: space plays and pauses; right arrow, l and n step; r and 0 restart the episode; . and , go\n"
        "to the next and the previous seed; + and - change the speed; f follows; q ends. Drag to look around."
    )


def run(args: argparse.Namespace, project: Project) -> int:
    """Play until the window is closed, and return 0."""
    if args.episodes is not None:
        options.episode_count(args.episodes)
    options.check_seed(args.seed)
    from workbench.viewer import backend, window
    from workbench.viewer.player import Player
    from workbench.viewer.session import control_period
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
        stage = _stage(player, args.theme)
        try:
            with _ends_on_signals(player):
                window.play(player, stage)
        finally:
            stage.close()
    finally:
        session.env.close()
    return 0


@contextlib.contextmanager
def _ends_on_signals(player: Player) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM close the window as a click does."""
    try:
        before = {
            number: signal.signal(number, lambda _number, _frame: player.quit())
            for number in (signal.SIGINT, signal.SIGTERM)
        }
    except ValueError:  # Not the main thread, which alone hears signals.
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stage(player: Player, theme: str) -> Stage:
    from workbench.viewer.frames import has_mujoco_model
    from workbench.viewer.look import theme_named
    from workbench.viewer.stage import MujocoStage, PictureStage

    kind = MujocoStage if has_mujoco_model(player.session.env) else PictureStage
    return kind(player, theme_named(theme))


def _tell(number: int, episode: EpisodeResult) -> None:
    from workbench.viewer.session import describe

    print(describe(number, episode), flush=True)  # noqa: T201
