"""Frames of the preview as bytes: a header, then raw RGB, the top row first."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from workbench.remote.declaration import LARGEST_SIDE

MAGIC = b"WBF1"
HEADER = struct.Struct("<4sHHII")
"""Magic, width, height, sequence, step; little-endian, 16 bytes."""


@dataclass(frozen=True)
class Frame:
    """One picture."""

    width: int
    height: int
    sequence: int
    """Counts the frames sent, from 0, over 2**32 again from 0."""
    step: int
    """The step of the episode that it shows."""
    pixels: bytes
    """`height * width * 3` bytes."""

    def encode(self) -> bytes:
        """Return the frame as it goes over a pipe."""
        return HEADER.pack(MAGIC, self.width, self.height, self.sequence & 0xFFFFFFFF, self.step) + self.pixels


class FrameReader:
    """Puts frames together from pieces of any length, and finds the next one after bytes that belong to none."""

    def __init__(self) -> None:
        self.skipped = 0
        """Bytes that belonged to no frame."""
        self._held = bytearray()

    def feed(self, piece: bytes) -> list[Frame]:
        """Take what was read and return the frames that are whole now."""
        self._held += piece
        frames = []
        while (frame := self._next()) is not None:
            frames.append(frame)
        return frames

    def _next(self) -> Frame | None:
        while True:
            start = self._held.find(MAGIC)
            if start < 0:
                # The last bytes may be the beginning of the next magic.
                start = max(0, len(self._held) - len(MAGIC) + 1)
                self._drop(start)
                return None
            self._drop(start)
            if len(self._held) < HEADER.size:
                return None
            _, width, height, sequence, step = HEADER.unpack_from(self._held)
            if 1 <= width <= LARGEST_SIDE and 1 <= height <= LARGEST_SIDE:
                break
            self._drop(1)
        end = HEADER.size + width * height * 3
        if len(self._held) < end:
            return None
        pixels = bytes(self._held[HEADER.size : end])
        del self._held[:end]
        return Frame(width, height, sequence, step, pixels)

    def _drop(self, count: int) -> None:
        self.skipped += count
        del self._held[:count]
