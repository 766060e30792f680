"""`workbench results`: what runs reached, beside what others published: a page, JSON and curves."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import NotFoundError, RequestError
from workbench.formatting import plural
from workbench.project import Project
from workbench.verbs.numbers import whole_number
from workbench.verbs.runs import readable
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.report.blocks import Table
    from workbench.runs.directory import RunDirectory

__all__ = ["add_arguments", "readable", "run"]

EPISODES = 100
"""That a best checkpoint is scored on where no number is given."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `results`."""
    parser.add_argument(
        "chosen",
        nargs="*",
        metavar="RUN|FILTER",
        help="runs by name, or a filter as `workbench runs` takes it (default: all that ended as asked)",
    )
    parser.add_argument(
        "--evaluate",
        type=_count,
        nargs="?",
        const=EPISODES,
        metavar="N",
        help=f"first score the best checkpoint of each run greedily on N numbered episodes (default: {EPISODES}) where "
        "that was not done",
    )
    parser.add_argument(
        "--write-references", action="store_true", help="write what was reached into the recipes of the environments"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write the page FILE, JSON beside it, curves in a folder"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.epilog = "Runs that differ in seed alone make one line; returns are those of the best checkpoint of each."


def run(args: argparse.Namespace, project: Project) -> int:
    """Print or write the results and return 0; 1 where a reference that was asked for could not be written.

    Raises:
        RequestError: A run is not there, the filter is wrong, or no run has results.
    """
    from workbench.catalog import discover
    from workbench.report.recipe_reference import write_references
    from workbench.report.results import read_results
    from workbench.report.results_page import summary_table, to_json, write_results

    if args.output is not None and (args.output.is_dir() or args.output.suffix != ".md"):
        raise RequestError(f"{args.output} is no Markdown file.", hint="Name one: -o docs/results.md")
    runs = choose(project, args.chosen)
    catalog, words = discover(project), command(args)
    score = None if args.evaluate is None else _scorer(args.evaluate)
    results = read_results(runs, project.runs, catalog, score=score)
    if not results.lines:
        raise NotFoundError("none of these runs has a return.", hint="`workbench runs` shows what each came to.")
    # Where the page went is nothing that a recipe has to know.
    told = words[: -2 if args.output is not None else None]
    references, refused = write_references(results, catalog, told) if args.write_references else ([], [])
    for note in (*results.notes, *refused):
        _say(note)
    files = [] if args.output is None else write_results(results, args.output, words)
    if args.json:
        document = to_json(results, words, time.time())
        write_json({**document, "files": list(map(str, files)), "recipes": list(map(str, references))}, indent=2)
    elif files:
        _say(f"{plural(len(results.lines), 'line')} of {plural(sum(len(line.runs) for line in results.lines), 'run')}")
        sys.stdout.write("".join(f"{path}\n" for path in files))
    else:
        _print(summary_table(results))
        if not all(line.basis.is_greedy for line in results.lines):
            _say("* not scored on episodes of its own; --evaluate does that.")
    for path in references:
        _say(f"reference written into {path}")
    return 1 if refused else 0


def choose(project: Project, words: Sequence[str]) -> list[RunDirectory]:
    """Return the runs that are named, or those that a filter lets through; never live ones nor other tools'.

    Raises:
        NotFoundError: There is none.
        FilterError: The words are neither runs nor a filter.
    """
    from workbench.runs.filtering import Filter
    from workbench.runs.references import find_run
    from workbench.runs.store import RunStore

    store = RunStore(project.runs)
    named: list[RunDirectory] = []
    try:
        named = [find_run(project.runs, word) for word in words]
    except RequestError:
        chosen = Filter.parse(" ".join(words))
    else:
        chosen = Filter.parse("")
    rows = [store.summary(found) for found in named] or [row for row in store.list(chosen.needs) if chosen.matches(row)]
    rows = [row for row in rows if not row.is_foreign]
    live = sum(not row.state.is_ended for row in rows)
    bad = 0 if named else sum(row.state.is_bad for row in rows)
    if live:
        _say(f"{plural(live, 'run')} left out: not ended yet.")
    if bad:
        _say(f"{plural(bad, 'run')} left out: failed or crashed. By name they are taken in.")
    kept = [row.run for row in rows if row.state.is_ended and (named or not row.state.is_bad)]
    if not kept:
        raise NotFoundError("there is no such run that has ended.", hint="`workbench runs` lists what there is.")
    return kept


def command(args: argparse.Namespace) -> tuple[str, ...]:
    """Return the words that write the results again."""
    words = ["workbench", "results", *args.chosen]
    words += [] if args.evaluate is None else ["--evaluate", str(args.evaluate)]
    words += ["--write-references"] if args.write_references else []
    return (*words, *(["-o", str(args.output)] if args.output is not None else []))


def _scorer(episodes: int) -> Callable[[Path], object]:
    from workbench.policies.numbering import PUBLISHED
    from workbench.policies.scoring import score_afresh
    from workbench.runs.machine import usable_cpus

    def score(checkpoint: Path) -> object:
        _say(f"scoring {checkpoint.parent.name} {checkpoint.name}")
        return score_afresh(checkpoint, episodes=episodes, seed=PUBLISHED, threads=usable_cpus())

    return score


def _print(table: Table) -> None:
    lines = [list(table.columns), *(list(row) for row in table.rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        sys.stdout.write("  ".join(cells).rstrip() + "\n")


def _count(text: str) -> int:
    number = whole_number(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, and {text!r} is not")
    return number


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
