"""Which runs and groups of the list are drawn in its chart."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.runs.states import RunState
from workbench.ui.run_list import Line
from workbench.ui.watch import RunRow

MOST_DRAWN = 12
"""How many entries are drawn at most, beside the one under the cursor; the first eight have colours."""

QUIET_S = 600.0
"""A run of another tool has no process that we know; silent for this long it is not drawn unasked any more."""


@dataclass(frozen=True)
class Drawn:
    """What a chart shows of a list."""

    rows: tuple[RunRow, ...] = ()
    """Runs that are drawn by themselves."""
    groups: tuple[Line, ...] = ()
    """Groups of seeds that are drawn as one."""

    @property
    def keys(self) -> Iterator[str]:
        """What the identity of each entry is known by."""
        yield from (row.name for row in self.rows)
        yield from (line.group for line in self.groups)

    @property
    def everyone(self) -> tuple[RunRow, ...]:
        """Every run whose past is needed."""
        return (*self.rows, *(row for line in self.groups for row in line.members))


def drawn(lines: Sequence[Line], marked: Collection[Path], current: Line | None) -> Drawn:
    """Return what is drawn: what is marked, else what is live or pinned, and what is under the cursor."""
    entries = [line for line in lines if line.is_head or not line.group]
    chosen = list(_marked(entries, marked) if marked else _of_interest(entries))[:MOST_DRAWN]
    heads = [line for line in chosen if isinstance(line, Line)]
    rows = [row for row in chosen if not isinstance(row, Line)]
    if current is not None:
        if current.is_head and all(current.key != line.key for line in heads):
            heads.append(current)
        elif not current.is_head and all(current.row.path != row.path for row in rows):
            rows.append(current.row)
    return Drawn(tuple(rows), tuple(heads))


def _marked(entries: Sequence[Line], marked: Collection[Path]) -> Iterator[Line | RunRow]:
    for line in entries:
        members = [row for row in line.members if row.path in marked]
        if line.is_head and len(members) == len(line.members):
            yield line
        else:
            yield from members


def _of_interest(entries: Sequence[Line]) -> Iterator[Line | RunRow]:
    for line in entries:
        if _is_going_on(line.row) or line.row.is_pinned:
            yield line if line.is_head else line.row


def _is_going_on(row: RunRow) -> bool:
    if row.is_foreign and (row.silent_s or 0.0) > QUIET_S:
        return False
    return row.state.is_live and row.state is not RunState.STARTING
