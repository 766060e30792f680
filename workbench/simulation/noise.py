"""Random draws for some copies of an environment, each from that copy's own generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Noise:
    """Draws for the copies `ids`, one row each, from each copy's own generator.

    A copy's draws depend on its seed and on what it drew before, never on how many other copies there are. With one
    copy the draws are those that `np_random` of a Gymnasium environment with the same seed makes in the same order.

    Args:
        generators: One generator a copy.
        ids: The copies that draw.
    """

    def __init__(self, generators: Sequence[np.random.Generator], ids: NDArray[np.intp]) -> None:
        self.generators = generators
        self.ids = ids

    def __len__(self) -> int:
        return len(self.ids)

    def uniform(self, low: ArrayLike, high: ArrayLike, size: int) -> NDArray[np.float64]:
        """Return uniform draws (k, size) from [low, high)."""
        out = np.empty((len(self.ids), size))
        for row, copy in enumerate(self.ids):
            out[row] = self.generators[copy].uniform(low, high, size)
        return out

    def uniform_where(
        self, low: ArrayLike, high: ArrayLike, size: int, accept: Callable[[NDArray[np.float64]], object]
    ) -> NDArray[np.float64]:
        """Return uniform draws (k, size), each copy's drawn anew until `accept` is true of it (size,)."""
        out = np.empty((len(self.ids), size))
        for row, copy in enumerate(self.ids):
            generator = self.generators[copy]
            while True:
                out[row] = generator.uniform(low, high, size)
                if accept(out[row]):
                    break
        return out

    def standard_normal(self, size: int) -> NDArray[np.float64]:
        """Return draws (k, size) from the standard normal distribution."""
        out = np.empty((len(self.ids), size))
        for row, copy in enumerate(self.ids):
            out[row] = self.generators[copy].standard_normal(size)
        return out

    def integers(self, low: int, high: int, size: int) -> NDArray[np.int64]:
        """Return whole numbers (k, size) from [low, high)."""
        out = np.empty((len(self.ids), size), dtype=np.int64)
        for row, copy in enumerate(self.ids):
            out[row] = self.generators[copy].integers(low, high, size)
        return out
