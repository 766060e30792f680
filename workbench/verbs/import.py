"""`workbench import`: show runs of Stable-Baselines3, RL-Zoo and CleanRL beside our own."""  # noqa: N999

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import NotFoundError, RequestError
from workbench.project import Project
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.runs.foreign.converter import Refreshed
    from workbench.runs.foreign.finding import FoundRun

_READS = "progress.csv, *.monitor.csv, evaluations.npz, TensorBoard's event files, RL-Zoo's and CleanRL's run folders"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `import`."""
    parser.epilog = (
        f"Read are {_READS}. The folders are only read, nothing in them is executed, and runs that appear in them "
        "later are shown too."
    )
    parser.add_argument("folders", nargs="*", type=Path, metavar="DIR", help="a folder with runs, at any depth")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="print the folders that are watched, with their runs")
    what.add_argument(
        "--remove", action="store_true", help="watch the folders no more, and forget tags and notes of their runs"
    )
    what.add_argument("--ahead", action="store_true", help="watch a folder that holds no run yet")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace, project: Project) -> int:
    """Do it and return 0, or 1 where a run could not be read."""
    if args.list:
        if args.folders:
            raise RequestError("--list is about all folders, and takes no DIR.")
        return _list(project, as_json=args.json)
    if not args.folders:
        raise RequestError("name a folder with runs of another tool.", hint="`workbench import --list` lists those.")
    if args.remove:
        return _remove(project, args.folders, as_json=args.json)
    return _import(project, args.folders, is_ahead=args.ahead, as_json=args.json)


def _import(project: Project, folders: Sequence[Path], *, is_ahead: bool, as_json: bool) -> int:
    from workbench.runs.foreign.converter import Converter, found_in
    from workbench.runs.foreign.watch_list import checked, watch
    from workbench.verbs.run_text import write_line

    chosen = checked(folders)
    for folder in chosen:
        if not is_ahead and not found_in([folder]):
            hint = f"Read are {_READS}. `--ahead` watches it for runs to come."
            raise NotFoundError(f"there is no run of another tool in {folder}.", hint=hint)
    watch(project, chosen)
    found = found_in(chosen)
    if len(found) > 1:
        write_line(f"reading {len(found)} runs…", sys.stderr)
    with Converter(project) as converter:
        done = converter.refresh()
    if as_json:
        _write_document(project, chosen, done)
    else:
        for folder in chosen:
            inside = {path: one for path, one in found.items() if path.is_relative_to(folder)}
            write_line(f"{folder}: {_counted(inside)}", sys.stdout)
        if done.is_busy:
            write_line("The app that is open reads them; they appear within seconds.", sys.stderr)
        elif found:
            write_line("`workbench runs` lists them; nothing is written into their folders.", sys.stderr)
    return _complain(done)


def _remove(project: Project, folders: Sequence[Path], *, as_json: bool) -> int:
    from workbench.runs.foreign.converter import Converter
    from workbench.runs.foreign.watch_list import unwatch, watched
    from workbench.verbs.run_text import write_line

    unwatch(project, folders)
    with Converter(project) as converter:
        done = converter.refresh()
    if as_json:
        _write_document(project, watched(project), done)
    else:
        for folder in folders:
            write_line(f"{folder.expanduser().resolve()} is watched no more; its files are as they were", sys.stdout)
    return _complain(done)


def _list(project: Project, *, as_json: bool) -> int:
    from workbench.runs.foreign.converter import Refreshed, found_in
    from workbench.runs.foreign.watch_list import watched
    from workbench.verbs.run_text import write_line

    folders = watched(project)
    if as_json:
        _write_document(project, folders, Refreshed())
        return 0
    for folder in folders:
        text = _counted(found_in([folder])) if folder.is_dir() else "the folder is gone"
        write_line(f"{folder}: {text}", sys.stdout)
    if not folders:
        write_line("No folder is watched; `workbench import DIR` shows the runs of another tool.", sys.stderr)
    return 0


def _counted(found: dict[Path, FoundRun]) -> str:
    """Return how many runs of which tool there are: `3 runs: 2 RL-Zoo, 1 CleanRL`."""
    from workbench.formatting import plural
    from workbench.runs.foreign.origin import TITLES

    counts = Counter(one.tool for one in found.values())
    listed = ", ".join(f"{count} {TITLES[tool]}" for tool, count in counts.most_common())
    return f"{plural(len(found), 'run')}: {listed}" if found else "no runs yet"


def _complain(done: Refreshed) -> int:
    from workbench.verbs.run_text import write_line

    for problem in done.problems:
        write_line(problem, sys.stderr)
    return int(bool(done.problems))


def _write_document(project: Project, folders: Sequence[Path], done: Refreshed) -> None:
    from workbench.runs.directory import foreign_directories
    from workbench.runs.foreign.origin import origin_of

    listed = []
    for mirror in sorted(foreign_directories(project.runs), key=lambda one: one.name):
        origin = origin_of(mirror)
        if origin is not None and any(origin.folder.is_relative_to(folder) for folder in folders):
            about = {"id": mirror.short_id, "name": mirror.name, "path": str(mirror.path)}
            listed.append({**about, "tool": origin.tool, "folder": str(origin.folder)})
    write_json({"folders": [str(folder) for folder in folders], "runs": listed, "problems": done.problems})
