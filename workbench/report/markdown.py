"""A report as one Markdown file, its pictures in it."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.report.blocks import Block, Code, Figure, Heading, Table, Text
from workbench.report.html import data_address

_SPECIAL = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_{}[]<>#|"})


def write_markdown(blocks: Sequence[Block]) -> str:
    """Return the file's text."""
    return "\n\n".join(map(_block, blocks)) + "\n"


def _block(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {_plain(text)}"
        case Text(text):
            return _plain(text)
        case Code(text):
            # A fence that is longer than any in the text cannot be closed by it.
            longest = max((len(run) for run in _fences(text)), default=0)
            fence = "`" * max(3, longest + 1)
            return f"{fence}\n{text}\n{fence}"
        case Figure(caption=caption):
            return f"![{_plain(caption)}]({data_address(block)})\n\n*{_plain(caption)}*"
        case Table(columns, rows):
            line = "|".join(("", *(" --- " if place == 0 else " ---: " for place in range(len(columns))), ""))
            return "\n".join([_row(columns), line, *map(_row, rows)])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_plain, cells))} |"


def _plain(text: str) -> str:
    return " ".join(text.translate(_SPECIAL).split("\n"))


def _fences(text: str) -> list[str]:
    return [run for run in "".join(sign if sign == "`" else " " for sign in text).split() if run]
