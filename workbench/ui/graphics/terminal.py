"""What this terminal can show beside characters: asked of it before anybody else reads its answers."""

from __future__ import annotations

import contextlib
import os
import re
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from workbench.ui.graphics import kitty

PATIENCE_S = 0.3
"""How long an answer may take; a terminal at the other end of the world needs as much."""

_ATTRIBUTES = "\x1b[c"
"""Primary device attributes: every terminal answers, so that nobody waits for those that know nothing else."""
_CELL = "\x1b[16t"
"""The size of a cell in pixels, an XTWINOPS of xterm."""
_ATTRIBUTES_ANSWER = re.compile(rb"\x1b\[\?([\d;]*)c")
_CELL_ANSWER = re.compile(rb"\x1b\[6;(\d+);(\d+)t")
_SIXEL = b"4"
"""The attribute of terminals that draw sixels."""

Cell = tuple[int, int]
"""Width and height in pixels."""


@dataclass(frozen=True)
class Offered:
    """What a terminal can do."""

    kitty: bool = False
    sixel: bool = False
    cell: Cell | None = None
    """None where it does not tell."""
    answered: bool = True
    """Whether it said anything at all."""


def read_answer(answer: bytes) -> Offered:
    """Return what a terminal said it can do.

    Args:
        answer: What it answered to the queries of this module, with anything in between.
    """
    attributes = _ATTRIBUTES_ANSWER.search(answer)
    cell = _CELL_ANSWER.search(answer)
    return Offered(
        kitty=kitty.ANSWER in answer,
        sixel=attributes is not None and _SIXEL in attributes[1].split(b";")[1:],
        cell=None if cell is None or b"0" in cell.groups() else (int(cell[2]), int(cell[1])),
        answered=attributes is not None,
    )


def ask(patience_s: float = PATIENCE_S) -> Offered:
    """Ask the terminal on stdin and stdout what it can do; nothing where they are none, or it does not answer.

    What is typed meanwhile is lost, so ask only where the answer matters, and never while an app reads the keys.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        return Offered(answered=False)
    descriptor = sys.stdin.fileno()
    with _silent(descriptor) as can_ask:
        if not can_ask:
            return Offered(answered=False)
        sys.stdout.write(kitty.passed_on(kitty.QUERY) + _CELL + _ATTRIBUTES)
        sys.stdout.flush()
        offered = read_answer(_listen(descriptor, patience_s))
    return offered if offered.cell is not None else Offered(offered.kitty, offered.sixel, cell_size(), offered.answered)


def cell_size() -> Cell | None:
    """Return the size of a cell as the system knows it; None where it does not, as in many multiplexers."""
    try:
        import fcntl
        import struct
        import termios

        told = fcntl.ioctl(sys.__stdout__.fileno() if sys.__stdout__ else 1, termios.TIOCGWINSZ, bytes(8))
    except (ImportError, OSError, ValueError):
        return None
    rows, columns, width, height = struct.unpack("HHHH", told)
    return (width // columns, height // rows) if min(rows, columns, width, height) > 0 else None


@contextmanager
def _silent(descriptor: int) -> Iterator[bool]:
    """Keep the terminal from showing its answers; yields whether that can be done."""
    try:
        import termios
        import tty
    except ImportError:
        yield False
        return
    try:
        before = termios.tcgetattr(descriptor)
        tty.setcbreak(descriptor, termios.TCSANOW)
    except termios.error:
        yield False
        return
    try:
        yield True
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(descriptor, termios.TCSANOW, before)


def _listen(descriptor: int, patience_s: float) -> bytes:
    """Return what the terminal answers, up to what comes last."""
    heard, deadline = b"", time.monotonic() + patience_s
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([descriptor], [], [], left)[0]:
            break
        try:
            piece = os.read(descriptor, 4096)
        except OSError:
            break
        heard += piece
        if not piece or _ATTRIBUTES_ANSWER.search(heard):
            break
    return heard
