"""The configuration of an environment: its base class, and plain data checked against it.

A configuration is a frozen dataclass, nested ones allowed. Types are taken at their word: a bool is not a number, a
count is a true int, nothing is read by truthiness. Imports no simulator.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import itertools
import math
import re
import sys
import textwrap
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Literal, TypeVar

from workbench.errors import Problem, SimulationError
from workbench.suggest import nearest_one

T = TypeVar("T")


@dataclass(frozen=True)
class BatchEnvConfig:
    """What every batched environment lets one configure."""

    frame_skip: int = 1
    """Simulation steps in one control step."""
    episode_steps: int = 1000
    """Steps after which an episode is truncated with the reason `time_limit`; 0 is no limit."""

    def __post_init__(self) -> None:
        if self.frame_skip < 1:
            raise ValueError(f"frame_skip must be at least 1, and is {self.frame_skip}")
        if self.episode_steps < 0:
            raise ValueError(f"episode_steps must be at least 0, and is {self.episode_steps}")


@dataclass(frozen=True)
class ConfigField:
    """One field of a configuration, for a reader."""

    name: str
    """Dotted where the field belongs to a nested configuration."""
    type: str
    default: Any
    """As plain data; None where the field must be given."""
    doc: str


def config_class(cls: type) -> type[BatchEnvConfig]:
    """Return the configuration class an environment names as its type argument, or by its own name plus `Config`.

    Raises:
        SimulationError: It names none.
    """
    for owner in cls.__mro__:
        for base in owner.__dict__.get("__orig_bases__", ()):
            for argument in typing.get_args(base):
                if isinstance(argument, type) and issubclass(argument, BatchEnvConfig):
                    return argument
        found = getattr(sys.modules.get(owner.__module__), f"{owner.__name__}Config", None)
        if isinstance(found, type) and issubclass(found, BatchEnvConfig) and found is not BatchEnvConfig:
            return found
    raise SimulationError(f"{cls.__name__} has no configuration.", hint=f"Write a frozen {cls.__name__}Config.")


def build_config(cls: type[T], values: Mapping[str, Any]) -> tuple[T | None, list[Problem]]:
    """Return a configuration with `values` in place of its defaults, or nothing and every problem found.

    Nested configurations are merged: a mapping given for one replaces only the fields it names.
    """
    return _build(cls, values, "", None)


def config_fields(cls: type) -> list[ConfigField]:
    """Return the fields of a configuration in order, nested ones under dotted names, with their docstrings."""
    rows: list[ConfigField] = []
    hints = typing.get_type_hints(cls)
    docs = field_docs(cls)
    for field in dataclasses.fields(cls):
        hint, default = hints[field.name], _default(field)
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            rows += [dataclasses.replace(row, name=f"{field.name}.{row.name}") for row in config_fields(hint)]
        else:
            told = None if default is dataclasses.MISSING else plain(default)
            rows.append(ConfigField(field.name, type_name(hint), told, docs.get(field.name, "")))
    return rows


def field_docs(cls: type) -> dict[str, str]:
    """Return the docstring under each field of a class, those of its bases included, read from their source."""
    docs: dict[str, str] = {}
    for owner in reversed(cls.__mro__):
        if not dataclasses.is_dataclass(owner):
            continue
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(owner)))
        except (OSError, TypeError, SyntaxError):
            continue
        body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
        for statement, following in itertools.pairwise(body):
            match statement, following:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(doc))):
                    docs[name] = inspect.cleandoc(doc)
    return docs


def field_line(cls: type, name: str, path: Path) -> int | None:
    """Return the line of a file on which a class in it, or a base of that class, gives a field, where one does."""
    for owner in cls.__mro__:
        try:
            lines, first = inspect.getsourcelines(owner)
            is_there = Path(inspect.getfile(owner)) == path
        except (OSError, TypeError):
            continue
        found = [index for index, line in enumerate(lines) if is_there and re.match(rf"\s+{re.escape(name)}\s*:", line)]
        if found:
            return first + found[0]
    return None


def plain(value: Any) -> Any:
    """Return a configuration's value as JSON would hold it; an infinite number becomes the word for it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def type_name(hint: Any) -> str:
    """Return a type as an author would write it."""
    if hint is None or hint is type(None):
        return "None"
    if isinstance(hint, type) and not typing.get_args(hint):
        return hint.__name__
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return " | ".join(type_name(part) for part in typing.get_args(hint))
    return str(hint).replace("typing.", "")


def _build(cls: type[T], values: Mapping[str, Any], prefix: str, base: T | None) -> tuple[T | None, list[Problem]]:
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}  # type: ignore[arg-type]
    hints = typing.get_type_hints(cls)
    problems: list[Problem] = []
    merged: dict[str, Any] = {} if base is None else {name: getattr(base, name) for name in fields}
    for key, value in values.items():
        if key not in fields:
            near = nearest_one(str(key), fields)
            known = "" if near else f"; the fields are {', '.join(fields)}" if fields else "; it has no fields"
            problems.append(Problem(f"{prefix}{key}", f"is not a field of {cls.__name__}{known}", nearest=near))
            continue
        hint = hints[key]
        if isinstance(hint, type) and dataclasses.is_dataclass(hint) and isinstance(value, Mapping):
            current = merged.get(key, _default(fields[key]))
            base_below = None if current is dataclasses.MISSING else current
            built, below = _build(hint, value, f"{prefix}{key}.", base_below)
            problems += below
            merged[key] = built
            continue
        try:
            merged[key] = _convert(value, hint)
        except _MismatchError as mismatch:
            problems.append(Problem(f"{prefix}{key}", f"must be {mismatch}, and is {value!r}"))
    missing = [name for name, field in fields.items() if name not in merged and _default(field) is dataclasses.MISSING]
    problems += [Problem(f"{prefix}{name}", "must be given: it has no default") for name in missing]
    if problems:
        return None, problems
    try:
        return cls(**merged), []
    except (TypeError, ValueError) as error:
        message = str(error) or f"is refused by {cls.__name__}"
        named = [name for name in fields if message.startswith(f"{name} ")]
        if not named:
            return None, [Problem(prefix.rstrip(".") or cls.__name__, f"is refused: {message}")]
        return None, [Problem(f"{prefix}{named[0]}", message.removeprefix(f"{named[0]} "))]


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


class _MismatchError(Exception):
    """A value does not have its field's type; the message says what is accepted."""


def _convert(value: Any, hint: Any) -> Any:
    """Return `value` as the type asks for it: JSON's lists become tuples, an int becomes a float where one is due."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin in (typing.Union, types.UnionType):
        return _convert_union(value, arguments)
    if origin is Literal:
        for choice in arguments:
            if type(value) is type(choice) and value == choice:
                return value
        raise _MismatchError(f"one of {', '.join(map(repr, arguments))}")
    if origin in (tuple, list, Sequence):
        return _convert_sequence(value, origin, arguments)
    if origin in (dict, Mapping):
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise _MismatchError("a mapping with names as keys")
        return {key: _convert(item, arguments[1]) for key, item in value.items()}
    if hint is None or hint is type(None):
        if value is None:
            return None
        raise _MismatchError("null")
    return _convert_scalar(value, hint)


def _convert_scalar(value: Any, hint: Any) -> Any:
    if hint is bool:
        if isinstance(value, bool):
            return value
        raise _MismatchError("true or false")
    if hint is int:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise _MismatchError("a whole number")
    if hint is float:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value):
            return float(value)
        raise _MismatchError("a number")
    if hint is str:
        if isinstance(value, str):
            return value
        raise _MismatchError("a text")
    if isinstance(hint, type) and issubclass(hint, Enum):
        for member in hint:
            if value is member or (type(value) is type(member.value) and value == member.value):
                return member
        raise _MismatchError(f"one of {', '.join(repr(member.value) for member in hint)}")
    if isinstance(hint, type) and isinstance(value, hint):
        return value
    raise _MismatchError("a mapping of its fields" if dataclasses.is_dataclass(hint) else f"a {type_name(hint)}")


def _convert_union(value: Any, choices: tuple[Any, ...]) -> Any:
    accepted = []
    for choice in choices:
        try:
            return _convert(value, choice)
        except _MismatchError as mismatch:
            accepted.append(str(mismatch))
    raise _MismatchError(" or ".join(accepted))


def _convert_sequence(value: Any, origin: Any, arguments: tuple[Any, ...]) -> Any:
    variable = origin is not tuple or (len(arguments) == 2 and arguments[1] is Ellipsis)
    what = "a list" if variable or not arguments else f"a list of {len(arguments)} values"
    if not isinstance(value, (list, tuple)):
        raise _MismatchError(what)
    if variable or not arguments:
        items = [_convert(item, arguments[0]) if arguments else item for item in value]
    elif len(value) == len(arguments):
        items = [_convert(item, hint) for item, hint in zip(value, arguments, strict=True)]
    else:
        raise _MismatchError(what)
    return items if origin is list else tuple(items)
