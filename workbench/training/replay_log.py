"""What an off-policy learner replays, on disk: files of rows that are only ever appended to.

A row is what all copies gave in one vector step, and rows are numbered from the first one of the run. A segment is
named after its first row; where a later segment begins, an earlier one ends, whatever it still holds: so a resumed run
writes on beside what the killed one wrote too much. A row that is cut off at the end of a file does not count.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.buffers import ReplayBuffer

from workbench.training.fast.replay import RowReplayBuffer

FOLDER = "replay"
SUFFIX = ".rows"
SEGMENTS = 8
"""A buffer's worth of rows is spread over about this many files, so that old ones can go one by one."""

COLUMNS = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")
"""The arrays of Stable-Baselines3's buffer."""


@dataclass(frozen=True)
class Rows:
    """Rows as they were when they were taken from the buffer."""

    first: int
    """The number of the first one."""
    content: NDArray[np.uint8]
    """(rows, bytes of a row)"""


class ReplayLog:
    """Writes what comes into a replay buffer.

    `take` and `place` look at the buffer, which changes with every step; everything else touches files alone, and may
    be called by another thread than those two.

    Args:
        folder: Where the segments are; made with the first row.
        buffer: Any replay buffer over plain arrays.
        rows: How many vector steps the buffer has seen; what it holds of them is on disk.
    """

    def __init__(self, folder: Path, buffer: ReplayBuffer, rows: int = 0) -> None:
        self._folder = folder
        self._columns = _columns(buffer)
        self._capacity = buffer.buffer_size
        self._rows = self._written = rows
        self._segment_rows = max(1, self._capacity // SEGMENTS)
        self._segment: tuple[int, Path] | None = None
        self._unsynced: dict[Path, None] = {}
        self._needed = max(0, rows - self._capacity)

    def take(self, rows: int) -> list[Rows]:
        """Return a copy of the rows that came since the last call, up to a number of them in all."""
        # What was overwritten before it was taken is needed no more.
        first = max(self._rows, rows - self._capacity)
        taken = []
        while first < rows:
            start = first % self._capacity
            stop = min(start + rows - first, self._capacity)
            taken.append(Rows(first, _joined(self._columns, start, stop)))
            first += stop - start
        self._rows = rows
        return taken

    @property
    def place(self) -> dict[str, Any]:
        """What finds the rows taken so far again, once they are written."""
        return {"rows": self._rows, "capacity": self._capacity, "row_bytes": _row_bytes(self._columns)}

    def write(self, taken: Sequence[Rows]) -> None:
        """Append rows to the files, in the order in which they were taken.

        Raises:
            OSError: The disk is full or failed.
        """
        for part in taken:
            if part.first != self._written:
                self._segment = None
            at = 0
            while at < len(part.content):
                began, path = self._segment_for(part.first + at)
                count = min(len(part.content) - at, began + self._segment_rows - part.first - at)
                with path.open("ab") as file:
                    file.write(part.content[at : at + count])  # type: ignore[arg-type]
                self._unsynced[path] = None
                at += count
            self._written = part.first + at

    def sync(self) -> None:
        """See to it that everything written lies on the disk.

        Raises:
            OSError: The disk is full or failed.
        """
        for path in (*self._unsynced, *([self._folder] if self._unsynced else [])):
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        self._unsynced.clear()

    def forget(self) -> None:
        """Delete what neither a checkpoint of all rows written needs, sealed just now, nor the one before it."""
        segments = _segments(self._folder)
        for (_, path), (next_first, _) in itertools.pairwise(segments):
            if next_first <= self._needed:
                path.unlink(missing_ok=True)
        self._needed = max(0, self._written - self._capacity)

    def _segment_for(self, row: int) -> tuple[int, Path]:
        """Return the segment that a row goes into, and the first row of it."""
        if self._segment is None or row - self._segment[0] >= self._segment_rows:
            self._folder.mkdir(exist_ok=True)
            self._segment = (row, self._folder / f"{row:012d}{SUFFIX}")
            # A file of that name would hold what a killed run wrote and what is dropped.
            self._segment[1].unlink(missing_ok=True)
        return self._segment


def refill(folder: Path, buffer: ReplayBuffer, place: Mapping[str, Any]) -> None:
    """Put the rows of a checkpoint back into an empty buffer, each where it was.

    Args:
        folder: Where the segments are.
        buffer: Made for the same environment with the same capacity.
        place: What `sync` returned.

    Raises:
        ValueError: Rows are missing, or of another buffer.
    """
    columns, rows, capacity = _columns(buffer), int(place["rows"]), buffer.buffer_size
    width = _row_bytes(columns)
    if (place["capacity"], place["row_bytes"]) != (capacity, width):
        raise ValueError("the replay buffer has another size or shape than the one that was saved")
    for part in find_rows(folder, place):
        read = np.fromfile(part.path, np.uint8, part.count * width, offset=part.offset * width)
        _split(columns, read.reshape(part.count, width), part.first)
    buffer.pos, buffer.full = rows % capacity, rows >= capacity


def adopt(folder: Path, buffer: ReplayBuffer, place: Mapping[str, Any]) -> int:
    """Put the newest rows of another run's checkpoint into an empty buffer, and return how many it has seen then.

    In a buffer of the same size each is where it was.

    Args:
        folder: Where the segments of the other run are; nothing is written there.
        buffer: Made for the same environment and as many copies.
        place: Where its rows are, as the checkpoint says.

    Raises:
        ValueError: Rows are missing, or of another shape.
        OSError: They cannot be read.
    """
    columns, capacity = _columns(buffer), buffer.buffer_size
    width = _row_bytes(columns)
    if place["row_bytes"] != width:
        raise ValueError("that of the checkpoint is for another number of copies, or of another kind")
    parts = find_rows(folder, {**place, "capacity": min(capacity, place["capacity"])})
    is_alike = place["capacity"] == capacity
    shift = 0 if is_alike or not parts else parts[0].first
    for part in parts:
        read = np.fromfile(part.path, np.uint8, part.count * width, offset=part.offset * width)
        _split(columns, read.reshape(part.count, width), part.first - shift)
    rows = int(place["rows"]) - shift
    buffer.pos, buffer.full = rows % capacity, rows >= capacity
    return rows


@dataclass(frozen=True)
class Part:
    """Rows that lie side by side in a segment."""

    path: Path
    offset: int
    """Rows before them in the file."""
    first: int
    """The number of the first one."""
    count: int


def find_rows(folder: Path, place: Mapping[str, Any]) -> list[Part]:
    """Return where the rows of a checkpoint are.

    Raises:
        ValueError: Some are missing.
    """
    rows = int(place["rows"])
    first = max(0, rows - int(place["capacity"]))
    segments = [item for item in _segments(folder) if item[0] < rows]
    ends = [*(start for start, _ in segments[1:]), rows]
    parts: list[Part] = []
    for (start, path), end in zip(segments, ends, strict=False):
        if end <= first:
            continue
        if start > first or path.stat().st_size < (end - start) * int(place["row_bytes"]):
            break
        parts.append(Part(path, first - start, first, end - first))
        first = end
    if first < rows:
        raise ValueError(f"rows for replay are missing from {first} on")
    return parts


def drop_after(folder: Path, rows: int) -> None:
    """Delete the segments that begin after so many rows: what a killed run wrote beyond the checkpoint."""
    for start, path in _segments(folder):
        if start >= rows:
            path.unlink(missing_ok=True)


def is_kept(buffer: ReplayBuffer) -> bool:
    """Return whether the rows of a buffer can be kept: everything but observations that are dicts."""
    return isinstance(buffer.observations, np.ndarray)


def _segments(folder: Path) -> list[tuple[int, Path]]:
    paths = folder.glob(f"*{SUFFIX}") if folder.is_dir() else []
    return sorted((int(path.stem), path) for path in paths if path.stem.isdigit())


def _columns(buffer: ReplayBuffer) -> list[NDArray[Any]]:
    if isinstance(buffer, RowReplayBuffer):
        return [buffer.rows]
    found = (getattr(buffer, name, None) for name in COLUMNS)
    return [array for array in found if isinstance(array, np.ndarray)]


def _row_bytes(columns: list[NDArray[Any]]) -> int:
    return sum(array[0].nbytes for array in columns)


def _joined(columns: list[NDArray[Any]], start: int, stop: int) -> NDArray[np.uint8]:
    """Return a copy of rows of all columns, as bytes side by side."""
    parts = [np.ascontiguousarray(array[start:stop]).reshape(stop - start, -1).view(np.uint8) for array in columns]
    return np.concatenate(parts, axis=1)


def _split(columns: list[NDArray[Any]], rows: NDArray[np.uint8], first: int) -> None:
    """Write rows of bytes, the first of which has a number, to their places in the buffer."""
    indices = (first + np.arange(len(rows))) % len(columns[0])
    at = 0
    for array in columns:
        part = np.ascontiguousarray(rows[:, at : at + array[0].nbytes])
        array[indices] = part.view(array.dtype).reshape(len(rows), *array.shape[1:])
        at += array[0].nbytes
