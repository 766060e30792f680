"""`workbench pause`: let runs write a checkpoint and wait, without giving up what they have in memory."""

from __future__ import annotations

import argparse

from workbench.project import Project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `pause`."""
    from workbench.verbs.steering import add_common

    parser.add_argument("runs", nargs="+", metavar="RUN", help="full name, last four digits, or a prefix into the date")
    add_common(parser)


def run(args: argparse.Namespace, project: Project) -> int:
    """Pause, and return 0 where all runs are paused, 1 where one is not."""
    from workbench.runs.steering import pause_run
    from workbench.verbs.steering import Outcome, ask, find_runs, tell

    def done(outcome: Outcome) -> str:
        return f"paused; {outcome.reason}. `workbench resume {outcome.run.short_id}` lets it go on"

    outcomes = ask(find_runs(args, project, args.runs), pause_run, args.timeout)
    return tell(outcomes, done, as_json=args.json)
