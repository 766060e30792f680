"""Fewer points with the same outline, and the finite pieces of a curve."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def decimate(x: Floats, y: Floats, buckets: int) -> tuple[Floats, Floats]:
    """Return about two points a bucket: the lowest and the highest value of each, in their order.

    The first and the last point always stay, so a curve keeps its ends. `x` must not decrease and all must be finite.

    Args:
        x: Positions, `(n,)`.
        y: Values, `(n,)`.
        buckets: How many equal stretches of x to keep two points of; usually the columns of the plot.
    """
    count = len(x)
    if count <= 2 * buckets or buckets < 1:
        return x, y
    span = x[-1] - x[0]
    if span <= 0:
        return x[[0, -1]], y[[0, -1]]
    bucket = np.minimum((x - x[0]) * (buckets / span), buckets - 1).astype(np.int64)
    by_value = np.lexsort((y, bucket))
    starts = np.flatnonzero(np.diff(bucket[by_value], prepend=-1))
    ends = np.append(starts[1:], count) - 1
    keep = np.unique(np.concatenate(([0, count - 1], by_value[starts], by_value[ends])))
    return x[keep], y[keep]


def pieces(x: Floats, y: Floats, *, limit: int = 200) -> Iterator[tuple[Floats, Floats]]:
    """Yield the stretches of a curve between its gaps; a point that is not finite belongs to none.

    With more than `limit` stretches the gaps are too fine to be seen and the finite points are one stretch.
    """
    finite = np.isfinite(x) & np.isfinite(y)
    if finite.all():
        if len(x):
            yield x, y
        return
    edges = np.flatnonzero(np.diff(np.concatenate(([False], finite, [False])).astype(np.int8)))
    if len(edges) > 2 * limit:
        yield x[finite], y[finite]
        return
    for start, end in edges.reshape(-1, 2):
        yield x[start:end], y[start:end]


def cut(x: Floats, y: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Return the part of a curve between two positions, with the crossing points interpolated at both edges."""
    if not len(x) or (x[0] >= low and x[-1] <= high):
        return x, y
    first = int(np.searchsorted(x, low, side="left"))
    last = int(np.searchsorted(x, high, side="right"))
    inner_x, inner_y = x[first:last], y[first:last]
    if first > 0 and first < len(x) and x[first] > low:
        inner_x = np.concatenate(([low], inner_x))
        inner_y = np.concatenate(([np.interp(low, x, y)], inner_y))
    if last < len(x) and last > 0 and x[last - 1] < high:
        inner_x = np.concatenate((inner_x, [high]))
        inner_y = np.concatenate((inner_y, [np.interp(high, x, y)]))
    return inner_x, inner_y
