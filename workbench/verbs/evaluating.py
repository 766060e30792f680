"""What `evaluate` and `compare` have in common: their flags, and playing episodes while saying how far it is."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import RequestError, WorkbenchError, WorkFailedError
from workbench.verbs.numbers import whole_number
from workbench.verbs.run_text import for_stream
from workbench.verbs.writing import write_json
from workbench.viewer.options import add_opening_arguments

if TYPE_CHECKING:
    from workbench.policies import Evaluation
    from workbench.policies.contestants import Contestant

EPISODES = 100
NICENESS = 10
"""Training goes first."""
DRAWN_S = 0.1


def add_episode_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what says which episodes are played, and how."""
    from workbench.policies.numbering import SEED

    parser.add_argument("--env", metavar="ID", help="play in another environment than the policy was trained in")
    parser.add_argument(
        "--episodes", type=whole_number, default=EPISODES, metavar="N", help=f"how many (default: {EPISODES})"
    )
    parser.add_argument(
        "--seed",
        type=whole_number,
        default=SEED,
        metavar="N",
        help=f"number of the first episode, which alone fixes how it begins (default: {SEED}; no run chooses by those)",
    )
    add_opening_arguments(parser)
    parser.add_argument("--stochastic", action="store_true", help="sample actions (default: act greedily)")
    parser.add_argument(
        "--batch", type=whole_number, default=32, metavar="N", help="copies that play at once (default: 32)"
    )
    parser.add_argument(
        "--progress", action="store_true", help="say on stderr how far it is, even where that is no terminal"
    )


def check_episode_arguments(args: argparse.Namespace) -> None:
    """Check what says which episodes are played.

    Raises:
        RequestError: A number is out of its range.
    """
    for flag, value in (("--episodes", args.episodes), ("--batch", args.batch)):
        if value < 1:
            raise RequestError(f"{flag} takes a number from 1, not {value}.")
    if not 0 <= args.seed < 2**31:
        raise RequestError(f"--seed takes a number from 0 to {2**31 - 1}, not {args.seed}.")
    if args.csv is not None and args.csv.is_dir():
        raise RequestError(f"--csv takes a file, and {args.csv} is a folder.")


def play(contestant: Contestant, args: argparse.Namespace, should_stop: Callable[[], bool]) -> Evaluation:
    """Play the episodes that were asked for, in the background of training.

    Raises:
        SimulationError: Code of the environment raised.
        StoppedError: Someone asked for an end; with `--json` a document that says so is written first.
    """
    from workbench.policies import run_episodes
    from workbench.policies.playing import StoppedError
    from workbench.simulation.mjcf import route_warnings

    route_warnings()
    with contextlib.suppress(OSError):
        os.nice(max(0, NICENESS - os.nice(0)))
    try:
        with _Progress(contestant.name, args.episodes, always=args.progress) as progress:
            return run_episodes(
                contestant.actor,
                contestant.source,
                episodes=args.episodes,
                seed=args.seed,
                batch=args.batch,
                on_problem="count",
                on_progress=progress.tell,
                should_stop=should_stop,
            )
    except StoppedError as stopped:
        if args.json:
            write_json({"finished": False, "policy": contestant.name, "num_episodes": args.episodes,
                        "episodes_done": stopped.done})  # fmt: skip
        raise


@contextlib.contextmanager
def noting(failures: list[WorkbenchError]) -> Iterator[None]:
    """Put an error into a list instead of raising it: the figures of what was played are worth telling first."""
    try:
        yield
    except WorkbenchError as error:
        failures.append(error)


def write_table(path: Path, text: str) -> None:
    """Write a table where it was asked for.

    Raises:
        WorkFailedError: It cannot be written there.
    """
    from workbench.durable import write_text

    try:
        write_text(path, text)
    except OSError as error:
        raise WorkFailedError(f"{path} cannot be written: {error.strerror or error}.") from error


class _Progress:
    """A line on a terminal's stderr, drawn over itself; in a pipe nothing, unless asked for."""

    def __init__(self, name: str, episodes: int, *, always: bool = False) -> None:
        self._name = name
        self._episodes = episodes
        self._drawn = 0.0
        self._draws = always or sys.stderr.isatty()

    def __enter__(self) -> _Progress:
        self.tell(0)
        return self

    def __exit__(self, *_: object) -> None:
        if self._draws:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def tell(self, done: int) -> None:
        """Say how many episodes have ended."""
        now = time.monotonic()
        if self._draws and now - self._drawn >= DRAWN_S:
            self._drawn = now
            line = for_stream(f"evaluating {self._name}: {done} of {self._episodes} episodes", sys.stderr)
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()
