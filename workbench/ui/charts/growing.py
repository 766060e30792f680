"""Arrays that grow at their end, and the lowest and highest values of stretches of one.

A chart of a million points a curve is drawn from the extremes of each of its columns. They are read from blocks of
blocks whose extremes are kept, so neither drawing nor appending looks at what was there before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

BLOCK = 16
"""Values of one level that one value of the next stands for."""
_FINENESS = 16
"""Blocks a stretch has at least; its edges are moved to those of blocks, so by this part of its width at most."""


class Growing:
    """A row of numbers that is added to at its end, in constant time each."""

    def __init__(self) -> None:
        self._data: Floats = np.empty(64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def view(self) -> Floats:
        """All of them, `(n,)`; later growth leaves it as it is."""
        return self._data[: self._count]

    def extend(self, values: Floats) -> None:
        """Add numbers at the end."""
        count = self._count + len(values)
        if count > len(self._data):
            grown = np.empty(count + count // 2)
            grown[: self._count] = self.view
            self._data = grown
        self._data[self._count : count] = values
        self._count = count


class Extremes:
    """The lowest and the highest value of every block of a growing row, of every block of blocks, and so on.

    Values that are not finite do not count; a block of nothing else is NaN.
    """

    def __init__(self) -> None:
        self._lows: list[Growing] = []
        self._highs: list[Growing] = []

    def extend(self, values: Floats) -> None:
        """Take in what is new in `values`, which begins with all that was there before."""
        lows = highs = values
        level = 0
        while len(lows) >= BLOCK:
            if level == len(self._lows):
                self._lows.append(Growing())
                self._highs.append(Growing())
            done, whole = len(self._lows[level]), len(lows) // BLOCK
            if whole > done:
                new = slice(done * BLOCK, whole * BLOCK)
                self._lows[level].extend(np.fmin.reduce(lows[new].reshape(-1, BLOCK), axis=1))
                self._highs[level].extend(np.fmax.reduce(highs[new].reshape(-1, BLOCK), axis=1))
            lows, highs = self._lows[level].view, self._highs[level].view
            level += 1

    def of(self, values: Floats, edges: Indices) -> tuple[Indices, Floats, Floats]:
        """Return the extremes of neighbouring stretches.

        Args:
            values: The row, `(n,)`, as last given to `extend`.
            edges: Where the stretches begin, and the end of the last one, rising.

        Returns:
            The edges as used, moved a little where stretches are long, and the lows and the highs between them.
        """
        edges = np.unique(edges)
        if len(edges) < 2:
            return edges[:1], np.empty(0), np.empty(0)
        level, size = -1, 1
        wanted = (edges[-1] - edges[0]) / (len(edges) - 1) / _FINENESS
        while level + 1 < len(self._lows) and size * BLOCK <= wanted:
            level, size = level + 1, size * BLOCK
        if level < 0:
            part, starts = values[: edges[-1]], edges[:-1]
            return edges, np.fmin.reduceat(part, starts), np.fmax.reduceat(part, starts)
        first, last = int(edges[0]), int(edges[-1])
        blocks = np.unique(np.clip(-(-edges // size), -(-first // size), last // size))
        if len(blocks) < 2:
            part = values[first:last]
            return np.array([first, last]), np.array([np.fmin.reduce(part)]), np.array([np.fmax.reduce(part)])
        lows = np.fmin.reduceat(self._lows[level].view[: blocks[-1]], blocks[:-1])
        highs = np.fmax.reduceat(self._highs[level].view[: blocks[-1]], blocks[:-1])
        for place, rest in ((0, values[first : blocks[0] * size]), (-1, values[blocks[-1] * size : last])):
            if len(rest):
                lows[place] = np.fmin(lows[place], np.fmin.reduce(rest))
                highs[place] = np.fmax(highs[place], np.fmax.reduce(rest))
        used = blocks * size
        used[0], used[-1] = first, last
        return used, lows, highs
