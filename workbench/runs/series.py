"""One metric over a run: appended in constant time, with bounds kept as it grows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

_START_CAPACITY = 64


class Series:
    """The points of one metric, in the order in which they were written.

    A value that was not finite is kept as NaN, so that a curve shows a gap, and never enters the bounds.
    """

    def __init__(self) -> None:
        self._data: NDArray[np.float64] = np.empty((4, _START_CAPACITY))
        self._count = 0
        self.not_finite = 0
        """Points whose value was not finite."""
        self.low = math.inf
        """The least finite value; infinite while there is none."""
        self.high = -math.inf
        """The greatest finite value; minus infinite while there is none."""
        self.last: float | None = None
        """The newest finite value."""

    def __len__(self) -> int:
        return self._count

    @property
    def size_bytes(self) -> int:
        """How much memory its points take, those to come included."""
        return self._data.nbytes

    @property
    def steps(self) -> NDArray[np.float64]:
        """Step counts, `(n,)`, rising; a view that later appends leave as it is."""
        return self._view(0)

    @property
    def wall_s(self) -> NDArray[np.float64]:
        """Seconds of active training, pauses left out, `(n,)`; NaN where unknown."""
        return self._view(1)

    @property
    def episodes(self) -> NDArray[np.float64]:
        """Episodes ended so far, `(n,)`; NaN where unknown."""
        return self._view(2)

    @property
    def values(self) -> NDArray[np.float64]:
        """The metric, `(n,)`; NaN where it was not finite."""
        return self._view(3)

    def extend(
        self,
        values: NDArray[np.float64],
        *,
        steps: NDArray[np.float64],
        wall_s: NDArray[np.float64],
        episodes: NDArray[np.float64],
    ) -> None:
        """Add points, `(n,)` each; what is not finite is kept as NaN."""
        count = self._count + len(values)
        if count > self._data.shape[1]:
            grown = np.empty((4, 2 ** math.ceil(math.log2(count))))
            grown[:, : self._count] = self._data[:, : self._count]
            self._data = grown
        good = np.isfinite(values)
        finite = values if good.all() else values[good]
        added = self._data[:, self._count : count]
        added[0], added[1], added[2] = steps, wall_s, episodes
        added[3] = values if len(finite) == len(values) else np.where(good, values, np.nan)
        self._count = count
        self.not_finite += len(values) - len(finite)
        if len(finite):
            self.low = min(self.low, float(finite.min()))
            self.high = max(self.high, float(finite.max()))
            self.last = float(finite[-1])

    def append(self, value: float | None, *, steps: float, wall_s: float | None, episodes: float | None) -> None:
        """Add one point; None and NaN are values that were not finite."""
        if self._count == self._data.shape[1]:
            grown = np.empty((4, 2 * self._count))
            grown[:, : self._count] = self._data
            self._data = grown
        number = math.nan if value is None else value
        self._data[:, self._count] = (
            steps,
            math.nan if wall_s is None else wall_s,
            math.nan if episodes is None else episodes,
            number if math.isfinite(number) else math.nan,
        )
        self._count += 1
        if math.isfinite(number):
            self.low = min(self.low, number)
            self.high = max(self.high, number)
            self.last = number
        else:
            self.not_finite += 1

    def drop_after(self, steps: float) -> None:
        """Drop every point beyond a step count, as a resumed run does with what it will write again."""
        keep = int(np.searchsorted(self.steps, steps, side="right"))
        if keep == self._count:
            return
        # Views handed out earlier must not change under their reader.
        self._data = self._data.copy()
        self._count = keep
        finite = self.values[np.isfinite(self.values)]
        self.not_finite = keep - len(finite)
        self.low = float(finite.min()) if len(finite) else math.inf
        self.high = float(finite.max()) if len(finite) else -math.inf
        self.last = float(finite[-1]) if len(finite) else None

    def _view(self, row: int) -> NDArray[Any]:
        view = self._data[row, : self._count]
        view.flags.writeable = False
        return view
