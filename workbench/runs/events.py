"""The event stream of a run: one JSON object a line, appended by the child, followed by anyone.

The writer appends each line with one write; a reader may meet a line half-written, a file replaced, or bytes torn by
a power cut, and none of these is an error.
"""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import Any

from workbench.durable import parse_json, parse_json_lines, to_json

Event = dict[str, Any]

_HEAD_BYTES = 64


class EventWriter:
    """Appends events; one writer a stream at any time.

    Args:
        path: The stream; made where missing, never truncated.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o644)
        size = os.fstat(self._handle).st_size
        # What died in the middle of a line left no newline: ours must not be glued to it.
        self._torn = size > 0 and os.pread(self._handle, 1, size - 1) != b"\n"
        self._steps = 0

    def append(self, kind: str, **fields: Any) -> Event:
        """Append one event and return it as written.

        `time` is filled in, and `steps` with that of the event before, where they are not given. Numbers that are not
        finite become null and are counted in the event's `not_finite`; arrays and array scalars become plain ones.

        Raises:
            OSError: The disk is full or failed.
        """
        self._steps = int(fields.pop("steps", self._steps))
        event: Event = {"kind": kind, "time": fields.pop("time", None) or time.time(), "steps": self._steps}
        count = 0
        for name, value in fields.items():
            event[name], broken = _plain(value)
            count += broken
        if count:
            event["not_finite"] = count
        line = to_json(event) + b"\n"
        self._write(line)
        return event

    def close(self) -> None:
        """Close the stream; a second time does nothing."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> EventWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, line: bytes) -> None:
        if self._torn:
            line = b"\n" + line
        self._torn = True
        while line:
            line = line[os.write(self._handle, line) :]
        self._torn = False


class EventTail:
    """Follows an event stream from its beginning, however it grows.

    Args:
        path: The stream; it need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.skipped = 0
        """Lines that were no events."""
        self.restarts = 0
        """How often the file was replaced or cut, so that everything read before no longer counts."""
        self._offset = 0
        self._head = b""
        self._seen: tuple[int, int, int] | None = None

    def poll(self, max_bytes: int | None = None) -> list[Event]:
        """Return the events completed since the last call, oldest first.

        Args:
            max_bytes: Read about this much at most, so that a long stream can be taken in parts.
        """
        values = parse_json_lines(self.lines(max_bytes))
        events = [value for value in values if isinstance(value, dict) and isinstance(value.get("kind"), str)]
        self.skipped += len(values) - len(events)
        return events

    @property
    def share(self) -> float:
        """How much of the stream was read, 0 to 1."""
        unread = self.unread
        return self._offset / (self._offset + unread) if unread else 1.0

    @property
    def unread(self) -> int:
        """How many bytes the stream has beyond what was read; all of it where it was replaced."""
        try:
            size = self.path.stat().st_size
        except OSError:
            return 0
        return size - self._offset if size >= self._offset else size

    def parse(self, line: bytes) -> Event | None:
        """Return the event on a line, or nothing, counting it as skipped."""
        event = parse_json(line)
        if isinstance(event, dict) and isinstance(event.get("kind"), str):
            return event
        self.skipped += 1
        return None

    def lines(self, max_bytes: int | None = None) -> list[bytes]:
        """Return the lines completed since the last call, not yet parsed."""
        return split_lines(self.block(max_bytes))

    def block(self, max_bytes: int | None = None) -> bytes:
        """Return the lines completed since the last call as they stand in the file, one after the other."""
        try:
            status = self.path.stat()
            seen = (status.st_ino, status.st_size, status.st_mtime_ns)
            if seen == self._seen:
                return b""
            with self.path.open("rb") as file:
                return self._read(file.fileno(), seen, max_bytes)
        except OSError:
            # Gone, or not readable just now: what was read stays until there is something else.
            return b""

    @property
    def has_begun(self) -> bool:
        """Whether anything was read."""
        return self._offset > 0

    def end(self, count: int) -> list[bytes]:
        """Return the whole lines in the last bytes of the stream, which still count as not read."""
        try:
            with self.path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                start = max(0, size - count)
                data = os.pread(file.fileno(), count, start)
        except OSError:
            return []
        lines = data[: data.rfind(b"\n") + 1].split(b"\n")
        return [line for line in (lines[1:] if start else lines) if line.strip()]

    def _read(self, handle: int, seen: tuple[int, int, int], max_bytes: int | None) -> bytes:
        inode, size, _ = seen
        if self._offset and (
            (self._seen is not None and inode != self._seen[0])
            or size < self._offset
            or os.pread(handle, len(self._head), 0) != self._head
        ):
            self.restarts += 1
            self._offset = 0
        wanted = size - self._offset
        data = os.pread(handle, wanted if max_bytes is None else min(wanted, max_bytes), self._offset)
        while max_bytes is not None and b"\n" not in data and len(data) < wanted:
            data += os.pread(handle, max_bytes, self._offset + len(data))
        if self._offset == 0:
            self._head = data[: min(_HEAD_BYTES, data.rfind(b"\n") + 1)]
        complete = data.rfind(b"\n") + 1
        self._offset += complete
        # Cut short by `max_bytes`: the file is unchanged next time and must be read again.
        self._seen = seen if len(data) >= wanted else (inode, -1, 0)
        return data[:complete]


def split_lines(block: bytes) -> list[bytes]:
    """Return the lines of a block that hold anything."""
    return [line for line in block.split(b"\n") if line.strip()]


def _plain(value: Any) -> tuple[Any, int]:
    """Return a value as JSON can hold it, and how many numbers in it were not finite."""
    if isinstance(value, float):
        return (float(value), 0) if math.isfinite(value) else (None, 1)
    if value is None or isinstance(value, str | bool | int):
        return value, 0
    if isinstance(value, dict):
        pairs = {str(key): _plain(item) for key, item in value.items()}
        return {key: item for key, (item, _) in pairs.items()}, sum(count for _, count in pairs.values())
    if isinstance(value, list | tuple):
        items = [_plain(item) for item in value]
        return [item for item, _ in items], sum(count for _, count in items)
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return str(value), 0
