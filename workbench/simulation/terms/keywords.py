"""What the keywords of a term may hold: one checked kind each, named where a factory's signature is annotated.

A factory says `body: Body, z: Number`; its keywords, their defaults and the page of documentation follow from that.
"""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from workbench.errors import RequestError
from workbench.suggest import nearest_one


@dataclass(frozen=True)
class Kind:
    """One kind of keyword."""

    words: str
    """What it accepts, for a reader: `a number of at least 0`."""
    check: Callable[[Any], Any]
    """Returns the value as a factory takes it, or raises ValueError with what else there is to say, if anything."""


@dataclass(frozen=True)
class Keyword:
    """One keyword of a term."""

    name: str
    kind: Kind
    default: Any = inspect.Parameter.empty
    """Empty where it must be given."""

    @property
    def is_required(self) -> bool:
        """Whether it has no default."""
        return self.default is inspect.Parameter.empty

    def __str__(self) -> str:
        return self.name if self.is_required else f"{self.name}={self.default!r}"


def _number(value: Any) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise ValueError
    if not math.isfinite(value):
        raise ValueError
    return float(value)


def _where(accepts: Callable[[float], bool]) -> Callable[[Any], float]:
    def check(value: Any) -> float:
        number = _number(value)
        if not accepts(number):
            raise ValueError
        return number

    return check


def _heading(value: Any) -> float:
    number = _number(value)
    if abs(number) > 2 * math.pi:
        raise ValueError(f"probably degrees: {number:g}° are {math.radians(number):.4g} rad")
    if not -math.pi < number < math.pi:
        raise ValueError(f"{'no' if number > 0 else 'every'} heading is beyond that")
    return number


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ValueError
    return int(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value


def _prefix(value: Any) -> str:
    if value == "":
        raise ValueError("an empty prefix matches everything")
    return _name(value)


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        raise ValueError(f"a single string is not a list: write [{value!r}]")
    if not isinstance(value, list | tuple) or not value:
        raise ValueError("name at least one body")
    names = tuple(_name(item) for item in value)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice!r} is there twice")
    return names


def _numbers(*lengths: int) -> Callable[[Any], tuple[float, ...]]:
    def check(value: Any) -> tuple[float, ...]:
        if isinstance(value, str | Mapping) or not isinstance(value, Sequence | np.ndarray):
            raise ValueError
        if len(value) not in lengths:
            raise ValueError
        return tuple(_number(item) for item in value)

    return check


def _name_or(numbers: Callable[[Any], tuple[float, ...]]) -> Callable[[Any], str | tuple[float, ...]]:
    return lambda value: _name(value) if isinstance(value, str) else numbers(value)


Body = Annotated[str, Kind("the name of a body", _name)]
Joint = Annotated[str, Kind("the name of a hinge or slide joint", _name)]
Geom = Annotated[str, Kind("the name of a geom", _name)]
Frame = Annotated[str, Kind("the name of a site or a body", _name)]
Base = Annotated[str, Kind("the name of a body with a free joint", _name)]
Prefix = Annotated[str, Kind("what some names begin with, not empty", _prefix)]
Names = Annotated[Sequence[str], Kind("a list of different names of bodies", _names)]
GoalName = Annotated[str, Kind("the name of a goal", _name)]
Number = Annotated[float, Kind("a finite number", _number)]
Tolerance = Annotated[float, Kind("a finite number of at least 0", _where(lambda value: value >= 0))]
Positive = Annotated[float, Kind("a finite number above 0", _where(lambda value: value > 0))]
Fraction = Annotated[float, Kind("a number above 0 and up to 1", _where(lambda value: 0 < value <= 1))]
Heading = Annotated[float, Kind("an angle strictly between -π and π, in rad", _heading)]
Count = Annotated[int, Kind("a whole number of at least 0", _count)]
Flag = Annotated[bool, Kind("true or false", _flag)]
Point = Annotated[Sequence[float], Kind("three finite numbers", _numbers(3))]
Place = Annotated[
    str | Sequence[float], Kind("the name of a goal, a site or a body, or three finite numbers", _name_or(_numbers(3)))
]
Turn = Annotated[
    str | Sequence[float],
    Kind("the name of a site or a body, or a quaternion (w, x, y, z)", _name_or(_numbers(4))),
]

ANYTHING = Kind("a value; numbers are finite", lambda value: _finite_inside(value))
"""What a keyword without one of these kinds accepts."""


def _finite_inside(value: Any) -> Any:
    if isinstance(value, float | np.floating) and not math.isfinite(value):
        raise ValueError
    if isinstance(value, list | tuple):
        for item in value:
            _finite_inside(item)
    return value


WEIGHT = Keyword("weight", Kind("a finite number", _number), 1.0)
"""What every reward accepts besides its own keywords."""


def read_keywords(factory: Callable[..., Any]) -> tuple[Keyword, ...]:
    """Return the keywords of a factory: all its parameters after the first."""
    hints = typing.get_type_hints(factory, include_extras=True)
    found = []
    for parameter in list(inspect.signature(factory).parameters.values())[1:]:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            raise RequestError(f"{parameter} hides which keywords there are; name each of them.")
        found.append(Keyword(parameter.name, _kind_of(hints.get(parameter.name)), parameter.default))
    return tuple(found)


def check_keywords(term: str, keywords: Sequence[Keyword], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values a factory is called with, defaults filled in.

    Raises:
        RequestError: A keyword is unknown, missing, or holds what it may not.
    """
    known = {keyword.name: keyword for keyword in keywords}
    required = [keyword.name for keyword in keywords if keyword.is_required]
    for name in given:
        if name not in known:
            near = nearest_one(name, known)
            raise RequestError(
                f"{term} has no keyword {name}; {_accepted(keywords)}.", hint=f"Did you mean {near}?" if near else ""
            )
    missing = [name for name in required if name not in given]
    if missing:
        raise RequestError(f"{term} needs {' and '.join(missing)}; {_accepted(keywords)}.")
    values = {}
    for name, keyword in known.items():
        value = given.get(name, keyword.default)
        values[name] = value if value is None and keyword.default is None else _checked(term, keyword, value)
    return values


def _checked(term: str, keyword: Keyword, value: Any) -> Any:
    try:
        return keyword.kind.check(value)
    except ValueError as error:
        more = f" ({error})" if str(error) else ""
        raise RequestError(f"{term}: {keyword.name} must be {keyword.kind.words}, got {value!r}{more}.") from None


def _accepted(keywords: Sequence[Keyword]) -> str:
    if not keywords:
        return "it accepts none"
    required = [keyword.name for keyword in keywords if keyword.is_required]
    return (
        f"it accepts {', '.join(keyword.name for keyword in keywords)}, "
        f"and requires {', '.join(required) if required else 'none of them'}"
    )


def _kind_of(hint: Any) -> Kind:
    # `Body | None` is a union around the annotated type.
    for part in (hint, *typing.get_args(hint)):
        for mark in getattr(part, "__metadata__", ()):
            if isinstance(mark, Kind):
                return mark
    return ANYTHING
