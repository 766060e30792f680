"""Which colour and which letter each run of an overlay has: kept for as long as it is drawn."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from workbench.ui.theme import SERIES_COUNT

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Identity:
    """How one run is told from the others in a chart."""

    slot: int | None
    """Which of the eight series colours; none is muted."""
    letter: str


class Overlay:
    """Hands out colours and letters.

    A run's colour comes from its own name, so that it is the same in every session; on a clash the run that came later
    takes the next free one. A drawn run never changes its colour or its letter.
    """

    def __init__(self) -> None:
        self._known: dict[str, Identity] = {}

    def assign(self, keys: Iterable[str]) -> dict[str, Identity]:
        """Return the identity of each run that is drawn now, and forget those that are not."""
        wanted = list(dict.fromkeys(keys))
        kept = {key: self._known[key] for key in wanted if key in self._known}
        for key in wanted:
            if key not in kept or kept[key].slot is None:
                letter = kept[key].letter if key in kept else self._letter(kept)
                kept[key] = Identity(self._slot(key, kept), letter)
        self._known = {key: kept[key] for key in wanted}
        return self._known

    @staticmethod
    def _slot(key: str, taken: dict[str, Identity]) -> int | None:
        used = {identity.slot for identity in taken.values()}
        first = zlib.crc32(key.encode()) % SERIES_COUNT
        for offset in range(SERIES_COUNT):
            if (first + offset) % SERIES_COUNT not in used:
                return (first + offset) % SERIES_COUNT
        return None

    @staticmethod
    def _letter(taken: dict[str, Identity]) -> str:
        used = {identity.letter for identity in taken.values()}
        return next((letter for letter in LETTERS if letter not in used), "")
