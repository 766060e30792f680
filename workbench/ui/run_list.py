"""The lines of the list of runs: filtered and sorted, seeds of one launch folded into one, forks below their parent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, cast

from workbench.runs.filtering import Filter
from workbench.runs.grouping import RunGroup, grouped, lineage
from workbench.runs.ordering import Order
from workbench.ui.watch import RunRow


class Tree(StrEnum):
    """What stands below what."""

    SEEDS = "seeds grouped"
    FLAT = "flat"
    LINEAGE = "lineage"


@dataclass(frozen=True)
class Line:
    """One line of the list: a run, or a group of seeds."""

    row: RunRow
    """The run; of a group what stands for all of it."""
    members: tuple[RunRow, ...]
    """The runs that an action on the line means."""
    group: str = ""
    """The key of the group that the line is, or is part of; empty where there is none."""
    is_head: bool = False
    """Whether it stands for a group."""
    is_open: bool = False
    """Whether the members of a group stand below it."""
    depth: int = 0
    is_last: bool = False
    """Whether no other line of the same group, or below the same run, follows."""
    change: str = ""
    """Where the run was forked and what is different from its parent."""

    @property
    def key(self) -> str:
        """What the table knows the line by."""
        return self.group if self.is_head else str(self.row.path)


@dataclass(frozen=True)
class Wish:
    """How the list is looked at."""

    filter: Filter = field(default_factory=Filter)
    order: Order = field(default_factory=Order)
    tree: Tree = Tree.SEEDS

    @property
    def needs(self) -> frozenset[str]:
        """Fields of the spec and metrics that rows must carry."""
        return self.filter.needs | self.order.needs


_NOTHING: Mapping[str, Line] = MappingProxyType({})


def arranged(
    rows: Iterable[RunRow], wish: Wish, unfolded: Collection[str], before: Mapping[str, Line] = _NOTHING
) -> list[Line]:
    """Return the lines of the list.

    Args:
        rows: All runs, the most recent first.
        wish: What is to be seen, and in which order. Pinned runs stay on top in each.
        unfolded: The keys of the groups whose members are shown.
        before: The lines as they were, by their keys: those that say the same are the same objects again.
    """
    return [_kept(line, before) for line in _arranged(rows, wish, unfolded, before)]


def _arranged(rows: Iterable[RunRow], wish: Wish, unfolded: Collection[str], before: Mapping[str, Line]) -> list[Line]:
    shown = [row for row in rows if wish.filter.matches(row)]
    if wish.tree is Tree.SEEDS:
        return _in_groups(shown, wish.order, unfolded, before)
    in_order = _sorted(shown, wish.order)
    if wish.tree is Tree.FLAT:
        return [Line(row, (row,)) for row in in_order]
    lines: list[Line] = []
    for tree in lineage(in_order):
        for depth, descent in tree.walk():
            row = cast("RunRow", descent.row)
            lines.append(Line(row, (row,), depth=depth, change=descent.change))
    return [replace(line, is_last=_is_last(lines, place)) for place, line in enumerate(lines)]


def _is_last(lines: Sequence[Line], place: int) -> bool:
    depth = lines[place].depth
    following = next((line.depth for line in lines[place + 1 :] if line.depth <= depth), -1)
    return following < depth


def _kept(line: Line, before: Mapping[str, Line]) -> Line:
    """Return the line that was there before where this one is no different, so that whoever draws it sees that."""
    old = before.get(line.key)
    if old is None or old.row is not line.row or not _are_same(old.members, line.members):
        return line
    rest = (line.group, line.is_head, line.is_open, line.depth, line.is_last, line.change)
    return old if rest == (old.group, old.is_head, old.is_open, old.depth, old.is_last, old.change) else line


def _are_same(rows: Sequence[RunRow], others: Sequence[RunRow]) -> bool:
    return len(rows) == len(others) and all(row is other for row, other in zip(rows, others, strict=True))


def _in_groups(
    rows: Sequence[RunRow], order: Order, unfolded: Collection[str], before: Mapping[str, Line]
) -> list[Line]:
    heads: dict[RunRow | str, Line] = {}
    standing: list[RunRow] = []
    for entry in grouped(rows):
        if isinstance(entry, RunGroup):
            members = cast("tuple[RunRow, ...]", entry.rows)
            key = group_key(members[0])
            old = before.get(key)
            row = old.row if old is not None and _are_same(old.members, members) else standing_for(entry)
            heads[row.name] = Line(row, members, group=key, is_head=True, is_open=key in unfolded)
        else:
            row = cast("RunRow", entry)
            heads[row.name] = Line(row, (row,))
        standing.append(row)
    lines: list[Line] = []
    for row in _sorted(standing, order):
        head = heads[row.name]
        lines.append(head)
        if head.is_open:
            lines += [
                Line(member, (member,), group=head.group, depth=1, is_last=member is head.members[-1])
                for member in head.members
            ]
    return lines


def _sorted(rows: Sequence[RunRow], order: Order) -> list[RunRow]:
    found = cast("list[RunRow]", order.sorted(rows))
    return sorted(found, key=lambda row: not row.is_pinned)


def group_key(row: RunRow) -> str:
    """Return what the group of seeds of a run is known by."""
    return f"group:{row.group}:{row.env_id}:{row.algorithm}"


def standing_for(group: RunGroup) -> RunRow:
    """Return a row that says of a group what rows say of runs: the liveliest, with the numbers of all."""
    rows = cast("tuple[RunRow, ...]", group.rows)
    liveliest = cast("RunRow", group.liveliest)
    places = [row.place for row in rows if row.place is not None]
    asked = {row.asked for row in rows if row.asked}
    return replace(
        liveliest,
        state=group.state,
        reason=group.reason,
        seed=None,
        steps=group.steps,
        total_steps=group.total_steps,
        progress=group.progress,
        steps_per_s=group.steps_per_s,
        eta_s=group.eta_s,
        eta_is_bound=group.eta_is_bound,
        last_return=group.last_return,
        smoothed_return=group.smoothed_return,
        best=group.best,
        trend=group.trend,
        created=group.created,
        age_s=group.age_s,
        changed=group.changed,
        tags=group.tags,
        anomalies=group.anomalies,
        is_stalled=group.is_stalled,
        is_pinned=group.is_pinned,
        values=_values(rows),
        place=min(places, key=lambda place: place.position, default=None),
        asked=asked.pop() if len(asked) == 1 else "",
    )


def _values(rows: Sequence[RunRow]) -> dict[str, Any]:
    """Return the values that seeds share, and the mean of numbers that differ."""
    found: dict[str, Any] = {}
    for name in {name for row in rows for name in row.values}:
        values = [row.values[name] for row in rows if name in row.values]
        numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
        if all(value == values[0] for value in values):
            found[name] = values[0]
        elif len(numbers) == len(values):
            found[name] = sum(numbers) / len(numbers)
    return found


def still(lines: Sequence[Line], before: Sequence[Line]) -> list[Line]:
    """Return lines in the places they had before, new ones behind them: nobody's finger hits another run."""
    places = {line.key: place for place, line in enumerate(before)}
    return sorted(lines, key=lambda line: places.get(line.key, len(places)))
