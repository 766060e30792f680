"""`workbench rescore`: score a checkpoint of a run once more, or settle which one is best, on new episodes."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.errors import RequestError
from workbench.project import Project
from workbench.verbs.numbers import whole_number
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.runs import RunDirectory

TIMEOUT_S = 600.0
POLL_S = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `rescore`."""
    from workbench.verbs.steering import add_common

    parser.add_argument(
        "checkpoint",
        metavar="RUN[:STEPS]",
        help="a run and the steps of one of its checkpoints, best or latest (default); "
        "one that has scores plays new episodes that follow those",
    )
    parser.add_argument(
        "--best",
        type=whole_number,
        metavar="K",
        help="score the K checkpoints with the best claims on the same new episodes, and let the best of them be the "
        "run's best; of a run that has ended",
    )
    parser.add_argument(
        "--episodes", type=whole_number, metavar="N", help="with --best: how many (default: the run's rescore_episodes)"
    )
    add_common(parser)
    parser.set_defaults(timeout=TIMEOUT_S)


def run(args: argparse.Namespace, project: Project) -> int:
    """Score, and return 0 where there are scores, 1 where that failed, 3 where none came in time."""
    from workbench.runs.steering import find_scores, request_evaluation
    from workbench.verbs.steering import ask, find_runs, tell, title

    name, _, which = args.checkpoint.partition(":")
    [found] = find_runs(args, project, [name])
    if args.best is not None:
        if which:
            raise RequestError(f"--best chooses the checkpoints itself; type {name} without :{which}.")
        return _settle(args, found)
    if args.episodes is not None:
        raise RequestError("--episodes is for --best; a single checkpoint plays as many as the run's evaluations.")
    steps = _steps(found, which)
    deadline = time.monotonic() + args.timeout
    [outcome] = ask([found], lambda one: request_evaluation(one, steps), args.timeout)
    if not outcome.ok or outcome.request is None:
        return tell([outcome], lambda _: "", as_json=args.json) and (3 if outcome.ok is None else 1)
    told = _await(partial(find_scores, found, outcome.request), outcome.reason, deadline)
    if args.json:
        write_json({**outcome.to_json(), "scores": told})
    else:
        from workbench.verbs.run_text import write_line

        write_line(f"{title(found)} {_sentence(told, args.timeout)}", sys.stdout)
    return 3 if told is None else int("failure" in told)


def _settle(args: argparse.Namespace, found: RunDirectory) -> int:
    from workbench.runs.steering import find_best, request_best
    from workbench.verbs.steering import ask, tell, title

    deadline = time.monotonic() + args.timeout
    [outcome] = ask([found], lambda one: request_best(one, args.best, args.episodes), args.timeout)
    if not outcome.ok or outcome.request is None:
        return tell([outcome], lambda _: "", as_json=args.json) and (3 if outcome.ok is None else 1)
    told = _await(partial(find_best, found, outcome.request), outcome.reason, deadline)
    if args.json:
        write_json({**outcome.to_json(), "best": told})
    else:
        from workbench.verbs.run_text import write_line

        write_line(f"{title(found)} {_settled(told, args.timeout)}", sys.stdout)
    return 3 if told is None else int("failure" in told)


def _settled(told: dict[str, Any] | None, timeout_s: float) -> str:
    from workbench.formatting import digits, number

    if told is None:
        return f"is not settled after {timeout_s:g} s; its events tell when it is"
    if "failure" in told:
        return f"keeps its best: {told['failure']}"
    moved = f", and not {told['before']}" if told["before"] not in ("", told["checkpoint"]) else ""
    first, count = int(told["seed"]), int(told["episodes"])
    claimed = "" if told["claimed"] is None else f"; claimed was {number(told['claimed'])}"
    return (
        f"best is {told['checkpoint']}{moved}: return {number(told['mean_return'])} ± {number(told['std_return'])} "
        f"over {digits(count)} episodes, {first} to {first + count - 1}{claimed}"
    )


def _steps(found: RunDirectory, which: str) -> int | None:
    if which in ("", "latest"):
        return None
    if which == "best":
        best = found.best()
        if best is None:
            raise RequestError(f"{found.name} has no best checkpoint yet; `{found.short_id}:latest` is the newest.")
        return best.steps
    if not which.isdigit():
        raise RequestError(f"{which} is no checkpoint of {found.name}; type its steps, best or latest.")
    return int(which)


def _await(find: Callable[[], dict[str, Any] | None], what: str, deadline: float) -> dict[str, Any] | None:
    from workbench.verbs.steering import Progress

    with Progress(what) as progress:
        while True:
            told = find()
            if told is not None or time.monotonic() >= deadline:
                return told
            progress.show()
            time.sleep(POLL_S)


def _sentence(told: dict[str, Any] | None, timeout_s: float) -> str:
    from workbench.formatting import digits, number

    if told is None:
        return f"has no scores after {timeout_s:g} s; they are told in its events when they come"
    if "failure" in told:
        return f"could not be scored: {told['failure']}"
    episodes, first = len(told["returns"]), int(told["seed"])
    return (
        f"{told['checkpoint']}: return {number(told['mean_return'])} ± {number(told['std_return'])} over "
        f"{digits(episodes)} episodes, {first} to {first + episodes - 1}"
    )
