"""The graphics protocol of kitty: pictures as escape sequences, shown where placeholder characters stand.

A picture is sent under a number, with the cells it is scaled to. It is seen wherever the terminal shows placeholders
whose colour is that number, so that it is drawn, cut and covered like any other text. Spoken by kitty and Ghostty.

The protocol, its table of diacritics and the query are those of https://sw.kovidgoyal.net/kitty/graphics-protocol/.
"""

from __future__ import annotations

import os
import zlib
from base64 import standard_b64encode
from functools import cache
from itertools import count

PLACEHOLDER = "\U0010eeee"
LONGEST_CHUNK = 4096
"""Characters of base64 in one sequence; all but the last of a picture are multiples of four."""
QUERY = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
"""Asks whether the protocol is spoken."""
ANSWER = b"\x1b_Gi=31;OK"
"""How the answer begins where it is."""

# Combining characters that count rows and columns, in the order of the protocol's table.
_DIACRITICS = """
305 30d-30e 310 312 33d-33f 346 34a-34c 350-352 357 35b 363-36f 483-487 592-595 597-599 59c-5a1 5a8-5a9 5ab-5ac 5af
5c4 610-617 657-65b 65d-65e 6d6-6dc 6df-6e2 6e4 6e7-6e8 6eb-6ec 730 732-733 735-736 73a 73d 73f-741 743 745 747 749-74a
7eb-7f1 7f3 816-819 81b-823 825-827 829-82d 951 953-954 f82-f83 f86-f87 135d-135f 17dd 193a 1a17 1a75-1a7c 1b6b
1b6d-1b73 1cd0-1cd2 1cda-1cdb 1ce0 1dc0-1dc1 1dc3-1dc9 1dcb-1dcc 1dd1-1de6 1dfe 20d0-20d1 20d4-20d7 20db-20dc 20e1 20e7
20e9 20f0 2cef-2cf1 2de0-2dff a66f a67c-a67d a6f0-a6f1 a8e0-a8f1 aab0 aab2-aab3 aab7-aab8 aabe-aabf aac1 fe20-fe26
10a0f 10a38 1d185-1d189 1d1aa-1d1ad 1d242-1d244
"""
_QUICK = 1
"""How hard pixels are packed: one frame in fifteen a second must not wait."""

_numbers = count(1 + (os.getpid() & 0xFFFF) * 16)


def new_number() -> int:
    """Return the number of a picture that nobody else in this terminal is likely to use, 1 to 2**24 - 1."""
    return next(_numbers) & 0xFFFFFF or 1


def transmit(pixels: bytes, size: tuple[int, int], cells: tuple[int, int], number: int) -> str:
    """Return what sends a picture; one that was sent under the same number is replaced.

    Args:
        pixels: `height * width * 3` bytes, rows from the top, red green blue.
        size: Width and height in pixels.
        cells: Columns and rows that it is scaled to.
        number: Of the picture.
    """
    payload = standard_b64encode(zlib.compress(pixels, _QUICK)).decode()
    chunks = [payload[start : start + LONGEST_CHUNK] for start in range(0, len(payload), LONGEST_CHUNK)]
    head = f"a=T,U=1,i={number},f=24,o=z,s={size[0]},v={size[1]},c={cells[0]},r={cells[1]},q=2"
    if len(chunks) == 1:
        return f"\x1b_G{head};{payload}\x1b\\"
    parts = [f"\x1b_G{head},m=1;{chunks[0]}\x1b\\"]
    parts += [f"\x1b_Gm=1,q=2;{chunk}\x1b\\" for chunk in chunks[1:-1]]
    return "".join([*parts, f"\x1b_Gm=0,q=2;{chunks[-1]}\x1b\\"])


def delete(number: int) -> str:
    """Return what takes a picture away and frees its memory."""
    return f"\x1b_Ga=d,d=I,i={number},q=2\x1b\\"


@cache
def placeholders(row: int, columns: int) -> str:
    """Return the characters on which one row of a picture is seen, printed in the colour of its number."""
    signs = diacritics()
    return "".join(f"{PLACEHOLDER}{signs[row]}{signs[column]}" for column in range(columns))


def colour(number: int) -> str:
    """Return the colour that placeholders of a picture have, `#rrggbb`."""
    return f"#{number:06x}"


@cache
def diacritics() -> tuple[str, ...]:
    """Return the combining characters by the number each stands for; a picture has no more rows or columns."""
    found: list[str] = []
    for part in _DIACRITICS.split():
        first, _, last = part.partition("-")
        found += [chr(code) for code in range(int(first, 16), int(last or first, 16) + 1)]
    return tuple(found)


def passed_on(sequence: str) -> str:
    """Return a sequence as tmux hands it on to the terminal it runs in, where this is one of its panes.

    tmux does so with `set -g allow-passthrough on`.
    """
    if not os.environ.get("TMUX"):
        return sequence
    return "".join(
        "\x1bPtmux;" + f"{part}\x1b\\".replace("\x1b", "\x1b\x1b") + "\x1b\\"
        for part in sequence.split("\x1b\\")
        if part
    )
