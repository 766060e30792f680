"""The rows of the environments' tree, made from a catalogue: groups, variants under their environment, faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.catalog import Catalog, Entry
from workbench.errors import Problem
from workbench.formatting import digits
from workbench.ui.fuzzy import Match
from workbench.ui.screens.environment_details import recipe_note
from workbench.ui.screens.environment_query import KINDS, Query
from workbench.ui.widgets.entry_tree import Row

GROUPS = (
    ("project", "this project"),
    ("workbench", "workbench"),
    ("package", "packages"),
    ("gymnasium", "Gymnasium"),
)


@dataclass(frozen=True)
class Shelf:
    """The rows to show, and what stands behind them by key."""

    rows: tuple[Row, ...]
    entries: Mapping[str, Entry]
    """Usable entries."""
    problems: Mapping[str, Sequence[Problem]]
    """What is wrong with the broken, the ignored, and what could not be made."""
    shown: int = 0
    total: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    """How many there are of each kind that can be asked for, whatever is shown."""
    best: str = ""
    """The key of the row that fits the query best; empty without one."""


def shelve(
    catalog: Catalog,
    *,
    query: str = "",
    flat: bool = False,
    runs: Mapping[str, int] | None = None,
    told: Mapping[str, Sequence[Problem]] | None = None,
) -> Shelf:
    """Arrange a catalogue for the tree; with a query only what fits it, the best first in each group.

    Args:
        catalog: What there is.
        query: What was typed.
        flat: Whether variants stand beside their environment instead of under it.
        runs: How many runs there are of each environment, by its short name, to be told at the end of its row.
        told: What making an environment showed to be wrong with it, by its short name; it stays where it stands.
    """
    told = told or {}
    asked = Query.of(query)
    entries = {item.name: item for item in (*catalog.entries, *catalog.gymnasium) if not item.broken}
    faults = [*_broken_entries(catalog), *_broken_files(catalog)]
    strays = _strays(catalog)
    found = {item.name: asked.find(item) for item in entries.values()}
    matches = {name: each for name, each in found.items() if each is not None}
    for fault in (*faults, *strays):
        each = asked.find_fault(fault.row.label)
        if each is not None:
            matches[fault.row.key] = each
    shown_faults = [fault for fault in faults if fault.row.key in matches]
    groups: list[Row] = []
    for origin, title in GROUPS:
        members = [item for item in entries.values() if item.origin == origin and item.name in matches]
        broken = [_marked(fault.row, matches) for fault in shown_faults if fault.origin == origin]
        if members or broken:
            rows = [_entry_row(item, runs) for item in members] if flat else _nested(members, runs)
            count = digits(len(members) + len(broken))
            marked = [_marked(_signed(row, told), matches) for row in rows]
            ordered = _ordered(marked, matches, by_fit=bool(asked.words))
            groups.append(Row(f"group:{origin}", title, count, "group", (*broken, *ordered)))
    left = [_marked(fault.row, matches) for fault in strays if fault.row.key in matches]
    if left:
        groups.append(Row("group:files", "files left out", digits(len(left)), "group", tuple(left)))
    if asked.words:
        groups.sort(key=lambda group: -max(_fit(row, matches) for row in group.children))
    return Shelf(
        tuple(groups),
        entries,
        {**told, **{fault.row.key: fault.problems for fault in (*faults, *strays)}},
        sum(item in matches for item in entries) + len(shown_faults),
        len(entries) + len(faults),
        {kind: sum(map(holds, entries.values())) for kind, holds in KINDS.items()} | {"broken": len(faults)},
        max(matches, key=lambda key: matches[key].score, default="") if asked.words else "",
    )


def _signed(row: Row, told: Mapping[str, Sequence[Problem]]) -> Row:
    """Return a row, and those below it, with the sign and the line of what could not be made."""
    children = tuple(_signed(child, told) for child in row.children)
    wrong = told.get(row.key)
    return replace(_broken_row(row.key, row.label, wrong) if wrong else row, children=children)


def _marked(row: Row, matches: Mapping[str, Match]) -> Row:
    """Return a row with the letters of its name that were found, and those below it too."""
    places = matches[row.key].places if row.key in matches else ()
    return replace(row, places=places, children=tuple(_marked(child, matches) for child in row.children))


def _fit(row: Row, matches: Mapping[str, Match]) -> float:
    """Return how well a row fits, or the best of those below it."""
    mine = [matches[row.key].score] if row.key in matches else []
    return max([*mine, *(_fit(child, matches) for child in row.children)], default=0.0)


def _ordered(rows: Sequence[Row], matches: Mapping[str, Match], *, by_fit: bool) -> list[Row]:
    return sorted(rows, key=lambda row: -_fit(row, matches)) if by_fit else list(rows)


@dataclass(frozen=True)
class _Fault:
    """A row for something that cannot be used, and why."""

    row: Row
    origin: str
    problems: Sequence[Problem]


def _broken_entries(catalog: Catalog) -> list[_Fault]:
    return [
        _Fault(_broken_row(f"broken:{item.name}", item.name, item.problems), item.origin, item.problems)
        for item in catalog.entries
        if item.broken
    ]


def _broken_files(catalog: Catalog) -> list[_Fault]:
    return [
        _Fault(_broken_row(f"file:{item.path}", item.name, item.problems), item.origin, item.problems)
        for item in catalog.broken
    ]


def _strays(catalog: Catalog) -> list[_Fault]:
    """Return files that belong to no environment, and what is wrong between files."""
    found = [item.problem() for item in catalog.ignored]
    found += [item.problem("error") for item in catalog.orphans]
    found += [problem for problem in catalog.problems if problem.path is not None]
    faults: list[_Fault] = []
    for problem in found:
        name = problem.key if problem.path is None else problem.path.name
        key = f"stray:{problem.path}:{problem.key}"
        faults.append(_Fault(_broken_row(key, name, (problem,)), "files", (problem,)))
    return faults


def _nested(entries: Iterable[Entry], runs: Mapping[str, int] | None) -> list[Row]:
    """Return entries with their variants under the environment they vary, where that one is shown too."""
    members = list(entries)
    bases = {(item.module, item.class_name): item for item in members if item.variant is None}
    rows: list[Row] = []
    for item in members:
        if item.variant is None:
            variants = [
                _entry_row(other, runs)
                for other in members
                if other.variant is not None and (other.module, other.class_name) == (item.module, item.class_name)
            ]
            rows.append(_entry_row(item, runs, variants))
        elif (item.module, item.class_name) not in bases:
            rows.append(_entry_row(item, runs))
    return rows


def _entry_row(entry: Entry, runs: Mapping[str, int] | None, variants: Sequence[Row] = ()) -> Row:
    note = recipe_note(entry)
    if runs is not None:
        count = runs.get(entry.name, 0)
        note = f"{note} {digits(count) if count else '':>3}"
    return Row(entry.name, entry.name, note, "plain", tuple(variants))


def _broken_row(key: str, name: str, problems: Sequence[Problem]) -> Row:
    lines = [problem.line for problem in problems if problem.line]
    note = f"line {lines[0]}" if lines else ""
    return Row(key, name, note if len(problems) == 1 or not note else f"{len(problems)} faults", "broken")
