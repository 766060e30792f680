"""The log of a run: what a person reads when they open it, one line an iteration, tracebacks nowhere else."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TextIO


class RunLog:
    """Appends lines to `output.log`, as long as the disk takes them: a run does not fail for its log.

    Args:
        path: The file; made where missing.
        echo: Where the lines go too, unless it is that very file, as where a supervisor sent stdout there.
        now: The clock.
    """

    def __init__(self, path: Path, *, echo: TextIO | None = None, now: Callable[[], datetime] = datetime.now) -> None:
        self._file = path.open("a", encoding="utf-8", errors="backslashreplace")
        self._echo = None if echo is None or _is_same_file(echo, self._file) else echo
        self._now = now

    def say(self, text: str) -> None:
        """Write a line, with the time before it."""
        line = f"{self._now():%H:%M:%S} {text}\n"
        self._write(line)
        if self._echo is not None:
            self._echo.write(line)
            self._echo.flush()

    def trace(self, error: BaseException) -> None:
        """Write a traceback, which nobody sees who does not open the file."""
        self._write("".join(traceback.format_exception(error)))

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):
            self._file.close()

    def _write(self, text: str) -> None:
        with suppress(OSError):
            self._file.write(text)
            self._file.flush()

    def __enter__(self) -> RunLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_same_file(one: TextIO, other: TextIO) -> bool:
    try:
        return os.path.sameopenfile(one.fileno(), other.fileno())
    except (OSError, ValueError):
        return False
