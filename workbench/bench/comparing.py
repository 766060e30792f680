"""Two documents beside each other: which rows became slower."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.errors import RequestError

LEAST = 0.9
"""A ratio below this counts as slower; what is above it differs between two runs of the same code."""


@dataclass(frozen=True)
class Change:
    """One row of both documents."""

    name: str
    old: float
    new: float
    ratio: float
    """How many times better the new one is; below 1 it is worse."""

    @property
    def is_worse(self) -> bool:
        """Whether it lost more than measurements differ by."""
        return self.ratio < LEAST


@dataclass(frozen=True)
class Comparison:
    """What became of every row."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    """What keeps the two from being compared: rows that only one has, other machines, other versions."""

    @property
    def is_worse(self) -> bool:
        """Whether any row is worse."""
        return any(change.is_worse for change in self.changes)


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> Comparison:
    """Compare the rows of two documents by name.

    Raises:
        RequestError: They measured different things, or have no row in common.
    """
    if old["kind"] != new["kind"]:
        raise RequestError(
            f"one file measures {old['kind'] or 'something'} and the other {new['kind'] or 'something'}."
        )
    before, after = _values(old), _values(new)
    common = [name for name in before if name in after]
    if not common:
        raise RequestError("the two files have no row in common.")
    changes = []
    for name in common:
        (one, at_most), (other, _) = before[name], after[name]
        changes.append(Change(name, one, other, one / other if at_most else other / one))
    return Comparison(tuple(changes), tuple(_notes(old, new, before.keys(), after.keys())))


def _values(document: Mapping[str, Any]) -> dict[str, tuple[float, bool]]:
    """Return the rows that were measured, each with whether less is better."""
    found = {}
    for row in document["rows"]:
        value = row.get("value")
        if isinstance(value, int | float) and value > 0:
            found[row["name"]] = (float(value), bool(row.get("at_most")))
    return found


def _notes(old: Mapping[str, Any], new: Mapping[str, Any], before: Any, after: Any) -> list[str]:
    notes = [f"only the first file has {name}" for name in sorted(before - after)]
    notes += [f"only the second file has {name}" for name in sorted(after - before)]
    for key, words in (("cpu", "CPU"), ("cores", "number of cores")):
        one, other = (document["machine"].get(key) for document in (old, new))
        if one != other:
            notes.append(f"the {words} differs: {one} and {other}")
    versions = [document.get("versions") or {} for document in (old, new)]
    for name in sorted(versions[0].keys() & versions[1].keys()):
        if versions[0][name] != versions[1][name]:
            notes.append(f"{name} differs: {versions[0][name]} and {versions[1][name]}")
    return notes
