"""What stands around the clips of a grid: background, title, captions, and the notes on clips that ended early."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw

from workbench.montage.clips import Clip, common_seed
from workbench.montage.curve import CurveStrip
from workbench.montage.labels import (
    ACCENT,
    BACKGROUND,
    BAR,
    BRIGHT,
    MUTED,
    Colour,
    Font,
    fitting_font,
    load_font,
    return_text,
    shorten,
    steps_text,
)
from workbench.storyboard.layout import Box, GridLayout
from workbench.storyboard.selection import FilmedRun

Words = Sequence[tuple[str, Colour]]
VEIL_ALPHA = 96
"""How much a clip that ended is darkened, of 255."""
SPACE = "   "


def draw_canvas(
    layout: GridLayout, clips: Sequence[Clip], strip: CurveStrip | None = None, *, title: str = ""
) -> Image.Image:
    """Return the whole picture with the cells left transparent, under a title or the environment's name."""
    canvas = Image.new("RGBA", (layout.width, layout.height), (*BACKGROUND, 255))
    draw = ImageDraw.Draw(canvas)
    _draw_title(draw, layout, clips, title)
    names = _names(clips)
    tells_seed = common_seed(clips) is None
    for box, cell, clip in zip(layout.captions, layout.cells, clips, strict=True):
        draw.rectangle(box.corners, fill=(*BAR, 255))
        _draw_caption(draw, box, layout.unit, clip, name=names[clip.shown.run], tells_seed=tells_seed)
        draw.rectangle(cell.corners, fill=(0, 0, 0, 0))
    if strip is not None and layout.strip is not None:
        canvas.paste(strip.draw(), (layout.strip.x, layout.strip.y))
    return canvas


def draw_ending(size: tuple[int, int], unit: float, clip: Clip, *, veil_alpha: int = VEIL_ALPHA) -> Image.Image:
    """Return what lies over a clip once it ended while others go on: a veil and why it ended."""
    veil = Image.new("RGBA", size, (*BACKGROUND, veil_alpha))
    text = ending_text(clip)
    if text:
        font = fitting_font(text, 16 * unit, size[0] * 0.8)
        draw = ImageDraw.Draw(veil)
        pad, height = round(10 * unit), sum(font.getmetrics())
        width = round(font.getlength(text)) + 2 * pad
        left, top = (size[0] - width) // 2, size[1] - height - round(26 * unit)
        plate = (left, top, left + width, top + height + round(10 * unit))
        draw.rounded_rectangle(plate, radius=round(6 * unit), fill=(*BACKGROUND, 235))
        draw.text(((plate[0] + plate[2]) / 2, (plate[1] + plate[3]) / 2), text, font=font, fill=BRIGHT, anchor="mm")
    return veil


def ending_text(clip: Clip) -> str:
    """Return why and when a clip's episode ended, in words."""
    episodes = () if clip.sidecar is None else clip.sidecar.episodes
    if len(episodes) != 1:
        return ""
    reason = (clip.ending or "ended").replace("_", " ")
    return reason if episodes[0].length is None else f"{reason} after {steps_text(episodes[0].length)} steps"


def _draw_title(draw: ImageDraw.ImageDraw, layout: GridLayout, clips: Sequence[Clip], title: str) -> None:
    box, unit = layout.title, layout.unit
    runs = list(dict.fromkeys(clip.shown.run.directory.path for clip in clips))
    environments = list(dict.fromkeys(clip.shown.run.environment for clip in clips))
    run = clips[0].shown.run.directory
    which = f"{run.algorithm.upper()}{SPACE}{run.short_id}" if len(runs) == 1 else f"{len(runs)} runs"
    detail = f"{', '.join(environments)}{SPACE}{which}" if title else which
    seed = common_seed(clips)
    note = "" if seed is None else f"seed {steps_text(seed)}"
    small = load_font(17 * unit)
    middle = box.y + box.height / 2
    draw.text((box.x + box.width, middle), note, font=small, fill=MUTED, anchor="rm")
    room = box.width - small.getlength(note + SPACE)
    name = title or ", ".join(environments)
    large = fitting_font(name, 26 * unit, room * 0.75)
    name = shorten(name, large, room * 0.75)
    draw.text((box.x, middle), name, font=large, fill=BRIGHT, anchor="lm")
    start = large.getlength(name + SPACE)
    draw.text((box.x + start, middle), shorten(detail, small, room - start), font=small, fill=MUTED, anchor="lm")


def _names(clips: Sequence[Clip]) -> dict[FilmedRun, str]:
    """Return what tells each run from the others; nothing for one alone."""
    runs = list(dict.fromkeys(clip.shown.run for clip in clips))
    if len(runs) == 1:
        return {runs[0]: ""}
    parts = {run: (run.environment, run.directory.algorithm.upper(), run.directory.short_id) for run in runs}
    differ = [len(set(values)) > 1 for values in zip(*parts.values(), strict=True)]
    return {run: " ".join(part for part, told in zip(parts[run], differ, strict=True) if told) for run in runs}


def _draw_caption(draw: ImageDraw.ImageDraw, box: Box, unit: float, clip: Clip, *, name: str, tells_seed: bool) -> None:
    shown = clip.shown
    left: list[tuple[str, Colour]] = []
    if name:
        left.append((f"{name}{SPACE}", MUTED))
    left.append((f"step {steps_text(shown.steps)}", BRIGHT))
    if tells_seed and clip.sidecar is not None and clip.sidecar.seed is not None:
        left.append((f"{SPACE}seed {steps_text(clip.sidecar.seed)}", MUTED))
    right: list[tuple[str, Colour]] = []
    if clip.return_ is not None:
        right.append((f"return {return_text(clip.return_)}", ACCENT))
    if shown.evaluation_mean is not None:
        right.append((f"{SPACE if right else ''}mean {return_text(shown.evaluation_mean)}", MUTED))
    pad = round(12 * unit)
    room = box.width - 2 * pad
    # What does not fit at a readable size goes: first the mean, then everything gets smaller.
    if len(right) == 2 and _width([*left, *right], load_font(15 * unit)) > room:
        right.pop()
    font = fitting_font(_text([*left, (SPACE, BRIGHT), *right]), 19 * unit, room)
    middle = box.y + box.height / 2
    _draw_words(draw, box.x + pad, middle, left, font)
    _draw_words(draw, box.x + box.width - pad - _width(right, font), middle, right, font)


def _draw_words(draw: ImageDraw.ImageDraw, x: float, y: float, words: Words, font: Font) -> None:
    for text, colour in words:
        draw.text((x, y), text, font=font, fill=colour, anchor="lm")
        x += font.getlength(text)


def _width(words: Words, font: Font) -> float:
    return sum(font.getlength(text) for text, _ in words)


def _text(words: Words) -> str:
    return "".join(text for text, _ in words)
