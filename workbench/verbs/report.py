"""`workbench report`: what runs came to, in one file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import RequestError
from workbench.formatting import plural
from workbench.project import Project
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.report.make import PosterMaker, Progress
    from workbench.runs.directory import RunDirectory

POSTER_CLIPS = 3
"""Checkpoints of each run in the montage."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `report`."""
    parser.add_argument("run", nargs="+", metavar="RUN", help="a run; one of a group of seeds may bring the others")
    parser.add_argument("--format", choices=("html", "md"), default="", help="HTML or Markdown (default: by -o, HTML)")
    parser.add_argument("--title", default="", metavar="TEXT", help="its heading (default: made from the runs)")
    parser.add_argument("--group", action="store_true", help="take in all seeds that were launched with a run")
    parser.add_argument(
        "--montage",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="a poster of what the policies do, filmed first where need be; some seconds a clip (default: where all "
        "of its clips were filmed before)",
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to (default: among the recordings)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace, project: Project) -> int:
    """Write the report, print where it is, and return 0.

    Raises:
        RequestError: A run is not there, or the flags contradict each other.
    """
    from workbench.report.make import ReportRequest, check_format, make_report
    from workbench.verbs.foreign import ForeignRuns

    ForeignRuns(project).refresh()
    runs = find_runs(project, args.run, whole_groups=args.group)
    if args.output is not None and args.output.is_dir():
        raise RequestError(f"{args.output} is a folder.", hint=f"Name a file in it: -o {args.output / 'report.html'}")
    request = ReportRequest(
        runs=tuple(runs),
        command=command(args),
        format=check_format(args.format, args.output),
        title=args.title,
        output=args.output,
    )
    report = make_report(
        request,
        project,
        poster=None if args.montage is False else _poster(project, films=args.montage is True),
        on_progress=_Told(),
    )
    if report.note:
        _say(
            report.note if args.montage else "There is no montage in it: its clips are not filmed yet. --montage does."
        )
    if args.json:
        rows = [
            {
                "label": row.label,
                "runs": [run.summary.name for run in row.runs],
                "training_return": vars(row.final),
                "best_evaluation": vars(row.best),
            }
            for row in report.facts.rows
        ]
        write_json({"file": str(report.path), "rows": rows, "note": report.note})
    else:
        _say(f"report on {plural(len(report.facts.runs), 'run')}")
        sys.stdout.write(f"{report.path}\n")
    return 0


def find_runs(project: Project, texts: Sequence[str], *, whole_groups: bool) -> list[RunDirectory]:
    """Return the runs that are named, each once, and those launched with them where that is asked for.

    Raises:
        NotFoundError: One is not there.
    """
    from workbench.runs.references import find_run
    from workbench.runs.store import RunStore

    named = list(dict.fromkeys(find_run(project.runs, text) for text in texts))
    if not whole_groups:
        return named
    rows = {row.run: row for row in RunStore(project.runs).list()}
    groups = {rows[run].group for run in named if run in rows} - {None}
    others = [row.run for row in rows.values() if row.group in groups]
    return list(dict.fromkeys([*named, *sorted(others, key=lambda run: run.name)]))


def command(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the words that write the report again."""
    words = ["workbench", "report", *args.run]
    words += ["--format", args.format] if args.format else []
    words += ["--title", args.title] if args.title else []
    words += ["--group"] if args.group else []
    words += [] if args.montage is None else ["--montage" if args.montage else "--no-montage"]
    return (*words, *(["-o", str(args.output)] if args.output is not None else []))


def _poster(project: Project, *, films: bool) -> PosterMaker:
    def make(runs: Sequence[RunDirectory], tell: Progress) -> Path:
        from workbench.verbs import montage

        parser = argparse.ArgumentParser()
        montage.add_arguments(parser)
        names = [str(run.path) for run in runs]
        flags = ["--layout", "poster", "--num-videos", str(POSTER_CLIPS)]
        flags += [] if films else ["--no-generate-missing"]
        request = montage.build_request(parser.parse_args([*names, *flags]), project)
        from workbench.montage import make_montage

        return make_montage(request, project, on_progress=tell).path

    return make


class _Told:
    """Says each new thing that is begun."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, _share: float, message: str) -> None:
        if message != self._last:
            self._last = message
            _say(message)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
