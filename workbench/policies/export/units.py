"""What an environment's docstring says of the numbers it takes and gives: the tables that Gymnasium's style asks for.

A table describes one configuration; where this one differs, only what is found by name is taken from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

UNKNOWN = "unknown"
"""What is written of a fact that nobody told."""

DOTS = ("…", "...")

_HEADING = re.compile(r"^(#+)\s*(.+?)\s*$")
_RANGE = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")
_IN_BRACKETS = re.compile(r"\(([^()]+)\)\s*$")


@dataclass(frozen=True)
class ElementText:
    """What is told of one number."""

    unit: str = UNKNOWN
    description: str = UNKNOWN


@dataclass(frozen=True)
class _Row:
    indices: tuple[int, ...]
    names: tuple[str, ...]
    text: ElementText


def element_texts(docstring: str, section: str, names: Sequence[str], size: int) -> list[ElementText]:
    """Return what a docstring says of each number of a space.

    Args:
        docstring: Of the environment's class.
        section: The heading of the table: `Observation Space`, `Action Space`.
        names: What the numbers are called; empty where the environment names none.
        size: How many there are.
    """
    rows = list(_rows(_section(docstring, section)))
    covered = [index for row in rows for index in row.indices]
    is_whole = sorted(covered) == list(range(size))
    found = [ElementText()] * size
    for row in rows:
        places = _by_name(row, names) if row.names and names else row.indices if is_whole else ()
        for index in places:
            found[index] = row.text
    return found


def _by_name(row: _Row, names: Sequence[str]) -> Iterator[int]:
    if any(name in DOTS for name in row.names):
        first, last = row.names[0], row.names[-1]
        if first in names and last in names:
            span = range(names.index(first), names.index(last) + 1)
            yield from span if len(span) == len(row.indices) else ()
        return
    yield from (names.index(name) for name in row.names if name in names)


def _section(docstring: str, section: str) -> list[str]:
    lines: list[str] = []
    depth = 0
    for line in docstring.splitlines():
        heading = _HEADING.match(line.strip())
        if heading is None:
            lines += [line.strip()] if depth else []
        elif heading[2].lower() == section.lower():
            depth = len(heading[1])
        elif depth and len(heading[1]) <= depth:
            break
    return lines


def _rows(lines: Sequence[str]) -> Iterator[_Row]:
    header: list[str] = []
    for line in lines:
        if not line.startswith("|"):
            header = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not header:
            header = [cell.lower() for cell in cells]
        elif len(cells) == len(header) and "num" in header:
            row = _row(dict(zip(header, cells, strict=True)))
            if row is not None:
                yield row


def _row(cells: dict[str, str]) -> _Row | None:
    parts = [_RANGE.fullmatch(part.strip()) for part in cells["num"].split(",")]
    spans = [range(int(part[1]), int(part[2] or part[1]) + 1) for part in parts if part is not None]
    if not spans or len(spans) != len(parts):
        return None
    unit = UNKNOWN
    for column, cell in cells.items():
        if column == "unit" and cell:
            unit = cell
        elif "(unit)" in column and (told := _IN_BRACKETS.search(cell)) is not None:
            unit = told[1]
    description = next((cells[name] for name in ("observation", "action", "description") if cells.get(name)), UNKNOWN)
    indices = tuple(index for span in spans for index in span)
    return _Row(indices, tuple(cells.get("name", "").split()), ElementText(unit, description))
