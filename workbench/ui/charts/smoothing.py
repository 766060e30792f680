"""The exponential mean that is drawn over a curve; it is never stored."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SHORT = 512
"""Up to so many values one after the other is quickest."""
_BIASED = 4096
"""So many weights multiplied are nothing: 0.97 to this power is below 1e-50."""


class Mean:
    """The debiased exponential mean of values that keep coming.

    The bias towards zero of the first values is divided out, so the curve starts at its first value. A value that
    is not finite is a gap: it stays one, and the mean starts anew behind it.

    Args:
        weight: How much of the mean so far is kept, from 0 (nothing) to below 1.
    """

    def __init__(self, weight: float) -> None:
        self._weight = weight
        self._start_anew()

    def _start_anew(self) -> None:
        self._mean, self._remaining = 0.0, 1.0

    def extend(self, values: Floats) -> Floats:
        """Return the mean at each of the next values, `(n,)`."""
        if len(values) <= _SHORT:
            return self._one_by_one(values)
        smoothed = np.full(len(values), np.nan)
        finite = np.isfinite(values)
        edges = np.flatnonzero(np.diff(np.concatenate(([False], finite, [False])).astype(np.int8)))
        for start, end in edges.reshape(-1, 2):
            if start > 0:
                self._start_anew()
            stretch = values[start:end]
            smoothed[start:end] = self._at_once(stretch) if end - start > _SHORT else self._one_by_one(stretch)
        if not finite[-1]:
            self._start_anew()
        return smoothed

    def _one_by_one(self, values: Floats) -> Floats:
        weight = self._weight
        smoothed = np.full(len(values), np.nan)
        for index, value in enumerate(values.tolist()):
            if not math.isfinite(value):
                self._start_anew()
                continue
            self._mean = weight * self._mean + (1.0 - weight) * value
            self._remaining *= weight
            smoothed[index] = self._mean / (1.0 - self._remaining)
        return smoothed

    def _at_once(self, values: Floats) -> Floats:
        """The same for many finite values: rows of a table side by side, then what each row takes from the last."""
        weight, count = self._weight, len(values)
        length = math.isqrt(count)
        rows = -(-count // length)
        padded = np.zeros(length * rows)
        padded[:count] = values
        padded *= 1.0 - weight
        table = padded.reshape(rows, length).T.copy()
        for place in range(1, length):
            table[place] += weight * table[place - 1]
        powers = weight ** np.arange(1, length + 1)
        carried, mean = np.empty(rows), self._mean
        for row in range(rows):
            carried[row] = mean
            mean = table[-1, row] + powers[-1] * mean
        table += powers[:, None] * carried
        means = table.T.reshape(-1)[:count]
        last = float(means[-1])
        # Beyond, the share of what came before the first value is below the last bit of one.
        biased = min(count, _BIASED)
        remaining = self._remaining * weight ** np.arange(1, biased + 1)
        means[:biased] /= 1.0 - remaining
        self._mean = last
        self._remaining = float(remaining[-1]) if biased == count else 0.0
        return means


def smooth(values: Floats, weight: float) -> Floats:
    """Return the debiased exponential mean of `values`, `(n,)`, oldest first; see `Mean`."""
    return values if weight <= 0 else Mean(weight).extend(values)
