"""What each field of a spec is called, accepts, defaults to and means; and its values as text.

Forms, help pages and messages are made from these rows, so that they cannot disagree with what validation accepts.
"""

from __future__ import annotations

import json
import re
import types
import typing
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import annotated_types
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from workbench.specs.kinds import Kind, Live, is_number

MULTIPLES = {"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}
NONE_WORDS = ("none", "null", "")


@dataclass(frozen=True)
class FieldRow:
    """One field of a spec, as a form or a help page shows it."""

    name: str
    """Name of the field; dotted inside a nested part (`stop_criteria.consecutive`)."""
    kind: str
    """whole, number, flag, choice, text, schedule, bound, layers, copies, entropy, device or words."""
    default: Any
    """Default as plain data."""
    range: str
    """Which values are accepted, to be read after "must be"; empty where any of the kind is."""
    choices: tuple[str, ...]
    """The accepted words of a choice."""
    doc: str
    """One sentence."""
    optional: bool = False
    """Whether none is accepted."""
    live: bool = False
    """Whether it may get another value while the run trains."""

    @property
    def accepts(self) -> str:
        """What is accepted, to be read after "must be"."""
        kinds = {"whole": "a whole number", "number": "a number", "flag": "true or false", "text": "text"}
        if self.kind == "choice":
            phrase = f"one of {', '.join(self.choices)}"
        elif self.kind == "whole" and not self.range.startswith(("-1", "a ")):
            phrase = f"a whole number{self._joined_range()}"
        elif self.kind == "number":
            phrase = f"a number{self._joined_range()}"
        else:
            phrase = self.range or kinds[self.kind]
        return f"{phrase}, or none" if self.optional else phrase

    def _joined_range(self) -> str:
        if not self.range:
            return ""
        return f" {self.range}" if self.range.startswith(("from", "greater")) else f" of {self.range}"

    def parse(self, text: str) -> Any:
        """Read what a person typed: `15M`, `15_000_000`, `3e-4`, `true`, `64,64`, `none`.

        What cannot be read is returned as it is, for validation to say what is accepted.
        """
        stripped = text.strip()
        if self.optional and stripped.lower() in NONE_WORDS:
            return None
        value = self._parse(stripped)
        return text if value is None else value

    def _parse(self, text: str) -> Any:
        if self.kind == "flag":
            return {"true": True, "false": False}.get(text.lower())
        if self.kind in ("whole", "number"):
            return read_number(text, whole=self.kind == "whole")
        if self.kind in ("schedule", "bound", "entropy"):
            return read_number(text)
        if self.kind in ("layers", "copies", "words"):
            return _read_list(text, numbers=self.kind != "words")
        return text

    def render(self, value: Any) -> str:
        """Return the text that `parse` reads as `value`."""
        if value is None:
            return "none"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, dict):
            return json.dumps(value, separators=(",", ":"))
        if isinstance(value, list | tuple):
            return ",".join(str(item) for item in value) or "[]"
        return repr(value) if is_number(value) else str(value)


def read_number(text: str, *, whole: bool = False) -> int | float | None:
    """Read a number with `k M G` and grouping signs; None where it is not one, or not whole where it must be."""
    match = re.fullmatch(r"(.*[\d.])\s*([kMG]?)", text.replace("_", "").replace("\u202f", "").replace(" ", ""))
    if match is None:
        return None
    digits, multiple = match[1], MULTIPLES.get(match[2], 1)
    try:
        if re.fullmatch(r"[+-]?\d+", digits):
            return int(digits) * multiple
        number = float(digits) * multiple
    except ValueError:
        return None
    return int(number) if whole and number.is_integer() else number


def _read_list(text: str, *, numbers: bool) -> Any:
    if text.startswith(("[", "{")):
        try:
            return json.loads(text)
        except ValueError:
            return None
    words = [word for word in re.split(r"[,\s]+", text) if word]
    if not numbers:
        return words
    counts = [read_number(word, whole=True) for word in words]
    return None if None in counts else counts


@cache
def field_table(model: type[BaseModel]) -> tuple[FieldRow, ...]:
    """Return a row for each field of `model`, nested criteria dotted, the algorithms' blocks left out."""
    rows: list[FieldRow] = []
    for name, info in model.model_fields.items():
        nested = info.annotation
        if isinstance(nested, type) and issubclass(nested, BaseModel):
            if name not in ("ppo", "sac", "td3"):
                rows += [replace(row, name=f"{name}.{row.name}") for row in field_table(nested)]
        else:
            rows.append(field_row(name, info))
    return tuple(rows)


def field_row(name: str, info: FieldInfo) -> FieldRow:
    """Return what a field of a pydantic model accepts, in words."""
    core, metadata, optional = _unwrapped(info.annotation, list(info.metadata))
    kind = next((item for item in metadata if isinstance(item, Kind)), None)
    choices: tuple[str, ...] = ()
    if kind is not None:
        word, span = kind.name, kind.accepts
    elif typing.get_origin(core) is Literal:
        word, span, choices = "choice", "", typing.get_args(core)
    else:
        words: dict[Any, str] = {int: "whole", float: "number", bool: "flag", str: "text"}
        word, span = words[core], _span(metadata) if core is not str else ""
    default = None if info.is_required() else _plain(info.default)
    live = any(isinstance(item, Live) for item in metadata)
    return FieldRow(name, word, default, span, choices, " ".join((info.description or "").split()), optional, live)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _unwrapped(annotation: Any, metadata: list[Any]) -> tuple[Any, list[Any], bool]:
    """Return the type without Annotated and None, everything that was said about it, and whether None is accepted."""
    optional = False
    while True:
        origin = typing.get_origin(annotation)
        if origin is typing.Annotated:
            annotation, *more = typing.get_args(annotation)
            for item in more:
                metadata += item.metadata if isinstance(item, FieldInfo) else [item]
        elif origin in (typing.Union, types.UnionType) and type(None) in typing.get_args(annotation):
            optional = True
            rest = [item for item in typing.get_args(annotation) if item is not type(None)]
            annotation = typing.Union[tuple(rest)]  # noqa: UP007
        else:
            return annotation, metadata, optional


def _span(metadata: list[Any]) -> str:
    at_least = next((item.ge for item in metadata if isinstance(item, annotated_types.Ge)), None)
    above = next((item.gt for item in metadata if isinstance(item, annotated_types.Gt)), None)
    at_most = next((item.le for item in metadata if isinstance(item, annotated_types.Le)), None)
    if at_least is not None and at_most is not None:
        return f"from {show(at_least)} to {show(at_most)}"
    if above is not None:
        return f"greater than {show(above)}" + (f" and at most {show(at_most)}" if at_most is not None else "")
    return f"at least {show(at_least)}" if at_least is not None else ""


def show(value: Any) -> str:
    """Write a value into a message: whole numbers in groups of three, texts quoted, long ones cut."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "none"}[value]
    if type(value) is int:
        return f"{value:,}".replace(",", " ") if abs(value) < 10**18 else "a number of more than 18 digits"
    if type(value) is float:
        return f"{value:g}"
    try:
        text = repr(value)
    except Exception:
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}…"
