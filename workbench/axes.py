"""Ranges, ticks at 1-2-5 steps, and their labels, for straight and for logarithmic axes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.formatting import MINUS, SPACE

Floats = NDArray[np.float64]


_HUGE = 1e13
"""From here on numbers are written with an exponent."""


@dataclass(frozen=True)
class Tick:
    """A place on an axis and what stands there."""

    at: float
    """The position on the axis; the exponent on a logarithmic one."""
    label: str


def nice_step(span: float, count: int) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that divides `span` into at most `count` parts."""
    if not span > 0 or not math.isfinite(span):
        return 1.0
    rough = span / max(count, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    for factor in (1.0, 2.0, 5.0, 10.0):
        if factor * power >= rough * (1 - 1e-9):
            return factor * power
    return 10.0 * power


def nice_ceiling(value: float) -> float:
    """Return the smallest of 1, 2, 3, 5, 8 times a power of ten that is not below `value`."""
    if not value > 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    for factor in (1.0, 2.0, 3.0, 5.0, 8.0):
        if factor * power >= value:
            return factor * power
    return 10.0 * power


def ticks(low: float, high: float, count: int) -> list[Tick]:
    """Return at most `count + 1` ticks in `low … high` at a 1-2-5 step."""
    step = nice_step(high - low, count)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    if last - first > 2 * count + 2:  # the span is below the resolution of the numbers
        return [Tick(low, label(low, high - low))]
    places = [index * step for index in range(first, last + 1)]
    largest = max((abs(place) for place in places), default=0.0)
    return [Tick(place, label(place, step, largest)) for place in places]


def log_ticks(low: float, high: float, count: int) -> list[Tick]:
    """Return ticks for an axis of exponents `low … high`: powers of ten, and 2 and 5 between where there is room."""
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    decades = last - first + 1
    if decades >= 2:
        stride = max(1, math.ceil(decades / max(count, 1)))
        return [Tick(float(power), power_label(power)) for power in range(first, last + 1, stride)]
    places = [
        math.log10(factor) + power
        for power in range(math.floor(low), math.ceil(high) + 1)
        for factor in (1, 2, 5)
        if low - 1e-9 <= math.log10(factor) + power <= high + 1e-9
    ]
    if len(places) < 2:
        straight = ticks(10.0**low, 10.0**high, max(count, 1))
        return [Tick(math.log10(tick.at), tick.label) for tick in straight if tick.at > 0]
    return [Tick(place, label(10.0**place, 10.0 ** math.floor(place))) for place in places[-(count + 1) :]]


def label(value: float, step: float, largest: float | None = None) -> str:
    """Return `value` with as many digits as a step of `step` needs: `2 000`, `200 k`, `1.2 M`, `0.0005`.

    Thousands become `k` on an axis that reaches ten thousand; `largest` is its largest tick.
    """
    largest = abs(value) if largest is None else largest
    size = abs(value)
    if size == 0 or size < abs(step) * 1e-9:
        return "0"
    if largest >= _HUGE:
        return _scientific(value, step).replace("e+", "e")
    for scale, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= scale * (1 - 1e-9) and largest >= 1e4:
            return f"{_digits(value / scale, step / scale)}{SPACE}{unit}"
    if step < 1e-4:
        return _scientific(value, step).replace("e-0", "e-")
    return _digits(value, step)


def _scientific(value: float, step: float) -> str:
    figures = math.floor(math.log10(abs(value))) - math.floor(math.log10(step) + 1e-9) + 1 if step > 0 else 2
    return f"{value:.{min(max(2, figures), 6)}g}".replace("-", MINUS, 1 if value < 0 else 0)


def power_label(power: int) -> str:
    """Return ten to the `power` as a short number."""
    if -4 <= power < 3:
        return f"{10.0**power:.{max(0, -power)}f}"
    if 3 <= power < 12:
        unit = {1: "k", 2: "M", 3: "G"}[power // 3]
        return f"{10 ** (power % 3)}{SPACE}{unit}"
    return f"1e{power}"


def _digits(value: float, step: float) -> str:
    decimals = 0
    while decimals < 6 and abs(round(step, decimals) - step) > 1e-6 * step:
        decimals += 1
    text = f"{value:,.{decimals}f}".replace(",", SPACE)
    text = text.rstrip("0").rstrip(".") if decimals else text
    return MINUS + text[1:] if text.startswith("-") else text


def value_range(drawn: Floats, raw: Floats) -> tuple[float, float] | None:
    """Return the range of a y axis: all that is drawn in front, and the 1st to 99th percentile of what is behind.

    One spike of the raw values thus cannot flatten the curve. Nothing finite gives no range; a constant gets room on
    both sides so that it lies at mid-height.
    """
    front = drawn[np.isfinite(drawn)]
    behind = raw[np.isfinite(raw)]
    if not len(front) and not len(behind):
        return None
    lows, highs = [], []
    if len(front):
        lows.append(float(front.min()))
        highs.append(float(front.max()))
    if len(behind):
        low, high = np.percentile(behind, (1, 99))
        lows.append(float(low))
        highs.append(float(high))
    return padded(min(lows), max(highs))


def padded(low: float, high: float) -> tuple[float, float]:
    """Return the range with room where it has no width, and unchanged where it has."""
    if high - low > 1e-9 * max(abs(low), abs(high), 1e-300):
        return low, high
    room = abs(high) * 0.05 or 1.0
    return low - room, high + room


_TIME_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200, 86400)


def time_ticks(low: float, high: float, count: int) -> list[Tick]:
    """Return ticks for an axis in seconds, at steps that read well as times: `30s`, `5m`, `2h`."""
    span = high - low
    rough = span / max(count, 1)
    days = math.ceil(rough / 86400) * 86400
    step = next((step for step in _TIME_STEPS if step >= rough), days)
    return [Tick(float(at), _time_label(at)) for at in range(math.ceil(low / step) * step, math.floor(high) + 1, step)]


def _time_label(seconds: int) -> str:
    if seconds == 0:
        return "0"
    parts = [(seconds // 86400, "d"), (seconds % 86400 // 3600, "h"), (seconds % 3600 // 60, "m"), (seconds % 60, "s")]
    return " ".join(f"{count}{unit}" for count, unit in parts if count)
