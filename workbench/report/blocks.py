"""What a report is made of, whatever the format it is written in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """The title of the report, level 1, or of a part of it."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Table:
    """Rows under named columns; the first column is text, the others are numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Figure:
    """A picture that is part of the file."""

    data: bytes
    kind: str
    """Its media type: `image/svg+xml`, `image/png`."""
    caption: str


@dataclass(frozen=True)
class Code:
    """Lines to be typed, or read letter by letter."""

    text: str


Block = Heading | Text | Table | Figure | Code
