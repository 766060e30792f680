"""The nearest valid name to a misspelt one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, names: Iterable[str], *, count: int = 3) -> list[str]:
    """Return up to `count` of `names` that resemble `name`, best first; a shared prefix counts as close."""
    known = list(dict.fromkeys(names))
    folded = name.lower()
    close = difflib.get_close_matches(folded, [item.lower() for item in known], n=count, cutoff=0.6)
    by_fold = {item.lower(): item for item in reversed(known)}
    ranked = [by_fold[item] for item in close]
    ranked += [item for item in known if folded and item.lower().startswith(folded) and item not in ranked]
    return ranked[:count]


def nearest_one(name: str, names: Iterable[str]) -> str | None:
    """Return the one name nearest to `name`, or nothing where none is close."""
    found = nearest(name, names, count=1)
    return found[0] if found else None
