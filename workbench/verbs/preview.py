"""`workbench preview`: what to look at before an environment is trained on."""

from __future__ import annotations

import argparse
import sys

from workbench.errors import RequestError
from workbench.project import Project
from workbench.verbs.writing import write_json

MARKS = {"pass": "✓", "skip": "–", "warn": "!", "fail": "✗"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `preview`."""
    parser.add_argument("environment", metavar="ENV", help="a name, the beginning of one, or a Gymnasium ID")
    parser.add_argument(
        "--checks",
        metavar="NAMES",
        help="only these, separated by commas: settle, joint-sweep, random-actions, action-map, training-loop",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace, project: Project) -> int:
    """Run the checks; 1 where one of them fails, 0 where there are warnings at most."""
    from workbench.catalog import discover
    from workbench.preview import CHECKS, preview, worst
    from workbench.simulation import EnvSource
    from workbench.suggest import nearest

    chosen = CHECKS if args.checks is None else tuple(name.strip() for name in args.checks.split(","))
    for name in chosen:
        if name not in CHECKS:
            close = nearest(name, CHECKS)
            hint = f"Did you mean {close[0]}?" if close else f"There are {', '.join(CHECKS)}."
            raise RequestError(f"there is no check {name!r}.", hint=hint)
    source = EnvSource.from_entry(discover(project).find(args.environment))

    def begin(name: str) -> None:
        if not args.json and sys.stderr.isatty():
            print(f"\r{name} …", end="\r", file=sys.stderr, flush=True)  # noqa: T201

    findings = []
    for finding in preview(source, project, chosen, begin=begin):
        findings.append(finding)
        if args.json:
            continue
        owner = f" [{finding.owner}]" if finding.owner else ""
        # Each is worth reading while the next check runs, through a pipe too.
        print(f"{MARKS[finding.status]} {finding.check:<14} {finding.said}{owner}", flush=True)  # noqa: T201
        if finding.fix:
            print(f"{'':<17}{finding.fix}", flush=True)  # noqa: T201
    status = worst(findings)
    if args.json:
        told = [finding.to_json() for finding in findings]
        write_json({"environment": source.name, "env_id": source.env_id, "status": status, "findings": told}, indent=2)
    else:
        counts = [f"{sum(one.status == kind for one in findings)} {kind}" for kind in ("fail", "warn")]
        print(f"{source.name}: {', '.join(counts)}. This made no policy.")  # noqa: T201
    return int(status == "fail")
