"""The nearest valid name to a misspelt one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_CLOSE = 0.6
"""The ratio of difflib from which two names count as alike."""


def nearest(name: str, names: Iterable[str], *, count: int = 3) -> list[str]:
    """Return up to `count` of `names` that resemble `name`, best first; a shared prefix counts as close."""
    folded = name.lower()
    scores = {
        item: max(
            _CLOSE + 0.1 if folded and item.lower().startswith(folded) else 0.0, _resemblance(folded, item.lower())
        )
        for item in names
    }
    close = [item for item, score in scores.items() if score >= _CLOSE]
    return sorted(close, key=lambda item: -scores[item])[:count]


def nearest_one(name: str, names: Iterable[str]) -> str | None:
    """Return the one name nearest to `name`, or nothing where none is close."""
    found = nearest(name, names, count=1)
    return found[0] if found else None


def _resemblance(name: str, other: str) -> float:
    return difflib.SequenceMatcher(a=other, b=name).ratio()
