"""`workbench stop`: ask runs to write a checkpoint and end, or kill what does not answer."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import RequestError
from workbench.project import Project
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.runs import ObservedState, RunDirectory

TIMEOUT_S = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `stop`."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="full name, last four digits, or a prefix into the date")
    parser.add_argument("--kill", action="store_true", help="end the process now, without a checkpoint")
    parser.add_argument(
        "--timeout", type=float, default=TIMEOUT_S, metavar="S", help="seconds to wait for the end (default: 30)"
    )
    parser.add_argument("-o", "--output-dir", type=Path, metavar="DIR", help="folder of runs (default: the project's)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace, project: Project) -> int:
    """Stop the runs, and return 0 where all have ended, 1 where one did not answer in time or crashed."""
    from workbench.runs import find_run, kill_run, observe, stop_run
    from workbench.runs.stopping import wait_for_end

    if not 0 <= args.timeout < float("inf"):
        raise RequestError(f"--timeout takes a number of seconds, not {args.timeout:g}.")
    runs_root = args.output_dir or project.runs
    # All are found before any is stopped: a misspelt name stops nothing.
    runs = list(dict.fromkeys(find_run(runs_root, text) for text in args.runs))
    before = {one: observe(one) for one in runs}
    for one in runs:
        if args.kill:
            kill_run(one)
        else:
            stop_run(one)
    after = {one: wait_for_end(one, args.timeout) for one in runs}
    if args.json:
        rows = [_as_json(one, before[one], after[one]) for one in runs]
        write_json({"runs": rows})
    else:
        from workbench.verbs.run_text import write_line

        for one in runs:
            write_line(_sentence(one, before[one], after[one], args.timeout), sys.stdout)
    ended_badly = any(after[one].state.is_bad and not before[one].state.is_ended for one in runs)
    return int(ended_badly or not all(seen.state.is_ended for seen in after.values()))


def _sentence(run: RunDirectory, before: ObservedState, after: ObservedState, timeout_s: float) -> str:
    title = f"{run.short_name} {run.short_id}"
    if not after.state.is_ended:
        return (
            f"{title} is still {after.state} after {timeout_s:g} s; it ends at the end of its iteration. "
            f"`workbench stop {run.short_id} --kill` ends it now, without a checkpoint."
        )
    ending = f"{after.state}: {after.reason}" if after.reason else str(after.state)
    if before.state.is_ended:
        return f"{title} had ended already, {ending}"
    latest = run.latest()
    saved = "" if latest is None else f"; its last checkpoint is {run.short_id}:{latest.steps}"
    return f"{title} {ending}{saved}"


def _as_json(run: RunDirectory, before: ObservedState, after: ObservedState) -> dict[str, object]:
    latest = run.latest()
    return {
        "id": run.short_id,
        "name": run.name,
        "path": str(run.path),
        "state_before": str(before.state),
        "state": str(after.state),
        "reason": after.reason,
        "has_ended": after.state.is_ended,
        "latest_checkpoint": None if latest is None else str(latest.path),
    }
