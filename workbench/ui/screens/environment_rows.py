"""The rows of the environments' tree, made from a catalogue: groups, variants under their environment, faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbench.catalog import Catalog, Entry
from workbench.errors import Problem
from workbench.ui.formatting import plural
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
    entries = {item.name: item for item in catalog.entries if not item.broken}
    broken = {f"broken:{item.name}": item for item in catalog.entries if item.broken}
    problems: dict[str, Sequence[Problem]] = {key: item.problems for key, item in broken.items()}
    chosen = [item for item in entries.values() if matches(item, words)]
    faulty = [
        (key, item) for key, item in broken.items() if all(word in f"{item.name} broken".lower() for word in words)
    ]
    ignored = [problem for problem in (*catalog.problems, *catalog.ignored) if problem.path is not None]
    rows: list[Row] = []
    for origin, title in GROUPS:
        members = [item for item in chosen if item.origin == origin]
        children = [_broken_row(key, item) for key, item in faulty if item.origin == origin]
        children += [_entry_row(item) for item in members] if flat else _nested(members)
        if children:
            count = str(len(members) + len(children) - len(_nested(members) if not flat else members))
            rows.append(Row(f"group:{origin}", title, count, "group", tuple(children)))
    others = [problem for problem in ignored if all(word in str(problem.path).lower() for word in words)]
    if others:
        lines = []
        for problem in others:
            key = f"file:{problem.path}:{problem.key}"
            problems[key] = (problem,)
            name = problem.path.name if problem.path is not None else problem.key
            lines.append(Row(key, name, f"line {problem.line}" if problem.line else "", "broken"))
        rows.append(Row("group:files", "files left out", str(len(lines)), "group", tuple(lines)))
    if flat and len(rows) == 1:
        rows = list(rows[0].children)
    return Shelf(tuple(rows), entries, problems, len(chosen) + len(faulty), len(entries) + len(broken))


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


def _broken_row(key: str, entry: Entry) -> Row:
    lines = [problem.line for problem in entry.problems if problem.line]
    note = f"line {lines[0]}" if lines else plural(len(entry.problems), "fault")
    return Row(key, entry.name, note, "broken")
