"""What is typed above the list of environments: letters of a name, and words such as `is:trainable`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workbench.catalog import Entry
from workbench.suggest import nearest_one
from workbench.ui.fuzzy import Match, match

MARK = "is:"
KINDS: Mapping[str, Callable[[Entry], bool]] = {
    "trainable": lambda entry: entry.trainable,
    "broken": lambda entry: entry.broken,
    "gymnasium": lambda entry: entry.origin == "gymnasium",
    "variant": lambda entry: entry.variant is not None,
}
"""What can stand after `is:`; the first letters will do."""
SHOWN = {"trainable": "train", "broken": "broken", "gymnasium": "gym"}
"""Those that are counted under the list, as short as they may be typed."""
_ELSEWHERE = 1.0
"""The score of a word that stands whole in what is said of an entry, and not in its name."""


@dataclass(frozen=True)
class Query:
    """What was typed, taken apart; all of it must hold."""

    words: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    unknown: tuple[str, ...] = ()
    """Words after `is:` that mean nothing."""

    @classmethod
    def of(cls, text: str) -> Query:
        """Take a text apart; a word that is not finished yet (`is:`) asks for nothing."""
        words: list[str] = []
        kinds: set[str] = set()
        unknown: list[str] = []
        for word in text.lower().split():
            if not word.startswith(MARK):
                words.append(word)
                continue
            begun = [kind for kind in KINDS if kind.startswith(word.removeprefix(MARK))]
            if word == MARK:
                continue
            if begun:
                kinds.add(begun[0])
            else:
                unknown.append(word)
        return cls(tuple(words), frozenset(kinds), tuple(unknown))

    @property
    def fault(self) -> str:
        """What is wrong with it, as a sentence; empty where nothing is."""
        if not self.unknown:
            return ""
        near = nearest_one(self.unknown[0].removeprefix(MARK), KINDS)
        hint = f"; nearest is {MARK}{near}" if near else ""
        return f"{self.unknown[0]} means nothing here: there are {', '.join(MARK + kind for kind in KINDS)}{hint}."

    def find(self, entry: Entry) -> Match | None:
        """Return how well an entry fits, and which letters of its name were found; None where it does not."""
        if self.unknown or not all(KINDS[kind](entry) for kind in self.kinds):
            return None
        said = " ".join([entry.env_id, entry.description, *entry.algorithms, entry.origin]).lower()
        return self._find(entry.name, said)

    def find_fault(self, label: str) -> Match | None:
        """Return the same for a file that cannot be used."""
        if self.unknown or self.kinds - {"broken"}:
            return None
        return self._find(label, "broken")

    def _find(self, name: str, said: str) -> Match | None:
        score, places = 0.0, set[int]()
        for word in self.words:
            found = match(word, name)
            if found is None and word not in said:
                return None
            score += _ELSEWHERE if found is None else found.score
            places.update(() if found is None else found.places)
        return Match(score, tuple(sorted(places)))
