"""The order of a list of runs: as the store gives them, or by any field that a filter can name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.errors import RequestError
from workbench.runs.filter_fields import FIELDS, FilterField, field_named, nearest_field

if TYPE_CHECKING:
    from workbench.runs.summary import RunSummary

RECENT = "recent"
"""Live, queued, ended, newest first in each."""


@dataclass(frozen=True)
class Order:
    """How a list of runs is sorted: numbers greatest first, words from A to Z."""

    field: FilterField | None = None
    """None for the most recent first."""
    is_reversed: bool = False

    @classmethod
    def parse(cls, name: str, *, is_reversed: bool = False) -> Order:
        """Return the order by a field: `recent`, one of a row, of the spec, or a metric.

        Raises:
            RequestError: There is no such field.
        """
        if name == RECENT:
            return cls(None, is_reversed)
        field = field_named(name)
        if field is None:
            near = nearest_field(name)
            listed = ", ".join([RECENT, *(item.name for item in FIELDS)])
            hint = f"Did you mean {near}?" if near else f"There are {listed}, fields of the spec, and metrics."
            raise RequestError(f"runs cannot be sorted by `{name}`.", hint=hint)
        return cls(field, is_reversed)

    @property
    def needs(self) -> frozenset[str]:
        """Fields of the spec and metrics that rows must carry in `values`."""
        return frozenset({self.field.name} if self.field is not None and self.field.kind == "any" else ())

    def sorted(self, rows: Iterable[RunSummary]) -> list[RunSummary]:
        """Return rows in this order; what is not known stands last either way, ties stay as they came."""
        rows, field = list(rows), self.field
        if field is None:
            return rows[::-1] if self.is_reversed else rows
        numbers = [row for row in rows if field.number(row) is not None]
        words = [row for row in rows if isinstance(field.read(row), str | tuple) and field.is_there(row)]
        placed = {row.run for row in (*numbers, *words)}
        unknown = [row for row in rows if row.run not in placed]
        numbers.sort(key=lambda row: field.number(row) or 0.0, reverse=not self.is_reversed)
        words.sort(key=lambda row: field.texts(row)[0].lower(), reverse=self.is_reversed)
        return [*numbers, *words, *unknown]
