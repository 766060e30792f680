"""JSON documents that remember on which line each key stands.

Python's own reader forgets the lines, and takes a key given twice and numbers that are not finite; in a file that a
person writes each of these is a fault to point at.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.errors import Problem

BLANK = " \t\n\r"
DEEPEST = 100
LONGEST_WHOLE = 300
"""Digits of the longest whole number that is read: any of so many is a finite float too."""


@dataclass(frozen=True)
class Located:
    """A JSON document, the line of each dotted key, and what is wrong with it as a document."""

    path: Path
    value: Any = None
    lines: dict[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def at(self, problem: Problem) -> Problem:
        """Return `problem` with this file and the line of its key, or of the nearest key around it."""
        parts = problem.key.split(".") if problem.key else []
        line = next((self.lines[key] for key in _outward(parts) if key in self.lines), None)
        return Problem(problem.key, problem.message, problem.nearest, self.path, line, problem.severity)


def _outward(parts: list[str]) -> list[str]:
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


def read_located(path: Path) -> Located:
    """Read a JSON file written by a person; what is wrong with it is in the result's problems."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is not UTF-8 text"
        return Located(path, problems=(Problem("file", f"cannot be read: {reason}", path=path),))
    reader = _Reader(text)
    try:
        value = reader.document()
    except _SyntaxFaultError as fault:
        return Located(path, problems=(Problem("syntax", fault.message, path=path, line=fault.line),))
    return Located(
        path, value, reader.lines, tuple(Problem(key, why, path=path, line=at) for key, why, at in reader.faults)
    )


class _SyntaxFaultError(Exception):
    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def _not_finite(word: str) -> float:
    raise ValueError(f"is not valid JSON: {word} is not a JSON number")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"holds {text}, which is beyond the range of numbers")
    return value


def _int(text: str) -> int:
    if len(text) > LONGEST_WHOLE:
        raise ValueError(f"holds a whole number of {len(text)} digits, which is beyond every range")
    return int(text)


class _Reader:
    """A reader that descends through objects and lists itself, and leaves the rest to `json`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: dict[str, int] = {}
        self.faults: list[tuple[str, str, int]] = []
        self._decoder = json.JSONDecoder(parse_constant=_not_finite, parse_float=_float, parse_int=_int)

    def document(self) -> Any:
        value, end = self._value(self._skip(0), (), 0)
        if self._skip(end) < len(self.text):
            raise self._fault("there is more after the end of the document", self._skip(end))
        return value

    def _value(self, at: int, path: tuple[str, ...], depth: int) -> tuple[Any, int]:
        if depth > DEEPEST:
            raise self._fault(f"is nested more than {DEEPEST} deep", at)
        start = self.text[at : at + 1]
        if start == "{":
            return self._object(at, path, depth)
        if start == "[":
            return self._list(at, path, depth)
        if not start:
            raise self._fault("the file ends where a value should stand", at)
        return self._scalar(at)

    def _scalar(self, at: int) -> tuple[Any, int]:
        try:
            return self._decoder.raw_decode(self.text, at)
        except json.JSONDecodeError as error:
            raise self._fault(f"is not valid JSON: {error.msg}", error.pos) from None
        except ValueError as error:
            raise self._fault(str(error), at) from None

    def _object(self, at: int, path: tuple[str, ...], depth: int) -> tuple[dict[str, Any], int]:
        value: dict[str, Any] = {}
        at = self._skip(at + 1)
        while self.text[at : at + 1] != "}":
            if self.text[at : at + 1] != '"':
                raise self._fault("is not valid JSON: a key in double quotes, or }, should stand here", at)
            key, end = self._scalar(at)
            here = (*path, key)
            line = self._line(at)
            if key in value:
                self.faults.append((".".join(here), f"stands twice, first on line {self.lines['.'.join(here)]}", line))
            self.lines.setdefault(".".join(here), line)
            end = self._skip(end)
            if self.text[end : end + 1] != ":":
                raise self._fault(f'is not valid JSON: a colon should follow "{key}"', end)
            value[key], end = self._value(self._skip(end + 1), here, depth + 1)
            at = self._next(end, "}")
        return value, at + 1

    def _list(self, at: int, path: tuple[str, ...], depth: int) -> tuple[list[Any], int]:
        value: list[Any] = []
        at = self._skip(at + 1)
        while self.text[at : at + 1] != "]":
            item, end = self._value(at, (*path, str(len(value))), depth + 1)
            value.append(item)
            at = self._next(end, "]")
        return value, at + 1

    def _next(self, at: int, closing: str) -> int:
        at = self._skip(at)
        mark = self.text[at : at + 1]
        if mark == closing:
            return at
        if mark != ",":
            raise self._fault(f"is not valid JSON: a comma or {closing} should stand here", at)
        after = self._skip(at + 1)
        if self.text[after : after + 1] == closing:
            raise self._fault(f"is not valid JSON: a comma stands before {closing}", at)
        return after

    def _skip(self, at: int) -> int:
        while at < len(self.text) and self.text[at] in BLANK:
            at += 1
        return at

    def _line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    def _fault(self, message: str, at: int) -> _SyntaxFaultError:
        return _SyntaxFaultError(message, self._line(at))
