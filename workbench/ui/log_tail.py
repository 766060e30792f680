"""Follows a growing log file, a part at a time, fit to be shown."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.runs.last_words import clean

FIRST_BYTES = 512 * 1024
"""Of a long log only its end is read."""


class LogTail:
    """The lines of a log, taken in as they are written.

    Args:
        path: The log; it need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.started_over = False
        """Whether the last poll found another file, so that the lines before count no more."""
        self._offset = 0
        self._inode = 0
        self._rest = b""

    def poll(self) -> list[str]:
        """Return the lines completed since the last call; an unfinished line waits for its end."""
        self.started_over = False
        try:
            with self.path.open("rb") as file:
                return self._read(file.fileno())
        except OSError:
            return []

    def _read(self, handle: int) -> list[str]:
        status = os.fstat(handle)
        if status.st_ino != self._inode or status.st_size < self._offset:
            self.started_over = self._inode != 0
            self._inode, self._rest = status.st_ino, b""
            self._offset = max(0, status.st_size - FIRST_BYTES)
        if status.st_size == self._offset:
            return []
        cut = self._offset > 0 and not self._rest and os.pread(handle, 1, self._offset - 1) != b"\n"
        data = self._rest + os.pread(handle, status.st_size - self._offset, self._offset)
        self._offset = status.st_size
        *lines, self._rest = data.split(b"\n")
        if cut:
            lines = lines[1:]
        return [clean(line.decode(errors="replace")) for line in lines]
