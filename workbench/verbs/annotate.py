"""`workbench annotate`: tags, a note and pins of runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import RequestError
from workbench.project import Project
from workbench.verbs.numbers import whole_number
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.runs import RunDirectory

_CHANGES = ("tags", "untags", "note", "pins", "unpins", "top")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `annotate`."""
    add = parser.add_argument
    add("runs", nargs="+", metavar="RUN", help="full name, last four digits, or a prefix into the date")
    add("--tag", action="append", dest="tags", metavar="T", help="put a tag on; may be repeated")
    add("--untag", action="append", dest="untags", metavar="T", help="take a tag off; may be repeated")
    add("--note", metavar="TEXT", help="replace the note; an empty one takes it away")
    add(
        "--pin",
        action="append",
        type=whole_number,
        dest="pins",
        metavar="STEPS",
        help="never throw this checkpoint away; may be repeated",
    )
    add("--unpin", action="append", type=whole_number, dest="unpins", metavar="STEPS", help="let it go again")
    top = parser.add_mutually_exclusive_group()
    top.add_argument("--top", action="store_true", default=None, help="show the run on top of the list")
    top.add_argument("--no-top", action="store_false", dest="top", help="show it in its place again")
    add("-o", "--output-dir", type=Path, metavar="DIR", help="folder of runs (default: the project's)")
    add("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace, project: Project) -> int:
    """Annotate, show what is there then, and return 0."""
    from workbench.runs import find_run

    runs_root: Path = args.output_dir or project.runs
    if args.pins and len(args.runs) > 1:
        raise RequestError("a checkpoint is pinned in one run at a time.")
    found = list(dict.fromkeys(find_run(runs_root, name) for name in args.runs))
    if any(getattr(args, name) is not None for name in _CHANGES):
        for one in found:
            _change(one, args)
    if args.json:
        write_json({"runs": [_as_json(one) for one in found]})
    else:
        for one in found:
            _print(one)
    return 0


def _change(run: RunDirectory, args: argparse.Namespace) -> None:
    from workbench.runs.annotations import change_tags, pin_checkpoint, pin_run, set_note

    # What may be refused comes first.
    for steps in args.pins or ():
        pin_checkpoint(run, steps)
    if args.tags or args.untags:
        change_tags(run, add=args.tags or (), remove=args.untags or ())
    for steps in args.unpins or ():
        pin_checkpoint(run, steps, is_pinned=False)
    if args.note is not None:
        set_note(run, args.note)
    if args.top is not None:
        pin_run(run, is_pinned=args.top)


def _print(run: RunDirectory) -> None:
    from workbench.formatting import UNKNOWN
    from workbench.runs import RunStore
    from workbench.verbs.run_text import write_line

    told, tags = run.annotations(), RunStore(run.runs_root).summary(run).tags
    parts = [f"{run.short_name} {run.short_id}", f"tags {' '.join(tags) or UNKNOWN}", f"note {told.note or UNKNOWN}"]
    if told.pinned:
        parts.append(f"pinned {' '.join(map(str, told.pinned))}")
    write_line("  ".join([*parts, *(["on top"] if told.is_on_top else [])]), sys.stdout)


def _as_json(run: RunDirectory) -> dict[str, object]:
    from workbench.runs import RunStore

    told = run.annotations()
    return {
        "id": run.short_id,
        "name": run.name,
        "tags": list(RunStore(run.runs_root).summary(run).tags),
        "note": told.note,
        "pinned": list(told.pinned),
        "is_on_top": told.is_on_top,
    }
