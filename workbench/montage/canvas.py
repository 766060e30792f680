"""What stands around the clips of a grid: background, title, captions, and the notes on clips that ended early."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw

from workbench.montage.clips import Clip, common_seed
from workbench.montage.curve import CurveStrip
from workbench.montage.fonts import Font, fitting_font, length, load_font, shorten, write
from workbench.montage.labels import DARK, Colour, Ink, return_text, steps_text
from workbench.storyboard.layout import Box, GridLayout
from workbench.storyboard.selection import run_names

Words = Sequence[tuple[str, Colour]]
VEIL_ALPHA = 96
"""How much a clip that ended is darkened, of 255."""
SPACE = "   "


def draw_canvas(
    layout: GridLayout, clips: Sequence[Clip], strip: CurveStrip | None = None, *, title: str = "", ink: Ink = DARK
) -> Image.Image:
    """Return the whole picture with the cells left transparent, under a title or the environment's name."""
    canvas = Image.new("RGBA", (layout.width, layout.height), (*ink.background, 255))
    draw = ImageDraw.Draw(canvas)
    _draw_title(draw, layout, clips, title, ink)
    names = run_names([clip.shown.run for clip in clips])
    colours = {} if strip is None else strip.colours
    tells_seed = common_seed(clips) is None
    for box, cell, clip in zip(layout.captions, layout.cells, clips, strict=True):
        draw.rectangle(box.corners, fill=(*ink.bar, 255))
        run = clip.shown.run
        name = (names[run], colours.get(run, ink.muted))
        _draw_caption(draw, box, layout.unit, clip, name=name, tells_seed=tells_seed, ink=ink)
        draw.rectangle(cell.corners, fill=(0, 0, 0, 0))
    if strip is not None and layout.strip is not None:
        canvas.paste(strip.draw(), (layout.strip.x, layout.strip.y))
    return canvas


def draw_ending(
    size: tuple[int, int], unit: float, clip: Clip, *, veil_alpha: int = VEIL_ALPHA, ink: Ink = DARK
) -> Image.Image:
    """Return what lies over a clip once it ended while others go on: a veil and why it ended."""
    veil = Image.new("RGBA", size, (*ink.background, veil_alpha))
    text = ending_text(clip)
    if text:
        font = fitting_font(text, 16 * unit, size[0] * 0.8, ink.font)
        draw = ImageDraw.Draw(veil)
        pad, height = round(10 * unit), sum(font.getmetrics())
        width = round(length(text, font)) + 2 * pad
        left, top = (size[0] - width) // 2, size[1] - height - round(26 * unit)
        plate = (left, top, left + width, top + height + round(10 * unit))
        draw.rounded_rectangle(plate, radius=round(6 * unit), fill=(*ink.background, 235))
        write(
            draw, ((plate[0] + plate[2]) / 2, (plate[1] + plate[3]) / 2), text, font=font, fill=ink.bright, anchor="mm"
        )
    return veil


def ending_text(clip: Clip) -> str:
    """Return why and when a clip's episode ended, in words."""
    episodes = () if clip.sidecar is None else clip.sidecar.episodes
    if len(episodes) != 1:
        return ""
    reason = (clip.ending or "ended").replace("_", " ")
    return reason if episodes[0].length is None else f"{reason} after {steps_text(episodes[0].length)} steps"


def _draw_title(draw: ImageDraw.ImageDraw, layout: GridLayout, clips: Sequence[Clip], title: str, ink: Ink) -> None:
    box, unit = layout.title, layout.unit
    runs = list(dict.fromkeys(clip.shown.run for clip in clips))
    environments = list(dict.fromkeys(run.environment for run in runs))
    which = SPACE.join(runs[0].words) if len(runs) == 1 else f"{len(runs)} runs"
    detail = f"{', '.join(environments)}{SPACE}{which}" if title else which
    seed = common_seed(clips)
    note = "" if seed is None else f"episode seed {steps_text(seed)}"
    small = load_font(17 * unit, ink.font)
    middle = box.y + box.height / 2
    write(draw, (box.x + box.width, middle), note, font=small, fill=ink.muted, anchor="rm")
    room = box.width - length(note + SPACE, small)
    name = title or ", ".join(environments)
    large = fitting_font(name, 26 * unit, room * 0.75, ink.font)
    name = shorten(name, large, room * 0.75)
    write(draw, (box.x, middle), name, font=large, fill=ink.bright, anchor="lm")
    start = length(name + SPACE, large)
    write(draw, (box.x + start, middle), shorten(detail, small, room - start), font=small, fill=ink.muted, anchor="lm")


def _draw_caption(
    draw: ImageDraw.ImageDraw,
    box: Box,
    unit: float,
    clip: Clip,
    *,
    name: tuple[str, Colour],
    tells_seed: bool,
    ink: Ink,
) -> None:
    shown = clip.shown
    left: list[tuple[str, Colour]] = []
    if name[0]:
        left.append((f"{name[0]}{SPACE}", name[1]))
    left.append((f"step {steps_text(shown.steps)}", ink.bright))
    if tells_seed and clip.sidecar is not None and clip.sidecar.seed is not None:
        left.append((f"{SPACE}episode seed {steps_text(clip.sidecar.seed)}", ink.muted))
    right: list[tuple[str, Colour]] = []
    if clip.return_ is not None:
        right.append((f"return {return_text(clip.return_)}", ink.accent))
    if shown.evaluation_mean is not None:
        right.append((f"{SPACE if right else ''}eval {return_text(shown.evaluation_mean)}", ink.muted))
    pad = round(12 * unit)
    room = box.width - 2 * pad
    # What does not fit at a readable size goes: first the evaluation, then everything gets smaller.
    if len(right) == 2 and _width([*left, *right], load_font(15 * unit, ink.font)) > room:
        right.pop()
    font = fitting_font(_text([*left, (SPACE, ink.bright), *right]), 19 * unit, room, ink.font)
    middle = box.y + box.height / 2
    _draw_words(draw, box.x + pad, middle, left, font)
    _draw_words(draw, box.x + box.width - pad - _width(right, font), middle, right, font)


def _draw_words(draw: ImageDraw.ImageDraw, x: float, y: float, words: Words, font: Font) -> None:
    for text, colour in words:
        write(draw, (x, y), text, font=font, fill=colour, anchor="lm")
        x += length(text, font)


def _width(words: Words, font: Font) -> float:
    return sum(length(text, font) for text, _ in words)


def _text(words: Words) -> str:
    return "".join(text for text, _ in words)
