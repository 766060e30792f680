"""Scores checkpoints of a run that has ended: `python -m workbench.policies.rescoring RUN_DIR ID (STEPS | --best K)`.

The run has no process to answer a request any more, so this one does: it appends to the run's event stream that it has
begun, and what came of it. It needs no torch, and stands back behind whatever trains.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from workbench.errors import WorkbenchError
from workbench.policies.honest_best import GivenUpError, Scored, scores_of, settle_best
from workbench.policies.numbering import after_claims
from workbench.policies.scoring import NICE, THREADS, rescore, score_afresh
from workbench.runs import EventWriter, RunDirectory, observe
from workbench.runs.claims import claims
from workbench.runs.steering import find_checkpoint
from workbench.specs import RunSpec

BEGUN = "{checkpoint} is scored over {episodes} episodes"
"""What is answered once an evaluation has begun."""

NO_CLAIMS = "none of its checkpoints was evaluated while it trained"
NONE_SCORED = "none of them could be scored"
GOES_ON = "the run goes on, and settles its best checkpoint at its end"


def main(arguments: list[str] | None = None) -> int:
    """Score, and return 0 where that worked."""
    parser = argparse.ArgumentParser(prog="python -m workbench.policies.rescoring", description=__doc__)
    parser.add_argument("run_dir", type=Path, metavar="RUN_DIR")
    parser.add_argument("request", metavar="ID")
    parser.add_argument("steps", type=int, nargs="?", metavar="STEPS")
    parser.add_argument("--best", type=int, metavar="K", help="score those with the K best claims, and settle the best")
    parser.add_argument("--episodes", type=int, metavar="N", help="how many, of those with the best claims")
    options = parser.parse_args(arguments)
    for name, value in THREADS.items():
        os.environ.setdefault(name, value)
    with contextlib.suppress(OSError):
        os.nice(NICE)
    # Ctrl-C in a terminal is for whoever asked.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    run = RunDirectory(options.run_dir)
    with EventWriter(run.events_path) as events:
        if options.best is not None:
            return _settle(run, events, options.request, options.best, options.episodes)
        return _score(run, events, options.request, options.steps)


def _score(run: RunDirectory, events: EventWriter, request: str, steps: int) -> int:
    asked: dict[str, Any] = {"id": request, "verb": "evaluate", "steps": steps}
    try:
        spec, checkpoint = run.spec(), find_checkpoint(run, steps)
    except (OSError, WorkbenchError) as error:
        events.append("request", ok=False, reason=str(error), **asked)
        return 1
    name = checkpoint.path.name
    begun = BEGUN.format(checkpoint=name, episodes=spec.eval_episodes)
    events.append("request", ok=True, reason=begun, **asked)
    told: dict[str, Any]
    try:
        told = scores_of(
            rescore(checkpoint.path, episodes=spec.eval_episodes, seed=spec.eval_seed, request=request).to_json()
        )
    except WorkbenchError as error:
        told = {"failure": str(error)}
    except Exception as error:
        traceback.print_exc()
        told = {"failure": f"{type(error).__name__}: {error}"}
    events.append("scores", id=request, steps=steps, checkpoint=name, of_steps=steps, **told)
    return int("failure" in told)


def _settle(run: RunDirectory, events: EventWriter, request: str, count: int, episodes: int | None) -> int:
    asked: dict[str, Any] = {"id": request, "verb": "settle_best"}
    try:
        spec = run.spec()
    except (OSError, WorkbenchError) as error:
        events.append("request", ok=False, reason=str(error), **asked)
        return 1
    candidates = [claim.checkpoint.path for claim in claims(run)[:count]]
    if not candidates:
        events.append("request", ok=False, reason=NO_CLAIMS, **asked)
        return 1
    many = episodes or spec.rescore_episodes
    events.append("request", ok=True, reason=f"{len(candidates)} checkpoints are scored over {many} episodes", **asked)

    def score(path: Path) -> Scored:
        if not observe(run).state.is_ended:
            # Its own process alone may say which one is best.
            raise GivenUpError
        return _scored_afresh(path, spec, many)

    try:
        best, failure = settle_best(run, events, candidates, score, say=_say, request=request), NONE_SCORED
    except GivenUpError:
        best, failure = None, GOES_ON
    if best is None:
        events.append("best", id=request, failure=failure)
    return int(best is None)


def _say(line: str) -> None:
    # It goes to the log of the run.
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _scored_afresh(path: Path, spec: RunSpec, episodes: int) -> Scored:
    seed = after_claims(spec.eval_seed, spec.eval_episodes)
    try:
        return Scored(score_afresh(path, episodes=episodes, seed=seed))
    except WorkbenchError as error:
        return Scored(None, str(error))
    except Exception as error:
        traceback.print_exc()
        return Scored(None, f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    sys.exit(main())
