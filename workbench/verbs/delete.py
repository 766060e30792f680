"""`workbench delete`: move runs to the trash, bring them back, empty it."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import RequestError
from workbench.project import Project
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.runs import RunDirectory
    from workbench.runs.trash import Trashed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `delete`."""
    parser.add_argument("runs", nargs="*", metavar="RUN", help="full name, last four digits, or a prefix into the date")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--undo", action="store_true", help="bring back what was deleted last, or the runs named")
    what.add_argument("--trash", action="store_true", help="list what is in the trash")
    what.add_argument(
        "--empty",
        nargs="?",
        type=float,
        const=0.0,
        metavar="DAYS",
        help="delete for good what is in the trash, or only what was deleted more than DAYS ago",
    )
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    parser.add_argument("-o", "--output-dir", type=Path, metavar="DIR", help="folder of runs (default: the project's)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace, project: Project) -> int:
    """Do it and return 0, or 1 where a person said no."""
    runs_root: Path = args.output_dir or project.runs
    if args.undo:
        return _undo(runs_root, args.runs, as_json=args.json)
    if args.trash or args.empty is not None:
        if args.runs:
            raise RequestError("--trash and --empty are about the whole trash, and take no RUN.")
        if args.trash:
            return _list(runs_root, as_json=args.json)
        return _empty(runs_root, args.empty, yes=args.yes, as_json=args.json)
    if not args.runs:
        raise RequestError("name a run to delete.", hint="`workbench runs` lists them.")
    return _delete(runs_root, args.runs, yes=args.yes, as_json=args.json)


def _delete(runs_root: Path, names: Sequence[str], *, yes: bool, as_json: bool) -> int:
    from workbench.formatting import plural, size
    from workbench.runs import find_run
    from workbench.runs.sizes import size_of
    from workbench.runs.trash import delete_runs, why_not_deleted
    from workbench.verbs.asking import is_confirmed
    from workbench.verbs.run_text import write_line

    runs = list(dict.fromkeys(find_run(runs_root, name) for name in names))
    # Before anybody is asked: what is not possible is no question.
    refused = [why for why in map(why_not_deleted, runs) if why]
    if refused:
        raise RequestError("\n".join(refused))
    what = _title(runs[0]) if len(runs) == 1 else plural(len(runs), "run")
    if not is_confirmed(f"move {what} to the trash, {size(sum(size_of(one.path) for one in runs))}", yes=yes):
        return 1
    moved = delete_runs(runs)
    if as_json:
        write_json({"runs": [_as_json(item) for item in moved]})
        return 0
    for item in moved:
        write_line(f"{_title(item.run)} is in the trash", sys.stdout)
    if moved:
        write_line("`workbench delete --undo` brings back what was deleted last.", sys.stderr)
    return 0


def _undo(runs_root: Path, names: Sequence[str], *, as_json: bool) -> int:
    from workbench.runs.trash import restore
    from workbench.verbs.run_text import write_line

    back = [one for name in names or (None,) for one in restore(runs_root, name)]
    if as_json:
        rows = [{"id": one.short_id, "name": one.name, "path": str(one.path)} for one in back]
        write_json({"runs": rows})
    else:
        for one in back:
            write_line(f"{_title(one)} is back in {one.path}", sys.stdout)
    return 0


def _list(runs_root: Path, *, as_json: bool) -> int:
    from workbench.formatting import age, plural, size
    from workbench.runs.sizes import size_of
    from workbench.runs.trash import trashed
    from workbench.verbs.run_text import write_line

    there = trashed(runs_root)
    sizes = {item: size_of(item.path) for item in there}
    if as_json:
        write_json({"runs": [{**_as_json(item), "bytes": sizes[item]} for item in there]})
        return 0
    for item in there:
        ago = age(time.time() - item.deleted)
        write_line(f"{_title(item.run)}  deleted {ago} ago  {size(sizes[item])}  {item.name}", sys.stdout)
    write_line(f"{plural(len(there), 'run')} in the trash, {size(sum(sizes.values()))}", sys.stderr)
    return 0


def _empty(runs_root: Path, days: float, *, yes: bool, as_json: bool) -> int:
    from workbench.formatting import plural, size
    from workbench.runs.trash import empty_trash, trashed
    from workbench.verbs.asking import is_confirmed
    from workbench.verbs.run_text import write_line

    if not 0 <= days < float("inf"):
        raise RequestError(f"--empty takes a number of days, not {days:g}.")
    old = [item for item in trashed(runs_root) if item.deleted <= time.time() - days * 86400]
    if old and not is_confirmed(f"delete {plural(len(old), 'run')} for good", yes=yes):
        return 1
    done = empty_trash(runs_root, older_than_days=days)
    if as_json:
        write_json({"runs": done.runs, "bytes": done.freed})
    else:
        write_line(f"{plural(done.runs, 'run')} deleted for good, {size(done.freed)} freed", sys.stdout)
    return 0


def _title(run: RunDirectory) -> str:
    return f"{run.short_name} {run.short_id}"


def _as_json(item: Trashed) -> dict[str, object]:
    return {"id": item.run.short_id, "name": item.name, "path": str(item.path), "deleted": item.deleted}
