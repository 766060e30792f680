"""The catalogue: what there is, and how it is asked for by name."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from workbench.catalog.entries import BrokenFile, Entry, IgnoredFile
from workbench.catalog.names import is_gymnasium_id
from workbench.catalog.registry import GymnasiumRegistry, rest_of_registry
from workbench.errors import NotFoundError, Problem, RequestError
from workbench.suggest import nearest

GLOB_SIGNS = "*?["
MOST_NAMES = 12


@dataclass(frozen=True)
class Catalog:
    """Everything that was found, and every file that was not taken."""

    entries: tuple[Entry, ...] = ()
    """Environments and variants, and the Gymnasium IDs that have a recipe."""
    test_only: tuple[Entry, ...] = ()
    """Variants for tests, which are never listed or registered."""
    broken: tuple[BrokenFile, ...] = ()
    ignored: tuple[IgnoredFile, ...] = ()
    orphans: tuple[IgnoredFile, ...] = ()
    """Recipes that belong to no environment."""
    problems: tuple[Problem, ...] = ()
    """What is wrong between files: names given twice, packages without a folder."""
    registry: GymnasiumRegistry = field(default_factory=lambda: GymnasiumRegistry({}, known=False))

    @cached_property
    def gymnasium(self) -> tuple[Entry, ...]:
        """Gymnasium's other IDs, where the list was already read."""
        return tuple(rest_of_registry(self.registry, self.entries))

    def entry_for_id(self, env_id: str) -> Entry | None:
        """Return the entry with exactly this ID, test-only ones included, or None."""
        listed = (*self.entries, *self.test_only, *self.gymnasium)
        return next((entry for entry in listed if entry.env_id == env_id), None)

    def find(self, text: str) -> Entry:
        """Return the one environment that `text` means: a name, an ID, a stem, a glob, or a unique prefix.

        Exact beats prefix, so that `ant` is `ant` though others begin with it.

        Raises:
            NotFoundError: Nothing matches; the message says what is close and what exists.
            RequestError: Several match.
        """
        if _is_glob(text):
            return self._only(text, _matching(text, self.entries) or _matching(text, self.gymnasium))
        exact = self._exact(text)
        if exact:
            return self._only(text, exact)
        if is_gymnasium_id(text) and (entry := self._from_gymnasium(text)) is not None:
            return entry
        begun = [entry for entry in self.entries if any(_begins(name, text) for name in entry.names)]
        return self._only(text, begun)

    def select(self, pattern: str) -> list[Entry]:
        """Return the environments that `pattern` asks to train.

        A glob selects those with a recipe; a name, an ID or a unique prefix is returned with or without one.

        Raises:
            NotFoundError: Nothing matches, or a glob matches nothing that has a recipe.
            RequestError: A prefix of several.
        """
        if not _is_glob(pattern):
            return [self.find(pattern)]
        matching = _matching(pattern, self.entries)
        chosen = [entry for entry in matching if entry.recipe is not None and entry.why_not != "empty recipe"]
        if chosen:
            return chosen
        if matching:
            names = _listed(entry.name for entry in matching)
            hint = "Name one of them exactly, with a budget (--max-steps), to train it on Stable-Baselines3's defaults."
            raise NotFoundError(f"`{pattern}` matches {names}, and none of them has a recipe.", hint=hint)
        raise self._missing(pattern)

    def matching(self, pattern: str | None, *, everything: bool = False) -> list[Entry]:
        """Return the entries to show for `pattern`: a glob, a name, or the beginning of one; all of them for None.

        Args:
            pattern: What to look for.
            everything: Whether Gymnasium's other IDs are shown too.
        """
        listed = (*self.entries, *self.gymnasium) if everything else self.entries
        if pattern is None:
            return list(listed)
        if _is_glob(pattern):
            return _matching(pattern, listed)
        return [entry for entry in listed if any(_begins(name, pattern) for name in entry.names)]

    def _exact(self, text: str) -> list[Entry]:
        listed = (*self.entries, *self.gymnasium)
        exact = [entry for entry in listed if text in (entry.name, entry.env_id)]
        exact = exact or [entry for entry in listed if text == entry.file_stem]
        folded = text.lower()
        return exact or [entry for entry in listed if any(name.lower() == folded for name in entry.names)]

    def _from_gymnasium(self, env_id: str) -> Entry | None:
        """Look an ID up in Gymnasium's registry, which is asked for now where it was never read."""
        registry = self.registry
        if not registry.known:
            from workbench.catalog.descriptions import request_registry

            registry = request_registry()
        return registry.entry(env_id) if env_id in registry.environments else None

    def _only(self, text: str, found: Sequence[Entry]) -> Entry:
        if not found:
            raise self._missing(text)
        if len(found) == 1:
            return found[0]
        names = list(dict.fromkeys(entry.name for entry in found))
        if len(names) == 1:
            files = " and ".join(str(entry.variant_file or entry.module) for entry in found)
            raise RequestError(
                f"`{text}` is the name of {len(found)} environments: {files}.", hint="Rename one of them."
            )
        raise RequestError(f"`{text}` could be {_listed(names)}.", hint="Type more of the name.")

    def _missing(self, text: str) -> NotFoundError:
        broken = next((file for file in self.broken if text in (file.name, file.path.stem)), None)
        if broken is not None:
            return NotFoundError(f"`{text}` cannot be read: {broken.problems[0]}.", hint="`workbench check` lists all.")
        if any(text in entry.names for entry in self.test_only):
            return NotFoundError(f"`{text}` is a variant for tests only; it is not trained or shown.")
        names = list(dict.fromkeys(entry.name for entry in self.entries))
        # The list may have been read for this very question.
        registry = self.registry if self.registry.known else GymnasiumRegistry.cached()
        ids = [*(entry.env_id for entry in self.entries), *registry.environments]
        close = nearest(text, [*names, *ids])
        there = f"there are {_listed(names)}" if names else "this project has none"
        hint = f"Did you mean {' or '.join(close)}?" if close else "`workbench list --all` shows Gymnasium's too."
        return NotFoundError(f"no environment matches `{text}`; {there}.", hint=hint)


def _is_glob(text: str) -> bool:
    return any(sign in text for sign in GLOB_SIGNS)


def _matching(pattern: str, entries: Iterable[Entry]) -> list[Entry]:
    return [entry for entry in entries if any(fnmatch.fnmatchcase(name, pattern) for name in entry.names)]


def _begins(name: str, text: str) -> bool:
    return bool(text) and name.lower().startswith(text.lower())


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    more = len(known) - MOST_NAMES
    return ", ".join(known[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
