"""The strip under a montage: the return curves of its runs, where its clips lie on them, and a dot that moves along."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from PIL import Image, ImageDraw

from workbench.errors import NotFoundError
from workbench.montage.fonts import length, load_font, write
from workbench.montage.labels import DARK, Colour, Ink, return_text, steps_text
from workbench.storyboard.selection import FilmedRun, Shown, run_names

RETURN_METRIC = "rollout/ep_rew_mean"
PIECES = 24
"""How many straight pieces a dot's way between two clips is made of."""
SHARPNESS = 3
"""How much larger lines are drawn than shown, so that they are smooth."""

Journey = Sequence[tuple[float, float]]
"""Frames of the film, rising, and the steps that the dot is at by then."""


@dataclass(frozen=True)
class Curve:
    """Returns of one run by step, and which steps the montage shows."""

    run: FilmedRun
    steps: tuple[float, ...]
    returns: tuple[float, ...]
    marks: tuple[int, ...]

    def at(self, steps: float) -> float:
        """Return the return at a step count, between two known ones along the line."""
        return float(np.interp(steps, self.steps, self.returns))


def read_curve(run: FilmedRun, shown: Sequence[Shown]) -> Curve:
    """Return a run's curve: evaluations where there are two, else the training returns.

    Raises:
        NotFoundError: The run has neither.
    """
    from workbench.runs import History

    history = History(run.directory)
    history.refresh()
    points = [(item.steps, item.mean_return) for item in history.evaluations]
    series = history.series.get(RETURN_METRIC)
    if len(_finite(points)) < 2 and series is not None:
        points = list(zip(series.steps.tolist(), series.values.tolist(), strict=True))
    known = _finite(points)
    if len(known) < 2:
        raise NotFoundError(f"{run.directory.name} has no returns to draw a curve from.", hint="Leave out --curve.")
    return Curve(
        run=run,
        steps=tuple(steps for steps, _ in known),
        returns=tuple(value for _, value in known),
        marks=tuple(item.steps for item in shown if item.run == run),
    )


class CurveStrip:
    """The curves as a picture, and where on it a step count lies.

    Args:
        curves: One a run.
        size: Width and height in pixels.
        unit: The scale of text and lines, 1 for cells of 360 rows.
        ink: Its colours and font.
    """

    def __init__(self, curves: Sequence[Curve], size: tuple[int, int], unit: float, *, ink: Ink = DARK) -> None:
        self.curves = tuple(curves)
        self.size = size
        self.unit = unit
        self.ink = ink
        low = min(min(curve.returns) for curve in curves)
        high = max(max(curve.returns) for curve in curves)
        self._low, self._high = (low, high) if high > low else (low - 0.5, high + 0.5)
        self._last = max(1.0, *(max(*curve.steps, *curve.marks) for curve in curves))
        font = load_font(13 * unit, ink.font)
        left = max(length(return_text(value), font) for value in (self._low, self._high))
        self._font = font
        self._left, self._right = left + 12 * unit, size[0] - 16 * unit
        self._top, self._bottom = 12 * unit, size[1] - 28 * unit

    def point(self, curve: Curve, steps: float) -> tuple[float, float]:
        """Return where on the picture a curve is at a step count."""
        return self._place(steps, curve.at(steps))

    @property
    def colours(self) -> dict[FilmedRun, Colour]:
        """The colour of each run."""
        known = self.ink.curves
        return {curve.run: known[number % len(known)] for number, curve in enumerate(self.curves)}

    @cached_property
    def dots(self) -> tuple[Image.Image, ...]:
        """The dot that moves along each curve, in its colour where there are several."""
        alone = len(self.curves) == 1
        return tuple(self._dot(self.ink.bright if alone else colour) for colour in self.colours.values())

    def _dot(self, colour: Colour) -> Image.Image:
        side = 2 * round(7 * self.unit) + 1
        large = Image.new("RGBA", (side * SHARPNESS,) * 2)
        edge = side * SHARPNESS - 1
        draw = ImageDraw.Draw(large)
        for share, fill in ((0.0, self.ink.background), (0.13, self.ink.bright), (0.28, colour)):
            inset = round(share * edge)
            draw.ellipse((inset, inset, edge - inset, edge - inset), fill=(*fill, 255))
        return large.resize((side, side), Image.Resampling.LANCZOS)

    def draw(self) -> Image.Image:
        """Return the picture without the dot."""
        large = Image.new("RGB", (self.size[0] * SHARPNESS, self.size[1] * SHARPNESS), self.ink.background)
        draw = ImageDraw.Draw(large)
        for share in (0.0, 0.5, 1.0):
            y = (self._top + share * (self._bottom - self._top)) * SHARPNESS
            line = (self._left * SHARPNESS, y, self._right * SHARPNESS, y)
            draw.line(line, fill=_blend(self.ink.muted, self.ink.background, 0.25), width=SHARPNESS)
        for curve, colour in zip(self.curves, self.colours.values(), strict=True):
            way = [self._place(steps, value) for steps, value in zip(curve.steps, curve.returns, strict=True)]
            scaled = [(x * SHARPNESS, y * SHARPNESS) for x, y in way]
            draw.line(scaled, fill=colour, width=round(2.4 * self.unit * SHARPNESS), joint="curve")
            radius = 4 * self.unit * SHARPNESS
            for steps in curve.marks:
                x, y = (value * SHARPNESS for value in self.point(curve, steps))
                around = (x - radius, y - radius, x + radius, y + radius)
                draw.ellipse(around, fill=colour, outline=self.ink.background, width=SHARPNESS)
        strip = large.resize(self.size, Image.Resampling.LANCZOS)
        self._write(ImageDraw.Draw(strip))
        return strip

    def filters(self, journeys: Sequence[Journey], *, x: int, y: int, source: str, dot: int, out: str) -> str:
        """Return the filters that move a dot along each curve.

        Args:
            journeys: One a curve.
            x: Where the strip begins on the film.
            y: Likewise.
            source: The stream it is laid on.
            dot: The number of the first input that holds a dot; one a curve.
            out: The stream that comes out.
        """
        lines = []
        for number, (curve, journey) in enumerate(zip(self.curves, journeys, strict=True)):
            way = [(frame, *self.point(curve, steps)) for frame, steps in _in_pieces(journey)]
            half = self.dots[number].width / 2
            across = moving([(frame, x + px - half) for frame, px, _ in way])
            down = moving([(frame, y + py - half) for frame, _, py in way])
            target = out if number == len(self.curves) - 1 else f"{out}{number}"
            lines.append(f"[{source}][{dot + number}:v]overlay=x='{across}':y='{down}'[{target}]")
            source = target
        return ";".join(lines)

    def _place(self, steps: float, value: float) -> tuple[float, float]:
        share = (value - self._low) / (self._high - self._low)
        x = self._left + steps / self._last * (self._right - self._left)
        return x, self._bottom - share * (self._bottom - self._top)

    def _write(self, draw: ImageDraw.ImageDraw) -> None:
        edge, muted = self._left - 8 * self.unit, self.ink.muted
        for y, value in ((self._top, self._high), (self._bottom, self._low)):
            write(draw, (edge, y), return_text(value), font=self._font, fill=muted, anchor="rm")
        under = self._bottom + 15 * self.unit
        last = steps_text(round(self._last))
        write(draw, (self._right, under), last, font=self._font, fill=muted, anchor="rm")
        words = [("return by step", muted)]
        if len(self.curves) > 1:
            names = run_names(list(self.colours))
            words = [*((names[run], colour) for run, colour in self.colours.items()), *words]
        x, end = self._left, self._right - length(f"{last}    ", self._font)
        for text, colour in words:
            if x + length(text, self._font) > end:
                break
            write(draw, (x, under), text, font=self._font, fill=colour, anchor="lm")
            x += length(f"{text}    ", self._font)


def moving(way: Sequence[tuple[float, float]]) -> str:
    """Return an ffmpeg expression of the frame number `n` that goes straight from each point of `way` to the next."""
    terms = [f"{way[0][1]:.2f}"]
    for (start, value), (end, following) in pairwise(way):
        if following != value and end > start:
            terms.append(f"({following - value:.3f})*clip((n-{start:.2f})/{end - start:.2f},0,1)")
    return "+".join(terms)


def _in_pieces(journey: Journey) -> list[tuple[float, float]]:
    pieces = [journey[0]]
    for (start, steps), (end, following) in pairwise(journey):
        count = PIECES if following != steps else 1
        for piece in range(1, count + 1):
            share = piece / count
            pieces.append((start + share * (end - start), steps + share * (following - steps)))
    return pieces


def _finite(points: Sequence[tuple[float, float | None]]) -> list[tuple[float, float]]:
    return sorted((steps, value) for steps, value in points if value is not None and math.isfinite(value))


def _blend(colour: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = (round(b + (a - b) * share) for a, b in zip(colour, other, strict=True))
    return red, green, blue
