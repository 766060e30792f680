"""What each number of an observation or an action is: its name, and its unit where the docstring tells it.

Docstrings of environments hold a table for each space, as Gymnasium's do: a row for each number, a column for its
unit, or the unit in brackets (`angle (rad)`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from workbench import formatting
from workbench.catalog import Space
from workbench.formatting import SPACE, UNKNOWN

DOT = f"{SPACE}· "
"""Between things in a row; a line is broken after it, never before."""
NAMES_SHOWN = 24

_PLACE = re.compile(r"\d+")
_BRACKETS = re.compile(r".*\(([^()]*)\)\s*$")


def space_facts(space: Space | None, units: Mapping[int, str]) -> str:
    """Return the size of a space, its bounds, and the names of its numbers with their units."""
    if space is None:
        return UNKNOWN
    parts = [space.size]
    low, high = _bound(space.low), _bound(space.high)
    if low is not None and high is not None:
        parts.append(f"{formatting.number(low)} … {formatting.number(high)}")
    if space.names:
        shown = [
            f"{name}{SPACE}{units[place]}" if units.get(place) else name
            for place, name in enumerate(space.names[:NAMES_SHOWN])
        ]
        more = len(space.names) - NAMES_SHOWN
        parts.append(DOT.join([*shown, *([f"{more} more"] if more > 0 else [])]))
    return "   ".join(parts)


def units_of(docstring: str, space: str) -> dict[int, str]:
    """Return the units that a docstring gives, by the place of the number.

    Args:
        docstring: Of an environment.
        space: `Action Space` or `Observation Space`.
    """
    rows = list(_table(docstring, space))
    if len(rows) < 2:
        return {}
    head = [cell.lower() for cell in rows[0]]
    column = next((place for place, cell in enumerate(head) if "unit" in cell), None)
    if column is None:
        return {}
    is_own = head[column] in ("unit", "units")
    units: dict[int, str] = {}
    for row in rows[1:]:
        if len(row) <= column or not _PLACE.fullmatch(row[0]):
            continue
        match = _BRACKETS.match(row[column])
        unit = row[column] if is_own else (match[1] if match else "")
        if unit.strip(" -–"):
            units[int(row[0])] = unit
    return units


def _table(docstring: str, heading: str) -> Iterator[Sequence[str]]:
    """Yield the rows of the first table below a heading, the line under its head left out."""
    is_below = False
    began = False
    for line in docstring.splitlines():
        text = line.strip()
        if text.startswith("#"):
            is_below = text.lstrip("# ").lower() == heading.lower()
        elif is_below and text.startswith("|"):
            began = True
            cells = [cell.strip() for cell in text.strip("|").split("|")]
            if not all(set(cell) <= set("-: ") for cell in cells):
                yield cells
        elif began:
            return


def _bound(value: object) -> float | None:
    """Return the one bound of all dimensions, where they share one."""
    numbers = value if isinstance(value, list | tuple) else [value]
    flat = [item for item in numbers if isinstance(item, int | float)]
    return float(flat[0]) if flat and len(flat) == len(numbers) and len(set(flat)) == 1 else None
