"""The exponential mean that is drawn over a curve; it is never stored."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

WEIGHTS = (0.0, 0.6, 0.9, 0.97)
"""The choices of the `s` key, in its order; 0 draws the values as they are."""


def smooth(values: Floats, weight: float) -> Floats:
    """Return the debiased exponential mean of `values`, `(n,)`.

    The bias towards zero of the first values is divided out, so the curve starts at its first value. A value that
    is not finite is a gap: it stays one, and the mean starts anew behind it.

    Args:
        values: The raw values, oldest first.
        weight: How much of the mean so far is kept, from 0 (nothing) to below 1.
    """
    if weight <= 0:
        return values
    smoothed = np.full(len(values), np.nan)
    mean, remaining = 0.0, 1.0
    for index, value in enumerate(values.tolist()):
        if not math.isfinite(value):
            mean, remaining = 0.0, 1.0
            continue
        mean = weight * mean + (1.0 - weight) * value
        remaining *= weight
        smoothed[index] = mean / (1.0 - remaining)
    return smoothed
