"""The cards that a film opens and ends with: what it shows, and the command that makes it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from PIL import Image, ImageDraw

from workbench.montage.clips import Clip
from workbench.montage.fonts import Font, fitting_font, length, load_font, shorten, write
from workbench.montage.labels import DARK, Colour, Ink
from workbench.montage.timing import Timing

TITLE_S, END_S = 2.0, 3.0
"""How long the cards stand, beside the fades into them and out of them."""
WIDE = 0.86
"""The share of the width that text takes at most."""
TALL = 0.8
SMALLEST_HEADING = 22.0
"""Pixels of a heading in one line, on a card of 480x360."""


def title_frames(timing: Timing) -> int:
    """Return for how many frames a film's title stands."""
    return round(TITLE_S * timing.fps) + timing.transition


def end_frames(timing: Timing) -> int:
    """Return for how many frames the last card stands."""
    return round(END_S * timing.fps) + timing.transition


def draw_title(size: tuple[int, int], title: str, clips: Sequence[Clip], *, ink: Ink = DARK) -> Image.Image:
    """Return the card that a film opens with."""
    return _draw(size, [(title, 34.0, ink.bright), (about(clips), 17.0, ink.muted)], ink)


def draw_end(
    size: tuple[int, int], title: str, clips: Sequence[Clip], command: Sequence[str], *, ink: Ink = DARK
) -> Image.Image:
    """Return the card that a film or grid ends with."""
    head = title or ", ".join(dict.fromkeys(clip.shown.run.environment for clip in clips))
    texts = [(head, 28.0, ink.bright), (about(clips), 15.0, ink.muted), (shlex.join(command), 17.0, ink.accent)]
    return _draw(size, texts, ink)


def about(clips: Sequence[Clip]) -> str:
    """Return in a few words whose clips these are."""
    runs = list(dict.fromkeys(clip.shown.run for clip in clips))
    return runs[0].title if len(runs) == 1 else "  ·  ".join([f"{len(runs)} runs", ", ".join(algorithms(clips))])


def algorithms(clips: Sequence[Clip]) -> list[str]:
    """Return the algorithms that the clips are of."""
    return list(dict.fromkeys(clip.shown.run.algorithm for clip in clips if clip.shown.run.algorithm))


def wrap(text: str, font: Font, width: float) -> list[str]:
    """Return `text` in lines no wider than `width`, broken at spaces; a longer word is cut with an ellipsis."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and length(longer, font) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return [shorten(line, font, width) for line in lines]


def _draw(size: tuple[int, int], texts: Sequence[tuple[str, float, Colour]], ink: Ink) -> Image.Image:
    """Draw paragraphs in the middle of a card, smaller where they would not fit."""
    width, height = size
    unit = min(width / 480, height / 360)
    while True:
        rows: list[tuple[str, Font, Colour, float]] = []
        for place, (text, px, colour) in enumerate(texts):
            font = load_font(px * unit, ink.font)
            if place == 0:
                # A heading stays in one line while it is the largest thing there, and is wrapped then.
                smaller = fitting_font(text, px * unit, width * WIDE, ink.font)
                font = (
                    smaller if smaller.size > SMALLEST_HEADING * unit else load_font(SMALLEST_HEADING * unit, ink.font)
                )
            gap = 0.6 * px * unit if place else 0.0
            for line in wrap(text, font, width * WIDE):
                rows.append((line, font, colour, gap))
                gap = 0.0
        tall = sum(sum(font.getmetrics()) + gap for _, font, _, gap in rows)
        if tall <= height * TALL or unit * 15 <= 8:
            break
        unit *= 0.92
    card = Image.new("RGB", size, ink.background)
    draw = ImageDraw.Draw(card)
    y = max(0.0, (height - tall) / 2)
    for line, font, colour, gap in rows:
        y += gap
        write(draw, (width / 2, y), line, font=font, fill=colour, anchor="ma")
        y += sum(font.getmetrics())
    return card
