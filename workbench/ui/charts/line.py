"""A curve as it is drawn: what of it falls into a stretch, and no more points than its columns can show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.ui.charts.growing import Extremes
from workbench.ui.charts.raster import dot_edges

Floats = NDArray[np.float64]

_FEW = 4
"""Up to so many points a column of dots are drawn as they are."""
_SAMPLE = 8192
"""Points the percentiles of a stretch are taken of."""
_LOOK_BACK = 1024


@dataclass(frozen=True, eq=False)
class Line:
    """Values over positions that do not decrease, `(n,)` each; a value that is not finite is a gap."""

    x: Floats
    y: Floats
    extremes: Extremes | None = None
    """Of the values, where they are many."""

    def __len__(self) -> int:
        return len(self.x)

    def places(self, low: float, high: float) -> tuple[int, int]:
        """Return the first point at or behind `low`, and the first behind `high`."""
        first = np.searchsorted(self.x, low, side="left")
        return int(first), int(np.searchsorted(self.x, high, side="right"))

    def drawn(self, x_range: tuple[float, float], width: int) -> tuple[Floats, Floats]:
        """Return the part that falls into a range, as at most four points for each of its columns of dots.

        Those are the first, the lowest, the highest and the last of each column, with which a drawn line has the same
        dots as with all of them (Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", 2014).
        """
        first, last = self.places(*x_range)
        edges = dot_edges(x_range, width)
        if self.extremes is None or last - first <= _FEW * len(edges):
            return cut(self.x, self.y, *x_range)
        places = first + np.searchsorted(self.x[first:last], edges, side="left")
        used, lows, highs = self.extremes.of(self.y, np.concatenate(([first], places, [last])).astype(np.int64))
        starts, ends = used[:-1], used[1:] - 1
        middle = (self.x[starts] + self.x[ends]) / 2
        rises = self.y[starts] <= self.y[ends]
        x = np.stack((self.x[starts], middle, middle, self.x[ends]), axis=1)
        y = np.stack((self.y[starts], np.where(rises, lows, highs), np.where(rises, highs, lows), self.y[ends]), axis=1)
        keep = np.isfinite(y) | np.isnan(lows)[:, None]
        return x[keep], y[keep]

    def extent(self, low: float, high: float) -> tuple[float, float] | None:
        """Return the lowest and the highest value between two positions; nothing where none is finite.

        Between two points there still is the line that joins them, so the next one on both sides counts.
        """
        first, last = self.places(low, high)
        first, last = max(0, first - 1), min(len(self), last + 1)
        if last <= first:
            return None
        if self.extremes is None:
            lowest, highest = np.fmin.reduce(self.y[first:last]), np.fmax.reduce(self.y[first:last])
        else:
            _, lows, highs = self.extremes.of(self.y, np.array([first, last]))
            lowest, highest = lows[0], highs[0]
        return (float(lowest), float(highest)) if np.isfinite(lowest) and np.isfinite(highest) else None

    def sample(self, low: float, high: float) -> Floats:
        """Return the finite values between two positions; of very many, some at equal distances."""
        first, last = self.places(low, high)
        first, last = max(0, first - 1), min(len(self), last + 1)
        values = self.y[first : last : max(1, (last - first) // _SAMPLE)]
        return values[np.isfinite(values)]

    def last_finite(self, high: float) -> int | None:
        """Return the last point up to a position that has a value."""
        end = int(np.searchsorted(self.x, high, side="right"))
        while end > 0:
            start = max(0, end - _LOOK_BACK)
            found = np.flatnonzero(np.isfinite(self.y[start:end]))
            if len(found):
                return start + int(found[-1])
            end = start
        return None


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
        inner_y = np.concatenate(([_between(x, y, first, low)], inner_y))
    if last < len(x) and last > 0 and x[last - 1] < high:
        inner_x = np.concatenate((inner_x, [high]))
        inner_y = np.concatenate((inner_y, [_between(x, y, last, high)]))
    return inner_x, inner_y


def nearest(steps: Floats, wanted: float) -> int:
    """Return the place of the value nearest to `wanted` in rising ones; there must be one."""
    after = int(np.searchsorted(steps, wanted))
    if after == 0 or (after < len(steps) and steps[after] - wanted < wanted - steps[after - 1]):
        return after
    return after - 1


def _between(x: Floats, y: Floats, after: int, at: float) -> float:
    """The value on the line from the point before `after` to that one."""
    pair = slice(after - 1, after + 1)
    return float(np.interp(at, x[pair], y[pair]))
