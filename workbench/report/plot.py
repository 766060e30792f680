"""Curves as SVG: lines with their points, bands, dotted references; axes at 1-2-5 steps. Text stays text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np
from numpy.typing import NDArray

from workbench.axes import ticks
from workbench.colours import SERIES_LIGHT

Floats = NDArray[np.float64]

WIDTH, HEIGHT = 760, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 96, 14, 40
_POINTS = 1000
"""A line is drawn through at most about so many points; between them the lowest and the highest are kept."""
_LABEL_GAP = 14


@dataclass(frozen=True, eq=False)
class Line:
    """One curve, `(n,)` each; what is not finite is a gap."""

    label: str
    steps: Floats = field(default_factory=lambda: np.empty(0))
    values: Floats = field(default_factory=lambda: np.empty(0))
    low: Floats | None = None
    """The lower edge of a band around it; NaN where there is none."""
    high: Floats | None = None
    slot: int = 0
    """Which of the eight colours."""
    dashed: bool = False
    thin: bool = False


@dataclass(frozen=True)
class Level:
    """A dotted line at a value that has a name."""

    value: float
    name: str


def draw(lines: Sequence[Line], levels: Sequence[Level] = (), *, x_label: str = "steps", y_label: str = "") -> str:
    """Return an SVG document; with no finite point it says so in place of curves."""
    found = _bounds(lines, levels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" font-family="system-ui, sans-serif" font-size="12">',
        f"<title>{escape(y_label or 'curves')}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#F4F6F9"/>',
    ]
    if found is None:
        parts.append(f'<text x="{WIDTH / 2}" y="{HEIGHT / 2}" text-anchor="middle" fill="#646B78">no points yet</text>')
        return "\n".join([*parts, "</svg>"])
    frame = _Frame(*found)
    parts += _axes(frame, x_label, y_label)
    parts += [_band(frame, line) for line in lines if line.low is not None]
    for level in levels:
        y = frame.y(level.value)
        parts.append(
            f'<path d="M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}" stroke="#646B78" stroke-dasharray="2 4"/>'
            f'<text x="{_LEFT + 6}" y="{y - 4:.1f}" fill="#646B78">{escape(level.name)}</text>'
        )
    parts += [_curve(frame, line) for line in lines]
    parts += _labels(frame, lines)
    return "\n".join([*parts, "</svg>"])


@dataclass(frozen=True)
class _Frame:
    """Where numbers lie on the picture."""

    first: float
    last: float
    low: float
    high: float

    def x(self, value: float) -> float:
        return _LEFT + (value - self.first) / (self.last - self.first) * (WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        return HEIGHT - _BOTTOM - (value - self.low) / (self.high - self.low) * (HEIGHT - _TOP - _BOTTOM)


def _bounds(lines: Sequence[Line], levels: Sequence[Level]) -> tuple[float, float, float, float] | None:
    steps = [line.steps[np.isfinite(line.values)] for line in lines]
    edges = [edge for line in lines for edge in (line.values, line.low, line.high) if edge is not None]
    values = [edge[np.isfinite(edge)] for edge in edges]
    if not any(map(len, steps)):
        return None
    x, y = np.concatenate(steps), np.concatenate([*values, [level.value for level in levels]])
    first, last, low, high = float(x.min()), float(x.max()), float(y.min()), float(y.max())
    if not last > first:
        first, last = first - 1, last + 1
    margin = 0.05 * (high - low) or max(1.0, 0.05 * abs(high))
    return first, last, low - margin, high + margin


def _axes(frame: _Frame, x_label: str, y_label: str) -> list[str]:
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    parts = [f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="#BCC3CE"/>']
    for tick in ticks(frame.low, frame.high, 5):
        y = frame.y(tick.at)
        parts.append(
            f'<line x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#E4E8EE"/>'
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#1E2127">{escape(tick.label)}</text>'
        )
    for tick in ticks(frame.first, frame.last, 6):
        x = frame.x(tick.at)
        parts.append(
            f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle" fill="#1E2127">{escape(tick.label)}</text>'
        )
    parts.append(f'<text x="{right}" y="{HEIGHT - 6}" text-anchor="end" fill="#646B78">{escape(x_label)}</text>')
    if y_label:
        parts.append(f'<text x="{_LEFT}" y="{HEIGHT - 6}" fill="#646B78">{escape(y_label)}</text>')
    return parts


def _band(frame: _Frame, line: Line) -> str:
    assert line.low is not None and line.high is not None
    known = np.isfinite(line.low) & np.isfinite(line.high)
    shapes = []
    for stretch in _stretches(known):
        there = [f"{frame.x(line.steps[i]):.1f} {frame.y(line.high[i]):.1f}" for i in stretch]
        back = [f"{frame.x(line.steps[i]):.1f} {frame.y(line.low[i]):.1f}" for i in reversed(stretch)]
        shapes.append(f"M{'L'.join(there + back)}Z")
    return f'<path d="{" ".join(shapes)}" fill="{_colour(line)}" fill-opacity="0.18"/>' if shapes else ""


def _curve(frame: _Frame, line: Line) -> str:
    steps, values = _thinned(line.steps, line.values)
    strokes = []
    for stretch in _stretches(np.isfinite(values)):
        points = [f"{frame.x(steps[i]):.1f} {frame.y(values[i]):.1f}" for i in stretch]
        # A line of one point has no length; a round cap makes it a dot.
        strokes.append(f"M{'L'.join(points)}" if len(points) > 1 else f"M{points[0]}h0")
    dash = ' stroke-dasharray="5 4"' if line.dashed else ""
    width = 1 if line.thin else 2
    return (
        f'<path d="{" ".join(strokes)}" fill="none" stroke="{_colour(line)}" stroke-width="{width}" '
        f'stroke-linecap="round" stroke-linejoin="round"{dash}/>'
    )


def _labels(frame: _Frame, lines: Sequence[Line]) -> list[str]:
    """Names at the ends of the lines, pushed apart where they would lie on each other."""
    ends = []
    for line in lines:
        known = np.flatnonzero(np.isfinite(line.values))
        if len(known) and line.label:
            ends.append((frame.y(float(line.values[known[-1]])), line))
    ends.sort(key=lambda end: end[0])
    parts, lowest = [], -math.inf
    for y, line in ends:
        lowest = max(y + 4, lowest + _LABEL_GAP)
        x = WIDTH - _RIGHT + 6
        parts.append(f'<text x="{x}" y="{lowest:.1f}" fill="{_colour(line)}">{escape(line.label)}</text>')
    return parts


def _colour(line: Line) -> str:
    return SERIES_LIGHT[line.slot % len(SERIES_LIGHT)]


def _stretches(known: NDArray[np.bool_]) -> list[range]:
    edges = np.flatnonzero(np.diff(np.concatenate(([False], known, [False])).astype(np.int8)))
    return [range(start, end) for start, end in edges.reshape(-1, 2)]


def _thinned(steps: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Keep of each bucket its first, lowest and highest point and a gap, so that neither spike nor gap is lost."""
    if len(values) <= _POINTS:
        return steps, values
    size = math.ceil(len(values) / (_POINTS / 3))
    keep = set[int]()
    for start in range(0, len(values), size):
        part = values[start : start + size]
        keep.add(start)
        if np.isfinite(part).any():
            keep |= {start + int(np.nanargmin(part)), start + int(np.nanargmax(part))}
        keep |= {start + int(place) for place in np.flatnonzero(~np.isfinite(part))[:1]}
    chosen = sorted(keep | {len(values) - 1})
    return steps[chosen], values[chosen]
