"""What a plain terminal gets: every line of the screen in ASCII, whoever drew it."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from workbench.ui.signs import in_signs

_OTHERS = {
    ord(sign): stands
    for stands, signs in {
        " ": "\u00a0\u2009\u202f",
        "-": "─━┄▔▁▂▃",
        "|": "│┃┊▌▐▏▎▍",
        "+": "├┤└┘┌┐╭╮╰╯┴┬┼",
        "=": "‖▄▅▆",
        "#": "■█▓▇▉▊▋",
        ".": "░•",
        "*": "⣿⠿",
        "o": "◌",
        "~": "◒",
        "!": "†≠",
        "^": "▲↑",
        "v": "▼↓",
        "<": "◀←",
        ">": "▶→",
    }.items()
    for sign in signs
}
"""What signs.py does not know: spaces between digits, lines, bars and scrollbars."""


@lru_cache(4096)
def ascii_text(text: str) -> str:
    """Return a text in ASCII that takes as many cells: without accents, `?` where nothing stands for a sign."""
    known = in_signs(text).translate(_OTHERS)
    return known if known.isascii() else "".join(map(_ascii_sign, known))


def _ascii_sign(sign: str) -> str:
    width = cell_len(sign)
    bare = "".join(item for item in unicodedata.normalize("NFKD", sign) if item.isascii())
    return sign if sign.isascii() else bare if len(bare) == width else "?" * width


class AsciiOnly(LineFilter):
    """Puts ASCII in place of everything else, in the lines that go to the terminal."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with their texts in ASCII."""
        return [
            part if part.control or part.text.isascii() else Segment(ascii_text(part.text), part.style)
            for part in segments
        ]
