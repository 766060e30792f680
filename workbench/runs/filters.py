"""Which runs a person wants to see: words of a filter, and whether a run's row meets them all.

`ant state:live -tag:junk`: a bare word is looked for in environment, name, tags and note; `field:pattern` compares one
field, with `*` and `?`; a minus in front turns a word round; quotes keep spaces.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from workbench.errors import RequestError
from workbench.runs.states import RunState
from workbench.runs.summary import RunSummary
from workbench.suggest import nearest_one

_STATE_GROUPS: dict[str, Callable[[RunState], bool]] = {
    "live": lambda state: state.is_live,
    "ended": lambda state: state.is_ended,
    "bad": lambda state: state.is_bad,
}

_FIELDS: dict[str, Callable[[RunSummary], Iterable[str]]] = {
    "algo": lambda row: [row.algorithm],
    "env": lambda row: [row.env_name, row.env_id],
    "group": lambda row: [row.group or ""],
    "host": lambda row: [row.host],
    "id": lambda row: [row.short_id, row.name],
    "parent": lambda row: [row.parent or ""],
    "note": lambda row: [row.note],
    "seed": lambda row: ["" if row.seed is None else str(row.seed)],
    "state": lambda row: [row.state],
    "tag": lambda row: row.tags,
}
_ALIASES = {"algorithm": "algo", "environment": "env", "tags": "tag", "run": "id"}


@dataclass(frozen=True)
class Term:
    """One word of a filter."""

    field: str | None
    """The field it compares; None for a bare word."""
    pattern: str
    """Lower case."""
    is_negated: bool = False

    def matches(self, row: RunSummary) -> bool:
        """Return whether a row meets this word."""
        return self._is_met(row) is not self.is_negated

    def _is_met(self, row: RunSummary) -> bool:
        if self.field is None:
            texts = (row.env_name, row.env_id, row.name, row.note, *row.tags)
            return any(self.pattern in text.lower() for text in texts)
        if self.field == "state" and self.pattern in _STATE_GROUPS:
            return _STATE_GROUPS[self.pattern](row.state)
        return any(fnmatchcase(text.lower(), self.pattern) for text in _FIELDS[self.field](row))


@dataclass(frozen=True)
class Filter:
    """All words of a filter; without any, every run meets it."""

    terms: tuple[Term, ...] = ()

    def matches(self, row: RunSummary) -> bool:
        """Return whether a row meets every word."""
        return all(term.matches(row) for term in self.terms)


def parse_filter(text: str) -> Filter:
    """Return the filter that `text` describes.

    Raises:
        RequestError: A field or a state that does not exist, or a quote without its end.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise RequestError(f"the filter `{text}` cannot be read: {error}.".replace("..", ".")) from error
    return Filter(tuple(_term(word) for word in words))


def _term(word: str) -> Term:
    is_negated = len(word) > 1 and word.startswith("-")
    bare = word.removeprefix("-") if is_negated else word
    # Quietly finding nothing would be worse than saying that comparisons are not understood.
    if re.match(r"~?[\w./]+(?:!=|[<>=])", bare):
        raise RequestError(f"`{word}` cannot be compared yet.", hint=f"Write FIELD:PATTERN, with {_listed()}.")
    name, colon, pattern = bare.partition(":")
    if not colon:
        return Term(None, bare.lower(), is_negated)
    field = _ALIASES.get(name.lower(), name.lower())
    if field not in _FIELDS:
        near = nearest_one(field, [*_FIELDS, *_ALIASES])
        hint = f"Did you mean {near}?" if near else f"There are {_listed()}."
        raise RequestError(f"`{name}` is not a field of a run that a filter knows.", hint=hint)
    if field == "state":
        _check_state(pattern.lower())
    return Term(field, pattern.lower(), is_negated)


def _check_state(pattern: str) -> None:
    known = [*_STATE_GROUPS, *RunState]
    if not any(fnmatchcase(state, pattern) for state in known):
        near = nearest_one(pattern, known)
        hint = f"Did you mean {near}?" if near else f"There are {', '.join(known)}."
        raise RequestError(f"`{pattern}` is not a state of a run.", hint=hint)


def _listed() -> str:
    return ", ".join(_FIELDS)
