"""The records in TensorBoard's event files, followed as the file grows.

A record is its length (8 bytes, little endian), the masked CRC-32C of these, the data, and the masked CRC-32C of the
data: https://www.tensorflow.org/tutorials/load_data/tfrecord. CRC-32C is that of RFC 3720, appendix B.4.
"""

from __future__ import annotations

import os
import struct
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workbench.runs.foreign.following import StartedOverError

CHUNK_BYTES = 4 * 2**20
LARGEST = 2**20
"""Bytes; a larger record is a picture, a film or a histogram, and is passed over."""
_MOST_BYTES = 2**40
"""No length is greater; one that is comes from a damaged file."""
_REMEMBERED = 256
_FEW = 32
_POLYNOMIAL = 0x82F63B78


class RecordTail:
    """Yields the records that were completed since the last time.

    Args:
        path: The file; it need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged_at: int | None = None
        """Where a checksum was wrong; nothing behind it can be read, for nothing tells where a record begins."""
        self._offset = 0
        self._head = b""
        self._seen: tuple[int, int, int] | None = None

    def records(self) -> Iterator[bytes]:
        """Yield the data of whole records; one that is half-written comes another time.

        Raises:
            StartedOverError: The file is another one, or was cut.
        """
        try:
            status = self.path.stat()
            seen = (status.st_ino, status.st_size, status.st_mtime_ns)
            if seen == self._seen:
                return
            handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except OSError:
            return
        try:
            is_same_file = self._seen is None or self._seen[0] == status.st_ino
            if self._offset and not (is_same_file and status.st_size >= self._offset):
                raise StartedOverError(str(self.path))
            if os.pread(handle, len(self._head), 0) != self._head:
                raise StartedOverError(str(self.path))
            while self.damaged_at is None and (found := self._take(handle, status.st_size)) is not None:
                yield from found
            self._seen = seen
        finally:
            os.close(handle)

    def _take(self, handle: int, size: int) -> list[bytes] | None:
        """Return the whole records of the next part of the file; None where there are none."""
        data = os.pread(handle, CHUNK_BYTES, self._offset)
        spans: list[tuple[int, int]] = []
        place = 0
        skips = 0
        while len(data) - place >= 12:
            length, check = struct.unpack_from("<QI", data, place)
            if masked(crc32c(data[place : place + 8])) != check or length > _MOST_BYTES:
                self.damaged_at = self._offset + place
                break
            end = place + 12 + length + 4
            if length > LARGEST:
                if self._offset + end > size:
                    break
                place, skips = end, skips + 1
                continue
            if end > len(data):
                break
            spans.append((place + 12, length))
            place = end
        whole = self._checked(data, spans)
        if not self._offset:
            self._head = data[: min(place, _REMEMBERED)]
        self._offset += place
        return whole if spans or skips else None

    def _checked(self, data: bytes, spans: list[tuple[int, int]]) -> list[bytes]:
        """Return the records up to the first whose checksum is wrong."""
        sums = checksums(data, spans)
        for index, (place, length) in enumerate(spans):
            if masked(int(sums[index])) != struct.unpack_from("<I", data, place + length)[0]:
                self.damaged_at = self._offset + place - 12
                spans = spans[:index]
                break
        return [data[place : place + length] for place, length in spans]


def masked(checksum: int) -> int:
    """Return a checksum as it is stored: rotated by 15 bits, and a constant added."""
    return ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF


def crc32c(data: bytes) -> int:
    """Return the CRC-32C of some bytes."""
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ 0xFFFFFFFF


def checksums(data: bytes, spans: list[tuple[int, int]]) -> NDArray[np.uint32]:
    """Return the CRC-32C of many parts of some bytes, `(n,)`; those of one length are gone through together.

    Args:
        data: The bytes.
        spans: Where each part begins, and its length.
    """
    found = np.zeros(len(spans), np.uint32)
    alike: dict[int, list[int]] = defaultdict(list)
    for index, (_, length) in enumerate(spans):
        alike[length].append(index)
    array = np.frombuffer(data, np.uint8)
    table = np.array(_TABLE, np.uint32)
    for length, indices in alike.items():
        if len(indices) <= _FEW:
            for index in indices:
                place = spans[index][0]
                found[index] = crc32c(data[place : place + length])
            continue
        starts = np.array([spans[index][0] for index in indices])
        value = np.full(len(indices), 0xFFFFFFFF, np.uint32)
        for step in range(length):
            value = table[(value ^ array[starts + step]) & 0xFF] ^ (value >> 8)
        found[indices] = value ^ np.uint32(0xFFFFFFFF)
    return found


def _table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _table()
