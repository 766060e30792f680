"""The rows of the environments' tree, made from a catalogue: groups, variants under their environment, faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.catalog import Catalog, Entry
from workbench.errors import Problem
from workbench.formatting import digits
from workbench.ui.screens.environment_details import matches, recipe_note
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
    """What is wrong with the broken and the ignored."""
    shown: int = 0
    total: int = 0


def shelve(catalog: Catalog, *, query: str = "", flat: bool = False) -> Shelf:
    """Arrange a catalogue for the tree; with a query only what matches all its words."""
    words = query.lower().split()
    entries = {item.name: item for item in (*catalog.entries, *catalog.gymnasium) if not item.broken}
    chosen = [item for item in entries.values() if matches(item, words)]
    faults = [*_broken_entries(catalog), *_broken_files(catalog)]
    shown_faults = [fault for fault in faults if _named(fault.row.label, words)]
    strays = [fault for fault in _strays(catalog) if _named(fault.row.label, words)]
    groups: list[Row] = []
    for origin, title in GROUPS:
        members = [item for item in chosen if item.origin == origin]
        broken = [fault.row for fault in shown_faults if fault.origin == origin]
        if members or broken:
            rows = [_entry_row(item) for item in members] if flat else _nested(members)
            count = digits(len(members) + len(broken))
            groups.append(Row(f"group:{origin}", title, count, "group", (*broken, *rows)))
    if strays:
        rows = [fault.row for fault in strays]
        groups.append(Row("group:files", "files left out", digits(len(rows)), "group", tuple(rows)))
    return Shelf(
        tuple(groups),
        entries,
        {fault.row.key: fault.problems for fault in (*faults, *_strays(catalog))},
        len(chosen) + len(shown_faults),
        len(entries) + len(faults),
    )


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


def _named(label: str, words: Sequence[str]) -> bool:
    return all(word in f"{label} broken".lower() for word in words)


def _nested(entries: Iterable[Entry]) -> list[Row]:
    """Return entries with their variants under the environment they vary, where that one is shown too."""
    members = list(entries)
    bases = {(item.module, item.class_name): item for item in members if item.variant is None}
    rows: list[Row] = []
    for item in members:
        if item.variant is None:
            variants = [
                _entry_row(other)
                for other in members
                if other.variant is not None and (other.module, other.class_name) == (item.module, item.class_name)
            ]
            rows.append(_entry_row(item, variants))
        elif (item.module, item.class_name) not in bases:
            rows.append(_entry_row(item))
    return rows


def _entry_row(entry: Entry, variants: Sequence[Row] = ()) -> Row:
    return Row(entry.name, entry.name, recipe_note(entry), "plain", tuple(variants))


def _broken_row(key: str, name: str, problems: Sequence[Problem]) -> Row:
    lines = [problem.line for problem in problems if problem.line]
    note = f"line {lines[0]}" if lines else ""
    return Row(key, name, note if len(problems) == 1 or not note else f"{len(problems)} faults", "broken")
