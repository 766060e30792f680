"""`workbench queue`: which runs wait, when each starts, and changing their order."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import RequestError
from workbench.project import Project
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.runs.queueing import Move

_HELP = {
    "first": "let these start before all others",
    "last": "let these start after all others",
    "up": "let each change places with the one before it",
    "down": "let each change places with the one after it",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `queue`."""
    parser.add_argument("runs", nargs="*", metavar="RUN", help="queued runs to move; without, the queue is listed")
    where = parser.add_mutually_exclusive_group()
    for name, text in _HELP.items():
        where.add_argument(f"--{name}", dest="where", action="store_const", const=name, help=text)
    parser.add_argument("-o", "--output-dir", type=Path, metavar="DIR", help="folder of runs (default: the project's)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace, project: Project) -> int:
    """Move what is asked for, list the queue and return 0."""
    from workbench.runs import find_run
    from workbench.runs.queueing import Move, move_in_queue

    runs_root: Path = args.output_dir or project.runs
    where: Move | None = None if args.where is None else Move(args.where)
    if where is not None and not args.runs:
        raise RequestError(f"name the runs to move {where}.", hint="`workbench queue` lists those that wait.")
    if where is None and args.runs:
        flags = ", ".join(f"--{name}" for name in _HELP)
        raise RequestError("say where they shall go.", hint=f"There are {flags}.")
    if where is not None:
        move_in_queue([find_run(runs_root, name) for name in args.runs], where)
    _list(runs_root, as_json=args.json)
    return 0


def _list(runs_root: Path, *, as_json: bool) -> None:
    from workbench.runs import RunStore
    from workbench.runs.queueing import queue_places
    from workbench.verbs.run_text import place_text, short_title, write_line

    rows = RunStore(runs_root).list()
    places = queue_places(runs_root, rows)
    by_name = {row.name: row for row in rows}
    if as_json:
        write_json({"runs": [{**by_name[name].to_json(), **place.__dict__} for name, place in places.items()]})
        return
    for name, place in places.items():
        row = by_name[name]
        seed = "" if row.seed is None else f" seed {row.seed}"
        write_line(f"{short_title(row)} {row.algorithm.upper()}{seed}  {place_text(place)}", sys.stdout)
    if not places:
        write_line("No run waits.", sys.stderr)
