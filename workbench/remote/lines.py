"""Commands and events as lines of JSON, checked against their declaration on the way in and out."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.errors import RequestError
from workbench.remote.declaration import COMMAND_BY_NAME, EVENT_BY_NAME, Value
from workbench.suggest import nearest

LONGEST_LINE = 65_536
"""Bytes; a longer line is refused unread."""


@dataclass(frozen=True)
class Command:
    """A command with every value filled in."""

    name: str
    values: Mapping[str, Any]


def parse_command(line: bytes | str) -> Command:
    """Read one line.

    Raises:
        RequestError: It is no command, or a value is wrong; says what is accepted.
    """
    given = _object(line)
    name = given.pop("do", None)
    command = COMMAND_BY_NAME.get(name) if isinstance(name, str) else None
    if command is None:
        close = nearest(str(name), COMMAND_BY_NAME) if name is not None else []
        hint = f"Did you mean {' or '.join(close)}?" if close else f"There are {', '.join(COMMAND_BY_NAME)}."
        wrong = "the line has no `do`" if name is None else f"there is no command `{_shown(name)}`"
        raise RequestError(f"{wrong}.", hint=hint)
    for key in given:
        if command.value(key) is None:
            known = ", ".join(value.name for value in command.values) or "no values"
            raise RequestError(f"`{name}` has no value `{_shown(key)}`.", hint=f"It takes {known}.")
    values = {}
    for value in command.values:
        if value.name in given:
            values[value.name] = _checked(command.name, value, given[value.name])
        elif value.is_required:
            raise RequestError(f"`{name}` needs `{value.name}`: {value.takes}.")
        else:
            values[value.name] = value.default
    return Command(command.name, values)


def encode_command(name: str, /, **values: Any) -> bytes:
    """Return a command as a line.

    Raises:
        RequestError: It would be refused at the other end.
    """
    line = json.dumps({"do": name, **values})
    parse_command(line)
    return line.encode() + b"\n"


def command(name: str, /, **values: Any) -> Command:
    """Return a command, checked as one that came as a line.

    Raises:
        RequestError: A value is wrong.
    """
    return parse_command(encode_command(name, **values))


def encode_event(name: str, /, **values: Any) -> bytes:
    """Return an event as a line; numbers that are not finite are told as null.

    Raises:
        KeyError: There is no such event, or its values are others than those declared.
    """
    event = EVENT_BY_NAME[name]
    if values.keys() != {value.name for value in event.values}:
        raise KeyError(f"{name} tells {sorted(value.name for value in event.values)}, not {sorted(values)}")
    return json.dumps({"event": name, **{key: _plain(value) for key, value in values.items()}}).encode() + b"\n"


def parse_event(line: bytes | str) -> tuple[str, dict[str, Any]] | None:
    """Return an event's name and values; None for a line that is none, such as what a library printed."""
    try:
        given = _object(line)
    except RequestError:
        return None
    name = given.pop("event", None)
    event = EVENT_BY_NAME.get(name) if isinstance(name, str) else None
    if event is None or any(value.name not in given for value in event.values):
        return None
    return event.name, given


def _object(line: bytes | str) -> dict[str, Any]:
    if len(line) > LONGEST_LINE:
        raise RequestError(f"a line is at most {LONGEST_LINE} bytes long.")
    try:
        given = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RequestError(
            f"`{_shown(line)}` is not JSON.", hint='A command is one line such as {"do": "speed", "value": 2}.'
        ) from error
    if not isinstance(given, dict):
        raise RequestError(
            f"`{_shown(line)}` is not an object.", hint='A command is one line such as {"do": "speed", "value": 2}.'
        )
    return given


def _checked(command: str, value: Value, given: Any) -> Any:
    wrong = RequestError(f"`{command}` takes {value.takes} for `{value.name}`, not `{_shown(json.dumps(given))}`.")
    is_number = _is_number(given)
    fits = {
        "flag": isinstance(given, bool),
        "whole": is_number and isinstance(given, int),
        "number": is_number,
        "text": isinstance(given, str),
        "checkpoint": isinstance(given, str) or (is_number and isinstance(given, int) and given >= 0),
        "point": (given is None and value.nullable) or _is_point(value, given),
    }
    if not fits.get(value.kind, False) or (value.choices and given not in value.choices):
        raise wrong
    if is_number and not _is_within(value, given):
        raise wrong
    return given


def _is_number(given: Any) -> bool:
    """Tell whether it is a finite number that a float holds: JSON's whole numbers have no end."""
    if not isinstance(given, int | float) or isinstance(given, bool):
        return False
    try:
        return math.isfinite(given)
    except OverflowError:
        return False


def _is_point(value: Value, given: Any) -> bool:
    return isinstance(given, list) and len(given) == 3 and all(_is_number(x) and _is_within(value, x) for x in given)


def _is_within(value: Value, number: float) -> bool:
    return (value.low is None or number >= value.low) and (value.high is None or number <= value.high)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _shown(text: object) -> str:
    """Return what was given, short enough for a sentence."""
    words = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    words = " ".join(words.split())
    return words if len(words) <= 60 else words[:59] + "…"
