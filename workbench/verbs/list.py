"""`workbench list`: environments, variants and recipes, and every file that became none of them."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.project import Project
from workbench.verbs.writing import on_one_line, write_json

if TYPE_CHECKING:
    from workbench.catalog import Catalog, Description, Entry
    from workbench.errors import Problem

ORIGINS = {"project": "this project", "workbench": "workbench", "package": "packages", "gymnasium": "Gymnasium"}
NARROW = 80
LEAST_DESCRIPTION = 30
GAP = "  "


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `list`."""
    parser.add_argument("pattern", nargs="?", metavar="PATTERN", help="a name, the beginning of one, or a glob")
    parser.add_argument("--all", action="store_true", help="Gymnasium's own IDs too")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace, project: Project) -> int:
    """Print the catalogue."""
    from workbench.catalog import discover, read_descriptions, request_registry
    from workbench.catalog.checking import with_told_faults

    if args.all:
        request_registry()
    catalog = discover(project)
    entries = catalog.matching(args.pattern, everything=args.all)
    descriptions = read_descriptions(entries)
    entries = with_told_faults(entries, descriptions)
    faults = _fault_rows(catalog, entries, args.pattern)
    if args.pattern is not None and not entries and not faults:
        # The search by name says what is close and what exists.
        entries = [catalog.find(args.pattern)]
        descriptions = read_descriptions(entries)
    if args.json:
        told = [_entry_json(entry, descriptions.get(entry.env_id)) for entry in entries]
        document = {"environments": told, "faults": [_fault_json(kind, problem) for kind, problem in faults]}
        write_json(document, indent=2)
        return 0
    lines = _table(entries, descriptions) + _fault_lines(faults, project)
    print("\n".join(lines) if lines else "There are no environments here.")  # noqa: T201
    _describe_for_next_time(entries, descriptions)
    return 0


def _describe_for_next_time(entries: Sequence[Entry], descriptions: Mapping[str, Description]) -> None:
    """Have what is not known yet described behind the person's back; scripts are not given a process to clean up."""
    from workbench.catalog import start_describing

    ours = [entry for entry in entries if entry.origin != "gymnasium" and not entry.broken]
    unknown = [entry for entry in ours if entry.env_id not in descriptions]
    if unknown and sys.stdout.isatty():
        start_describing(unknown)
        note = "Spaces and rates are being read; the next `workbench list` shows them."
        print(note, file=sys.stderr)  # noqa: T201


def _fault_rows(catalog: Catalog, entries: Sequence[Entry], pattern: str | None) -> list[tuple[str, Problem]]:
    """Return one row for each file that is not in order, with a word for what it is."""
    from workbench.catalog.checking import matches

    rows = [("broken", entry.first_fault) for entry in entries if entry.first_fault is not None]
    rows += [("recipe", problem) for entry in entries for problem in _recipe_faults(entry)]
    files = [("broken", problem) for file in catalog.broken for problem in file.problems[:1]]
    files += [("orphan", file.problem("error")) for file in catalog.orphans]
    files += [("ignored", file.problem()) for file in catalog.ignored]
    files += [("name", problem) for problem in catalog.problems]
    for kind, problem in files:
        names = () if problem.path is None else (problem.path.name, problem.path.stem)
        if matches(pattern, names):
            rows.append((kind, problem))
    # What is wrong between files, a name given twice, stands with each of them, and is said once.
    shared = {(problem.key, problem.message) for problem in catalog.problems}
    said: dict[tuple[object, ...], tuple[str, Problem]] = {}
    for kind, problem in reversed(rows):
        text = (problem.key, problem.message)
        said[text if text in shared else (problem.path, problem.line, *text)] = (kind, problem)
    return list(reversed(said.values()))


def _recipe_faults(entry: Entry) -> list[Problem]:
    from workbench.specs import errors_of

    return [] if entry.training is None else errors_of(entry.training.problems)[:1]


def _entry_json(entry: Entry, description: Description | None) -> dict[str, Any]:
    files = {"module": entry.module, "variant_file": entry.variant_file, "recipe": entry.recipe}
    found = {} if description is None else description.data
    kept = ("observation", "action", "control_hz", "episode_steps", "reward_terms", "terminated", "truncated")
    return {
        "name": entry.name,
        "env_id": entry.env_id,
        "variant": entry.variant,
        "origin": entry.origin,
        "description": entry.description,
        "algorithms": list(entry.algorithms),
        "trainable": entry.trainable,
        "why_not": entry.why_not or None,
        "env_cfg": dict(entry.env_cfg),
        **{name: None if path is None else str(path) for name, path in files.items()},
        **{name: found.get(name) for name in kept},
        "problems": [problem_json(problem) for problem in entry.problems],
    }


def _fault_json(kind: str, problem: Problem) -> dict[str, Any]:
    return {"kind": kind, **problem_json(problem)}


def problem_json(problem: Problem) -> dict[str, Any]:
    """Return a problem as plain data."""
    return {
        "path": None if problem.path is None else str(problem.path),
        "line": problem.line,
        "key": problem.key,
        "message": problem.message,
        "nearest": problem.nearest,
        "severity": problem.severity,
    }


def _width() -> int | None:
    """Return the columns of the terminal, or None where the output goes elsewhere and nothing is cut."""
    return max(40, shutil.get_terminal_size((NARROW, 24)).columns) if sys.stdout.isatty() else None


def _table(entries: Sequence[Entry], descriptions: Mapping[str, Description]) -> list[str]:
    """Lay out as many columns as fit; the description takes what is left."""
    if not entries:
        return []
    rows = [_cells(entry, descriptions.get(entry.env_id)) for entry in entries]
    width = _width()
    shown = _fitting(rows, width)
    widths = {name: max(len(name), *(len(row[name]) for row in rows)) for name in shown}
    lines = [_line({name: name for name in shown} | {"description": "description"}, shown, widths, width)]
    origin = ""
    for entry, row in zip(entries, rows, strict=True):
        if entry.origin != origin:
            origin = entry.origin
            lines += ["", ORIGINS[origin]]
        lines.append(_line(row, shown, widths, width))
    return lines


def _cells(entry: Entry, description: Description | None) -> dict[str, str]:
    cells = dict.fromkeys(("observation", "action", "rate"), "–")
    if description is not None:
        cells["observation"] = description.observation.size if description.observation else "–"
        cells["action"] = description.action.size if description.action else "–"
        cells["rate"] = f"{description.control_hz:g} Hz" if description.control_hz else "–"
    return {
        "name": entry.name,
        "trains with": _trains_with(entry),
        "id": entry.env_id,
        "variant": entry.variant or "–",
        **cells,
        "description": entry.description,
    }


def _trains_with(entry: Entry) -> str:
    """Return the algorithms its recipe is for, or why it is not trained as it is; the rows below say the rest."""
    if entry.trainable:
        return " ".join(name.upper() for name in entry.algorithms)
    if entry.broken:
        return "✗ broken"
    return "✗ faulty recipe" if entry.why_not.startswith("recipe:") else f"– {entry.why_not}"


def _fitting(rows: Sequence[Mapping[str, str]], width: int | None) -> list[str]:
    """Return the columns to show, in order: name and algorithms always, the others while a description still fits."""
    shown = ["name", "trains with"]
    if width is None:
        return ["name", "id", "variant", "trains with", "observation", "action", "rate"]
    used = sum(max(len(name), *(len(row[name]) for row in rows)) + len(GAP) for name in shown)
    for group in (("id",), ("observation", "action", "rate"), ("variant",)):
        more = sum(max(len(name), *(len(row[name]) for row in rows)) + len(GAP) for name in group)
        if used + more + LEAST_DESCRIPTION > width:
            break
        used += more
        shown += group
    order = ("name", "id", "variant", "trains with", "observation", "action", "rate")
    return [name for name in order if name in shown]


def _line(row: Mapping[str, str], shown: Sequence[str], widths: Mapping[str, int], width: int | None) -> str:
    text = GAP.join([*(row[name].ljust(widths[name]) for name in shown), row["description"]]).rstrip()
    return text if width is None or len(text) <= width else f"{text[: width - 1]}…"


def _fault_lines(faults: Sequence[tuple[str, Problem]], project: Project) -> list[str]:
    if not faults:
        return []
    lines = ["", "not in order (`workbench check` says all)"]
    width = _width()
    for kind, problem in faults:
        text = f"{kind:<8}{GAP}{problem_line(problem, project)}"
        lines += [text] if width is None else textwrap.wrap(text, width, subsequent_indent=" " * (8 + len(GAP)))
    return lines


def problem_line(problem: Problem, project: Project) -> str:
    """Return a problem as one line, its file as seen from the project."""
    from workbench.errors import Problem

    path = problem.path
    if path is not None:
        roots = [root for root in (Path.cwd(), project.root) if path.is_relative_to(root)]
        path = path.relative_to(roots[0]) if roots else path
    return on_one_line(str(Problem(problem.key, problem.message, problem.nearest, path, problem.line)))
