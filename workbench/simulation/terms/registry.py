"""The closed set of terms by name: nothing is ever evaluated, and a name or keyword that does not exist is an error."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from workbench.errors import NotFoundError, RequestError, WorkbenchError
from workbench.simulation.episodes import Floats
from workbench.simulation.terms.keywords import WEIGHT, Keyword, check_keywords, read_keywords
from workbench.simulation.terms.naming import SpecNames
from workbench.simulation.terms.scene import Bools, Scene
from workbench.simulation.terms.touching import Touch
from workbench.suggest import nearest_one

TermKind = Literal["bool", "float"]

Values = dict[str, Any]
"""Keywords, checked."""

F = TypeVar("F", bound=Callable[..., Any])


class Reader(Protocol):
    """A term bound to an environment; it may have `Stateful`'s methods too."""

    def __call__(self) -> NDArray[Any]:
        """Return the value for each copy (n,)."""
        ...


class Stateful:
    """A term that remembers something of the current episode; read once a step.

    What it remembers is in arrays whose first axis is the copies, which a snapshot of the environment has too.
    """

    def read(self, active: Bools) -> NDArray[Any]:
        """Return the value for each copy (n,), and go on by one step.

        Args:
            active: (n,), the copies in which the value counts; a phase goes on in these only.
        """
        raise NotImplementedError

    def begin(self, ids: NDArray[np.intp]) -> None:
        """Forget what belongs to the last episode of the copies `ids`."""
        raise NotImplementedError

    def state(self) -> dict[str, NDArray[Any]]:
        """Return all that is remembered, live."""
        raise NotImplementedError


@dataclass(frozen=True)
class Entry:
    """One name of the library."""

    name: str
    kind: TermKind
    """`bool` for a predicate, `float` for a reward."""
    factory: Callable[..., Any]
    """Called with the scene and the keywords; returns a `Reader` or a `Stateful`."""
    keywords: tuple[Keyword, ...]
    check: Callable[[Values], None] | None = None
    """Raises ValueError about keywords that do not go together."""
    touches: Callable[[SpecNames, Values], Sequence[Touch]] | None = None
    """The contacts it asks about."""
    is_own: bool = True
    """Whether it comes with workbench."""

    @property
    def meaning(self) -> str:
        """The first paragraph of the factory's docstring."""
        return " ".join((inspect.getdoc(self.factory) or "").split("\n\n")[0].split())

    @property
    def accepted(self) -> tuple[Keyword, ...]:
        """All keywords; a reward has a weight too."""
        return self.keywords if self.kind == "bool" else (*self.keywords, WEIGHT)


REGISTRY: dict[str, Entry] = {}


@dataclass(frozen=True)
class Term:
    """A predicate or reward with its keywords checked; it becomes arrays when a `TermSet` is bound."""

    entry: Entry
    values: Values
    weight: float = 1.0

    @property
    def kind(self) -> TermKind:
        """`bool` for a predicate, `float` for a reward."""
        return self.entry.kind

    def touches(self, names: SpecNames) -> Sequence[Touch]:
        """Return the contacts it asks about.

        Raises:
            NotFoundError: A body or geom is not in the model.
        """
        with _Named(self.entry.name):
            return () if self.entry.touches is None else self.entry.touches(names, self.values)

    def bind(self, scene: Scene, *, as_reward: bool = False) -> Stateful:
        """Return the term over the arrays of an environment, each value times the weight where it is a reward.

        Args:
            scene: The environment.
            as_reward: Let a predicate count its weight where it holds.

        Raises:
            NotFoundError: A name is not in the model; the message has the nearest.
            RequestError: The model is not one that this term can be of.
        """
        with _Named(self.entry.name):
            made = self.entry.factory(scene, **self.values)
        reader: Stateful = made if isinstance(made, Stateful) else _Plain(made)
        return _Weighted(reader, self.weight) if self.kind == "float" or as_reward else reader


def make_predicate(name: str, **keywords: Any) -> Term:
    """Return a predicate, or a reward, by name.

    Args:
        name: One of `names()`.
        keywords: Its own, and `weight` for a reward.

    Raises:
        NotFoundError: There is no such name.
        RequestError: A keyword is unknown, missing, or holds what it may not.
    """
    entry = find(name)
    values = check_keywords(name, entry.accepted, keywords)
    weight = float(values.pop("weight", 1.0)) if entry.kind == "float" else 1.0
    if entry.check is not None:
        try:
            entry.check(values)
        except ValueError as error:
            raise RequestError(f"{name}: {error}.") from None
    return Term(entry, values, weight)


def make_term(name: str, *, weight: float = 1.0, **keywords: Any) -> Term:
    """Return a reward by name; a predicate counts `weight` where it holds and nothing elsewhere.

    Raises:
        NotFoundError: There is no such name.
        RequestError: A keyword is unknown, missing, or holds what it may not.
    """
    entry = find(name)
    if entry.kind == "float":
        return make_predicate(name, weight=weight, **keywords)
    counts = check_keywords(name, (WEIGHT,), {"weight": weight})["weight"]
    return replace(make_predicate(name, **keywords), weight=counts)


def predicate_kind(name: str) -> TermKind:
    """Return `bool` for a predicate and `float` for a reward.

    Raises:
        NotFoundError: There is no such name.
    """
    return find(name).kind


def register_predicate(name: str, factory: Callable[..., Any], *, kind: TermKind) -> None:
    """Add a term of one's own.

    Args:
        name: How it is asked for.
        factory: Called with the `Scene` and the keywords; returns a function that gives (n,) values, or a `Stateful`.
            Its keywords are those of its signature; annotated with `Body`, `Number` and the like they are checked.
        kind: `bool` for a predicate, `float` for a reward.

    Raises:
        RequestError: The name is taken or empty, or the factory is none.
    """
    if not isinstance(name, str) or not name.strip():
        raise RequestError(f"the name of a predicate must be a word, got {name!r}.")
    if name in REGISTRY:
        whose = "one that workbench has" if REGISTRY[name].is_own else "one that is registered already"
        raise RequestError(f"the predicate {name} would shadow {whose}.", hint="Choose another name.")
    if not callable(factory):
        raise RequestError(f"the factory of {name} must be callable, got {type(factory).__name__}.")
    if kind not in ("bool", "float"):
        raise RequestError(f"the kind of {name} must be 'bool' or 'float', got {kind!r}.")
    REGISTRY[name] = Entry(name, kind, factory, read_keywords(factory), is_own=False)


def names() -> list[str]:
    """Return every name, sorted."""
    return sorted(REGISTRY)


def find(name: str) -> Entry:
    """Return what a name stands for.

    Raises:
        NotFoundError: Nothing; the message says what is close and lists all.
    """
    if isinstance(name, str) and name in REGISTRY:
        return REGISTRY[name]
    near = nearest_one(str(name), REGISTRY)
    said = f"Did you mean {near}? " if near else ""
    raise NotFoundError(f"there is no predicate {name}.", hint=f"{said}There are {', '.join(names())}.")


def entry(
    kind: TermKind,
    *,
    check: Callable[[Values], None] | None = None,
    touches: Callable[[SpecNames, Values], Sequence[Touch]] | None = None,
) -> Callable[[F], F]:
    """Put a factory into the registry under its own name."""

    def add(factory: F) -> F:
        name = factory.__name__
        REGISTRY[name] = Entry(name, kind, factory, read_keywords(factory), check, touches)
        return factory

    return add


class _Plain(Stateful):
    """A term that remembers nothing."""

    def __init__(self, read: Reader) -> None:
        self._read = read

    def read(self, active: Bools) -> NDArray[Any]:
        return self._read()

    def begin(self, ids: NDArray[np.intp]) -> None:
        return None

    def state(self) -> dict[str, NDArray[Any]]:
        return {}


class _Weighted(Stateful):
    def __init__(self, of: Stateful, weight: float) -> None:
        self.of = of
        self._weight = weight

    def read(self, active: Bools) -> Floats:
        return self._weight * np.asarray(self.of.read(active), dtype=np.float64)

    def begin(self, ids: NDArray[np.intp]) -> None:
        self.of.begin(ids)

    def state(self) -> dict[str, NDArray[Any]]:
        return self.of.state()


class _Named:
    """Puts the name of a term before what is wrong with it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, WorkbenchError) and not error.message.startswith(f"{self._name}:"):
            raise type(error)(f"{self._name}: {error.message}", hint=error.hint) from error.__cause__
