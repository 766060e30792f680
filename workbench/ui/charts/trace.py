"""Curves made ready to draw, kept while they grow: only what is new is smoothed, scaled and counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from workbench.ui.charts.growing import Extremes, Growing
from workbench.ui.charts.line import Line
from workbench.ui.charts.model import ChartView, Curve, XAxis
from workbench.ui.charts.smoothing import Mean

Floats = NDArray[np.float64]

LARGEST = 1e150
"""Differences of larger numbers are not finite; they count as not finite themselves."""


class Trace:
    """One curve along one axis, smoothed, on the scale of the y axis.

    Args:
        axis: What its positions are.
        weight: Of the mean in front; 0 has the raw values in front.
        log: Whether values are exponents of ten; those that are not positive become gaps.
    """

    def __init__(self, axis: XAxis, weight: float, log: bool) -> None:
        self._axis, self._weight, self._log = axis, weight, log
        self._given: Curve | None = None
        self._clear()

    def _clear(self) -> None:
        # Values of their own only where those of the curve cannot be drawn as they are.
        self._own_values: Growing | None = Growing() if self._log else None
        self._front = Growing()
        self._count = 0
        self._raw_extremes, self._front_extremes = Extremes(), Extremes()
        self._mean = Mean(self._weight)
        self._bad = Growing()
        self.below = 0
        """Values that have no logarithm."""
        self.finite = 0
        """Points that can be drawn."""
        self._curve: Curve | None = None
        self._in_order = True

    @property
    def curve(self) -> Curve:
        """What was taken in, its points in the order of x."""
        assert self._curve is not None
        return self._curve

    @property
    def _x(self) -> Floats:
        return self.curve.x(self._axis)

    @property
    def _values(self) -> Floats:
        return self.curve.values if self._own_values is None else self._own_values.view

    @property
    def raw(self) -> Line:
        """The values as they are."""
        return Line(self._x, self._values, self._raw_extremes)

    @property
    def front(self) -> Line:
        """The values as they are drawn in front."""
        return Line(self._x, self._front.view, self._front_extremes) if self._weight > 0 else self.raw

    @property
    def not_finite(self) -> Floats:
        """Where values are no numbers."""
        return self._bad.view

    def take(self, curve: Curve) -> None:
        """Take in a curve: what it has beyond the one before, or all of it where it is another one."""
        if curve is self._given:
            return
        if not (self._given is not None and self._in_order and _continues(self._given, curve, self._axis)):
            self._clear()
        self._given = curve
        before = self._x[-1:] if self._count else np.empty(0)
        x = curve.x(self._axis, self._count)
        if not _is_in_order(x, before):
            self._clear()
            self._in_order = False
            curve = _ordered(curve, self._axis)
            x = curve.x(self._axis)
        self._curve = curve
        self._extend(x, curve.values[self._count :])

    def _extend(self, x: Floats, values: Floats) -> None:
        sound = np.abs(values) <= LARGEST  # false for NaN too
        if not sound.all():
            self._bad.extend(x[~sound])
            if self._own_values is None and not np.isnan(values[~sound]).all():
                self._own_values = Growing()
                self._own_values.extend(self.curve.values[: self._count])
            values = np.where(sound, values, np.nan)
        front = self._mean.extend(values) if self._weight > 0 else values
        if self._log:
            positive = values > 0
            self.below += int(np.count_nonzero(sound & ~positive))
            self.finite += int(np.count_nonzero(positive))
            values, front = log10(values), log10(front)
        else:
            self.finite += int(np.count_nonzero(sound))
        self._count += len(x)
        if self._own_values is not None:
            self._own_values.extend(values)
        self._raw_extremes.extend(self._values)
        if self._weight > 0:
            self._front.extend(front)
            self._front_extremes.extend(self._front.view)


class Traces:
    """The traces of one chart, kept from drawing to drawing."""

    def __init__(self) -> None:
        self._settings: tuple[XAxis, float, bool] | None = None
        self._traces: dict[str, Trace] = {}
        self._seen: set[str] = set()

    def begin(self, view: ChartView, log: bool) -> None:
        """Begin a drawing; when it is looked at in another way, everything is made anew."""
        settings = (view.x_axis, view.weight, log)
        if settings != self._settings:
            self._settings, self._traces = settings, {}
        self._seen = set()

    def trace(self, curve: Curve, key: str | None = None) -> Trace:
        """Return the trace of a curve as it is now."""
        assert self._settings is not None
        key = curve.key if key is None else key
        if key in self._seen:  # two of one name in one chart: neither is kept
            trace = Trace(*self._settings)
        else:
            trace = self._traces.setdefault(key, Trace(*self._settings))
            self._seen.add(key)
        trace.take(curve)
        return trace

    def end(self) -> None:
        """Forget what was not drawn."""
        self._traces = {key: trace for key, trace in self._traces.items() if key in self._seen}


def _continues(old: Curve, new: Curve, axis: XAxis) -> bool:
    """Whether a curve begins with all of another one."""
    pairs: Iterable[tuple[Floats, Floats]] = [(old.values, new.values), (old.steps, new.steps)]
    if axis is XAxis.WALL:
        pairs = [*pairs, (old.wall_s, new.wall_s)]
    elif axis is XAxis.EPISODES:
        pairs = [*pairs, (old.episodes, new.episodes)]
    return all(_begins_with(longer, shorter) for shorter, longer in pairs)


def _begins_with(longer: Floats, shorter: Floats) -> bool:
    count = len(shorter)
    if len(longer) < count:
        return False
    if not count or longer is shorter:
        return True
    # Two views of one buffer, which nobody writes to but at its end: the usual case, and known without looking.
    if longer.ctypes.data == shorter.ctypes.data and longer.strides == shorter.strides:
        return True
    if longer[count - 1] != shorter[-1] and not np.isnan(shorter[-1]):
        return False
    return np.array_equal(longer[:count], shorter, equal_nan=True)


def _is_in_order(x: Floats, before: Floats) -> bool:
    if not len(x):
        return True
    if len(before) and not x[0] >= before[-1]:
        return False
    return bool(np.isfinite(x[0]) and np.isfinite(x[-1]) and np.all(x[1:] >= x[:-1]))


def _ordered(curve: Curve, axis: XAxis) -> Curve:
    """Return a curve without points that have no place, in the order of x."""
    x = curve.x(axis)
    keep = np.isfinite(x) & np.isfinite(curve.steps)
    order = np.flatnonzero(keep)[np.argsort(x[keep], kind="stable")]
    return replace(
        curve,
        steps=curve.steps[order],
        wall_s=curve.wall_s[order],
        episodes=curve.episodes[order],
        values=curve.values[order],
    )


def log10(values: Floats) -> Floats:
    """Return the exponents of ten of values; NaN for those that are not positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values > 0, np.log10(values), np.nan)
