"""`workbench checkpoint`: let live runs write a checkpoint now."""

from __future__ import annotations

import argparse

from workbench.project import Project


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `checkpoint`."""
    from workbench.verbs.steering import add_common

    parser.add_argument("runs", nargs="+", metavar="RUN", help="full name, last four digits, or a prefix into the date")
    add_common(parser)


def run(args: argparse.Namespace, project: Project) -> int:
    """Have checkpoints written, and return 0 where all were."""
    from workbench.runs.steering import request_checkpoint
    from workbench.verbs.steering import ask, find_runs, tell

    outcomes = ask(find_runs(args, project, args.runs), request_checkpoint, args.timeout)
    return tell(outcomes, lambda outcome: outcome.reason, as_json=args.json)
