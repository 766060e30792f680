"""Fuzzy search: a few letters, in order, find a name; the better they fit, the further up it stands.

`hch` finds `half_cheetah`. The first letter must begin a word, unless the letters stand together: otherwise nearly
every long name would be found by nearly every few letters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_BEGINS_WORD = 8.0
_FOLLOWS = 6.0
_ANYWHERE = 1.0
_SKIPPED = 0.2
"""Taken off for each letter between two that match."""
_LENGTH = 0.05
"""Taken off for each letter of the name: of two that fit alike the shorter is meant."""
_WHOLE = 20.0


@dataclass(frozen=True)
class Match:
    """How a query fits a name."""

    score: float
    places: tuple[int, ...]
    """Which letters of the name were matched."""


def match(query: str, name: str) -> Match | None:
    """Return how the letters of `query` are best found in `name`, or None where they are not; case does not matter."""
    wanted, text = query.lower(), name.lower()
    if not wanted:
        return Match(0.0, ())
    starts = [place == 0 or not text[place - 1].isalnum() for place in range(len(text))]
    together = text.find(wanted)
    # best[place]: the best score with the last letter so far at `place`, and which places it took.
    best: dict[int, tuple[float, tuple[int, ...]]] = {
        place: (_BEGINS_WORD if starts[place] else _ANYWHERE, (place,))
        for place, letter in enumerate(text)
        if letter == wanted[0] and (starts[place] or together >= 0)
    }
    for letter in wanted[1:]:
        found: dict[int, tuple[float, tuple[int, ...]]] = {}
        for place, other in enumerate(text):
            if other != letter:
                continue
            options = [
                (score + _step(before, place, starts), (*places, place))
                for before, (score, places) in best.items()
                if before < place
            ]
            if options:
                found[place] = max(options, key=lambda option: option[0])
        best = found
    if not best:
        return None
    score, places = max(best.values(), key=lambda option: option[0])
    whole = _WHOLE if wanted == text else 0.0
    return Match(score + whole - _LENGTH * len(text), places)


def _step(before: int, place: int, starts: list[bool]) -> float:
    if place == before + 1:
        return _FOLLOWS
    return (_BEGINS_WORD if starts[place] else _ANYWHERE) - _SKIPPED * (place - before - 1)


def ranked(query: str, names: Mapping[str, str]) -> list[str]:
    """Return the keys of the names that a query finds, the best first; all of them, in order, for an empty query."""
    found = {key: match(query, name) for key, name in names.items()}
    scores = {key: each.score for key, each in found.items() if each is not None}
    return sorted(scores, key=lambda key: -scores[key]) if query else list(names)
