"""Scores a checkpoint of a run that has ended: `python -m workbench.policies.rescoring RUN_DIR ID STEPS`.

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
from workbench.policies.scoring import NICE, THREADS, rescore
from workbench.runs import EventWriter, RunDirectory
from workbench.runs.steering import find_checkpoint

BEGUN = "{checkpoint} is scored over {episodes} episodes"
"""What is answered once an evaluation has begun."""


def main(arguments: list[str] | None = None) -> int:
    """Score, and return 0 where that worked."""
    parser = argparse.ArgumentParser(prog="python -m workbench.policies.rescoring", description=__doc__)
    parser.add_argument("run_dir", type=Path, metavar="RUN_DIR")
    parser.add_argument("request", metavar="ID")
    parser.add_argument("steps", type=int, metavar="STEPS")
    options = parser.parse_args(arguments)
    for name, value in THREADS.items():
        os.environ.setdefault(name, value)
    with contextlib.suppress(OSError):
        os.nice(NICE)
    # Ctrl-C in a terminal is for whoever asked.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    run = RunDirectory(options.run_dir)
    with EventWriter(run.events_path) as events:
        return _score(run, events, options.request, options.steps)


def scores_of(scores: dict[str, Any]) -> dict[str, Any]:
    """Return what a `scores` event says of an evaluation that `evaluation.json` holds."""
    names = ("mean_return", "std_return", "lower_bound", "mean_length", "returns", "endings", "seed")
    return {name: scores[name] for name in names}


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


if __name__ == "__main__":
    sys.exit(main())
