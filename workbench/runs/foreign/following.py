"""Text files that somebody else writes, line by line as they grow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

CHUNK_BYTES = 2**20
LONGEST_LINE = 2**20
"""Bytes; a longer line is no row of numbers and is passed over."""
_REMEMBERED = 256


class StartedOverError(Exception):
    """A file is not the continuation of what was read: it was replaced, cut, or written anew."""


class LineTail:
    """Yields the lines that were completed since the last time.

    Args:
        path: The file; it need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0
        self._head = b""
        self._before = b""
        self._seen: tuple[int, int, int] | None = None
        self._is_passing_over = False

    def lines(self) -> Iterator[bytes]:
        """Yield complete lines without their ends; what has none yet comes another time.

        Raises:
            StartedOverError: What was read before no longer stands in the file.
        """
        try:
            status = self.path.stat()
            seen = (status.st_ino, status.st_size, status.st_mtime_ns)
            if seen == self._seen:
                return
            handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except OSError:
            # Gone, or not readable just now: it may come back.
            return
        try:
            self._require_continuation(handle, *seen[:2])
            yield from self._read(handle)
            self._seen = seen
        finally:
            os.close(handle)

    def _require_continuation(self, handle: int, inode: int, size: int) -> None:
        if not self._offset:
            return
        before = os.pread(handle, len(self._before), self._offset - len(self._before))
        if (
            (self._seen is not None and inode != self._seen[0])
            or size < self._offset
            or before != self._before
            or os.pread(handle, len(self._head), 0) != self._head
        ):
            raise StartedOverError(str(self.path))

    def _read(self, handle: int) -> Iterator[bytes]:
        rest = b""
        while data := os.pread(handle, CHUNK_BYTES, self._offset + len(rest)):
            data = rest + data
            complete = data.rfind(b"\n") + 1
            is_too_long = not complete and len(data) > LONGEST_LINE
            if not complete and not is_too_long:
                rest = data
                continue
            taken = data if is_too_long else data[:complete]
            rest = data[len(taken) :]
            if not self._offset:
                self._head = taken[:_REMEMBERED]
            self._before = (self._before + taken)[-_REMEMBERED:]
            self._offset += len(taken)
            lines = [] if is_too_long else taken.split(b"\n")[:-1]
            # The first of them is the end of a line whose beginning was passed over.
            yield from (line for line in lines[self._is_passing_over :] if line.strip())
            self._is_passing_over = is_too_long
