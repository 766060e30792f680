"""A curve in one line: block signs, and an arrow for where it goes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BLOCKS = "▁▂▃▄▅▆▇"


def sparkline(values: Floats, width: int) -> str:
    """Return the course of `values` in at most `width` signs, the mean of each stretch; a constant lies mid-height."""
    finite = values[np.isfinite(values)]
    if not len(finite) or width < 1:
        return ""
    means = np.array([part.mean() for part in np.array_split(finite, min(width, len(finite)))])
    low, high = float(means.min()), float(means.max())
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-300):
        return BLOCKS[len(BLOCKS) // 2] * len(means)
    levels = np.minimum((means - low) / (high - low) * len(BLOCKS), len(BLOCKS) - 1).astype(int)
    return "".join(BLOCKS[level] for level in levels)


def trend(values: Floats) -> str:
    """Return an arrow: where the last quarter of `values` lies, seen from the quarter before it."""
    finite = values[np.isfinite(values)]
    if len(finite) < 4:
        return "→"
    quarter = max(1, len(finite) // 4)
    change = float(finite[-quarter:].mean() - finite[-2 * quarter : -quarter].mean())
    low, high = float(finite.min()), float(finite.max())
    if high - low <= 1e-9 * max(abs(low), abs(high)) or abs(change) < 0.05 * (high - low):
        return "→"
    return "↗" if change > 0 else "↘"
