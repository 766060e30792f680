"""Values that a run was given while it trained, laid over those it began with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def laid_over(spec: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec of a `run.json` with other values.

    Args:
        spec: Nested fields.
        values: New values by dotted key, in the order in which they were given; a group replaces the whole group. What
            is in a group that the spec has not, such as the weight of a reward term, is none of its fields.
    """
    result = dict(spec)
    for key, value in values.items():
        top, dot, rest = key.partition(".")
        inner = result.get(top)
        if not dot:
            result[top] = value
        elif isinstance(inner, Mapping):
            result[top] = {**inner, rest: value}
    return result


def joined(values: Mapping[str, Any], newer: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by dotted key with newer ones, which count last; a new group displaces what was set in it."""
    kept = {key: value for key, value in values.items() if not any(_covers(name, key) for name in newer)}
    return kept | dict(newer)


def _covers(newer: str, older: str) -> bool:
    return older == newer or older.startswith(f"{newer}.")
