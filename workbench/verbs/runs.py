"""`workbench runs`: the list of runs, once or line by line as they change."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from workbench.project import Project
from workbench.verbs.writing import reader_is_gone, write_json

if TYPE_CHECKING:
    from workbench.runs import RunStore, RunSummary
    from workbench.runs.filtering import Filter
    from workbench.runs.ordering import Order
    from workbench.runs.queueing import QueuePlace
    from workbench.verbs.foreign import ForeignRuns

WATCH_S = 0.5
"""Between looks of `--watch`."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `runs`."""
    from workbench.runs.filtering import filter_help

    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = filter_help()
    parser.add_argument("filter", nargs="*", metavar="FILTER", help="which runs; all by default")
    parser.add_argument(
        "--sort", default="recent", metavar="FIELD", help="recent (default), or a field: numbers greatest first"
    )
    parser.add_argument("--reverse", action="store_true", help="turn the order round")
    parser.add_argument("-o", "--output-dir", type=Path, metavar="DIR", help="folder of runs (default: the project's)")
    parser.add_argument("--watch", action="store_true", help="print one line a change, until Ctrl-C")
    parser.add_argument("--names", action="store_true", help="print full names alone, for other commands")
    parser.add_argument("--json", action="store_true", help="print one JSON document; with --watch, one a line")


def readable(words: Sequence[str]) -> list[str]:
    """Return the words of a command line with `-tag:junk` as `not tag:junk`, which is no option to argparse."""
    found: list[str] = []
    for word in words:
        is_term = len(word) > 1 and word[0] == "-" and word[1] not in "-o" and word != "-h"
        found += ["not", word[1:]] if is_term else [word]
    return found


def run(args: argparse.Namespace, project: Project) -> int:
    """List the runs and return 0."""
    from workbench.runs import RunStore
    from workbench.runs.filtering import Filter
    from workbench.runs.ordering import Order
    from workbench.verbs.foreign import ForeignRuns

    chosen = Filter.parse(" ".join(args.filter))
    order = Order.parse(args.sort, is_reversed=args.reverse)
    needs = chosen.needs | order.needs
    runs_root: Path = args.output_dir or project.runs
    # A folder that cannot be looked into is no empty one.
    with contextlib.suppress(FileNotFoundError):
        os.scandir(runs_root).close()
    store = RunStore(runs_root)
    foreign = ForeignRuns(project, runs_root)
    if args.watch:
        return _watch(store, chosen, order, foreign, as_json=args.json)
    foreign.refresh()
    every = store.list(needs)
    rows = order.sorted(row for row in every if chosen.matches(row))
    if args.json:
        document = {"runs": [row.to_json() for row in rows], "hidden": len(every) - len(rows)}
        write_json(document)
    elif args.names:
        for row in rows:
            print(row.name)  # noqa: T201
    else:
        _print_list(rows, every, runs_root)
    return 0


def _print_list(rows: Sequence[RunSummary], every: Sequence[RunSummary], runs_root: Path) -> None:
    from workbench.runs import RunState
    from workbench.runs.lock import supervisor_of
    from workbench.runs.queueing import queue_places
    from workbench.verbs.run_text import short_title, width_of, write_line

    if not every:
        write_line(f"No runs in {runs_root} yet; `workbench train ENVIRONMENT` makes one.", sys.stderr)
        return
    for line in table(rows, width_of(sys.stdout), sys.stdout, places=queue_places(runs_root, every)):
        write_line(line, sys.stdout)
    if len(rows) < len(every):
        write_line(f"{len(rows)} of {len(every)}", sys.stderr)
    if len(rows) == 1 and rows[0].warning:
        write_line(f"{short_title(rows[0])}: {rows[0].warning}", sys.stderr)
    waiting = sum(row.state is RunState.QUEUED for row in every)
    if waiting and supervisor_of(runs_root) is None:
        them = "run waits" if waiting == 1 else "runs wait"
        write_line(f"{waiting} queued {them} without a supervisor; the next `workbench train` starts one.", sys.stderr)


@dataclass(frozen=True)
class _Column:
    title: str
    text: Callable[[RunSummary], str]
    worth: int
    """The least worthy go first where the terminal is too narrow."""
    is_right: bool = False


def table(
    rows: Sequence[RunSummary], width: int | None, stream: TextIO, *, places: dict[str, QueuePlace] | None = None
) -> list[str]:
    """Return the lines of the list: a header, and a line for each run.

    Args:
        rows: The runs.
        width: Columns of the terminal; None for as many as it takes.
        stream: Where the lines go, for the signs it can show.
        places: Where queued runs stand, by their names.
    """
    from workbench.formatting import shorten
    from workbench.verbs.run_text import for_stream

    columns = _columns(stream, places or {}, time.time())
    if not any(row.parent for row in rows):
        columns = [column for column in columns if column.title != "From"]
    cells = {
        column: [for_stream(text, stream) for text in (column.title, *map(column.text, rows))] for column in columns
    }
    widths = {column: max(map(len, texts)) for column, texts in cells.items()}
    while width is not None and len(columns) > 3 and _needed(columns, widths) > width:
        columns.remove(min(columns, key=lambda column: column.worth))
    lines = []
    for index in range(len(rows) + 1):
        aligned = [
            cells[column][index].rjust(widths[column])
            if column.is_right
            else cells[column][index].ljust(widths[column])
            for column in columns
        ]
        line = "  ".join(aligned).rstrip()
        lines.append(line if width is None else shorten(line, width))
    return lines


def _needed(columns: Sequence[_Column], widths: dict[_Column, int]) -> int:
    # A long reason may be cut at the edge; it is no cause to leave a column out.
    reserved = [min(widths[column], 24) if column.title == "ETA or end" else widths[column] for column in columns]
    return sum(reserved) + 2 * (len(columns) - 1)


def _columns(stream: TextIO, places: dict[str, QueuePlace], now: float) -> list[_Column]:
    from workbench.formatting import UNKNOWN, age, amount, number, percent, spread
    from workbench.verbs.run_text import algorithm_text, end_text, glyph, short_title, steps_text

    def marks(row: RunSummary) -> str:
        return (f" !{row.anomalies}" if row.anomalies else "") + (" ?" if row.is_stalled else "")

    def best(row: RunSummary) -> str:
        return spread(row.best.mean_return, row.best.std_return) if row.best else UNKNOWN

    return [
        _Column("State", lambda row: f"{glyph(row, stream)} {row.state}{marks(row)}", 99),
        _Column("Run", short_title, 98),
        _Column("Algo", algorithm_text, 94),
        _Column("Seed", lambda row: UNKNOWN if row.seed is None else str(row.seed), 92, is_right=True),
        _Column("Progress", lambda row: percent(row.progress), 97, is_right=True),
        _Column("Steps", steps_text, 90, is_right=True),
        _Column("Return", lambda row: number(row.last_return), 96, is_right=True),
        _Column("Best eval", best, 91, is_right=True),
        _Column("Steps/s", lambda row: amount(row.steps_per_s), 93, is_right=True),
        _Column("Age", lambda row: age(row.age_s), 89, is_right=True),
        _Column("From", lambda row: f"{row.parent_run[-4:]} {amount(row.start_steps)}" if row.parent else "", 87),
        _Column("Tags", lambda row: " ".join(row.tags), 88),
        _Column("ETA or end", lambda row: row.problem or end_text(row, now=now, place=places.get(row.name)), 95),
    ]


def _watch(store: RunStore, chosen: Filter, order: Order, foreign: ForeignRuns, *, as_json: bool) -> int:
    """Print a line for every change until Ctrl-C or the reader ends, beginning with each run as it is."""
    from workbench.verbs.run_text import short_title, write_line

    told: dict[str, tuple[object, ...]] = {}
    warned: dict[str, str] = {}
    try:
        while not reader_is_gone(sys.stdout):
            foreign.refresh()
            for row in order.sorted(store.list(chosen.needs | order.needs)):
                if chosen.matches(row) and told.get(row.name) != (news := _news(row)):
                    told[row.name] = news
                    _print_change(row, as_json=as_json)
                    if row.warning and warned.get(row.name) != row.warning and not as_json:
                        write_line(f"{short_title(row)}: {row.warning}", sys.stdout)
                    warned[row.name] = row.warning
            time.sleep(WATCH_S)
    except KeyboardInterrupt:
        pass
    return 0


def _news(row: RunSummary) -> tuple[object, ...]:
    """Return what is worth a line: state, each tenth of the way, a new best, an anomaly, a warning, a stall."""
    tenth = None if row.progress is None else int(10 * row.progress)
    best = None if row.best is None else row.best.steps
    return (row.state, row.reason, tenth, best, row.anomalies, row.warning, row.is_stalled)


def _print_change(row: RunSummary, *, as_json: bool) -> None:
    from workbench.formatting import clock, spread
    from workbench.verbs.run_text import progress_line, write_line

    now = time.time()
    if as_json:
        write_json({"time": now, **row.to_json()})
        return
    best = f"  best {spread(row.best.mean_return, row.best.std_return)}" if row.best else ""
    line = progress_line(row, now=now, stream=sys.stdout)
    write_line(f"{clock(now, seconds=True)} {line}{best}", sys.stdout)
