"""`workbench set`: give a live run other values, or list those it can have."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from workbench.errors import RequestError
from workbench.project import Project
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.runs import RunDirectory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `set`."""
    from workbench.verbs.steering import add_common

    parser.add_argument("run", metavar="RUN", help="full name, last four digits, or a prefix into the date")
    parser.add_argument(
        "values",
        nargs="*",
        metavar="KEY=VALUE",
        help="as in ppo.learning_rate=1e-4, reward.forward=0.5 or total_steps=20M; "
        "without any, what can change is listed with its values",
    )
    add_common(parser)


def run(args: argparse.Namespace, project: Project) -> int:
    """Change values, and return 0 where the run took them, 1 where it refused them."""
    from workbench.runs.steering import change_run
    from workbench.verbs.steering import ask, find_runs, tell

    [found] = find_runs(args, project, [args.run])
    if not args.values:
        return _list(found, as_json=args.json)
    values = _read(args.values)
    outcomes = ask([found], lambda one: change_run(one, values), args.timeout)
    return tell(outcomes, lambda outcome: f"changed: {outcome.reason}", as_json=args.json)


def _read(words: list[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key.strip():
            raise RequestError(f"{word} is no KEY=VALUE; type for example ppo.learning_rate=1e-4.")
        if key.strip() in values:
            raise RequestError(f"{key.strip()} is given twice.")
        values[key.strip()] = text
    return values


def _list(found: RunDirectory, *, as_json: bool) -> int:
    from workbench.runs.steering import live_fields
    from workbench.verbs.run_text import write_line

    fields = live_fields(found)
    if as_json:
        rows: list[dict[str, Any]] = [
            {"key": item.key, "value": item.value, "accepts": item.row.accepts, "doc": item.row.doc} for item in fields
        ]
        write_json({"id": found.short_id, "name": found.name, "fields": rows})
        return 0
    widest, longest = max(len(item.key) for item in fields), max(len(item.text) for item in fields)
    for item in fields:
        write_line(f"{item.key:<{widest}}  {item.text:<{longest}}  {item.row.doc}".rstrip(), sys.stdout)
    return 0
