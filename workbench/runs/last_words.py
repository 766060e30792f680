"""The last lines of a log, fit to be shown: no colours, no control characters, whatever its bytes are."""

from __future__ import annotations

import os
import re
from pathlib import Path

_TAIL_BYTES = 16384
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")


def last_lines(path: Path, count: int = 8) -> tuple[str, ...]:
    """Return up to `count` last non-empty lines of a text file, oldest first; none where there is no file."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = os.pread(file.fileno(), _TAIL_BYTES, max(0, size - _TAIL_BYTES))
    except OSError:
        return ()
    lines = [clean(line) for line in data.decode(errors="replace").splitlines()]
    return tuple([line for line in lines if line.strip()][-count:])


def clean(line: str) -> str:
    """Return a line without escape sequences and control characters; a redrawn line is what was drawn last."""
    drawn = _ESCAPES.sub("", line).rstrip("\r\n").rpartition("\r")[2]
    return "".join(char for char in drawn.expandtabs(4) if char.isprintable()).rstrip()
