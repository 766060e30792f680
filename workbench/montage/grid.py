"""The grid layout: all clips side by side, started together; and the poster, one picture of it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from workbench import durable
from workbench.montage.canvas import draw_canvas, draw_ending
from workbench.montage.cards import draw_end, end_frames
from workbench.montage.clips import Clip
from workbench.montage.ffmpeg import COLOURS, encode, still
from workbench.montage.film import YUV, steady
from workbench.montage.joining import held, join, joined_frames, lead
from workbench.montage.plan import PDF_SCALE, OnFrame, Plan
from workbench.montage.timing import Timing
from workbench.storyboard.layout import Box, GridLayout

EARLY_S = 0.25
"""A clip counts as ended early when others play on for longer than this."""
PDF_DPI = 144 * PDF_SCALE
"""Pixels an inch of a poster on paper."""


def grid_frames(plan: Plan) -> int:
    """Return how many frames the grid has: those of its longest clip with the still ones around them, and the end."""
    return joined_frames(_lengths(plan), plan.timing)


def ends_early(clips: Sequence[Clip], timing: Timing) -> dict[int, int]:
    """Return for each clip that ends well before the longest the frame of the grid at which it has ended."""
    longest = max(timing.body(clip) for clip in clips)
    bodies = {number: timing.body(clip) for number, clip in enumerate(clips)}
    return {number: timing.head + body for number, body in bodies.items() if longest - body > EARLY_S * timing.fps}


def write_grid(plan: Plan, path: Path, *, scratch: Path, on_frame: OnFrame = lambda frame: None) -> None:
    """Encode the grid; see `Writer`."""
    layout, clips, strip = _laid_out(plan), plan.clips, plan.strip
    endings = ends_early(clips, plan.timing)
    canvas = draw_canvas(layout, clips, strip, title=plan.title, ink=plan.ink).convert("RGB")
    # Only what is written on goes into the film: to lay all of the canvas over each frame takes as long as encoding.
    pictures = [canvas.crop(_edges(box)) for box in _written(layout)]
    for number in endings:
        cell = layout.cells[number]
        pictures.append(draw_ending((cell.width, cell.height), layout.unit, clips[number], ink=plan.ink))
    pictures += [] if strip is None else strip.dots
    if plan.end_words:
        pictures.append(draw_end(plan.size, plan.title, clips, plan.end_words, ink=plan.ink))
    files = [scratch / f"picture-{number}.png" for number in range(len(pictures))]
    for picture, file in zip(pictures, files, strict=True):
        picture.save(file)
    encode(
        [*(clip.film for clip in clips), *files],
        grid_graph(plan, endings),
        path,
        frames=grid_frames(plan),
        size=plan.size,
        scratch=scratch,
        on_frame=on_frame,
    )


def grid_graph(plan: Plan, endings: dict[int, int]) -> str:
    """Return the filter graph: inputs are the clips, what is written, veils, a dot for each curve, the last card.

    Args:
        plan: The grid.
        endings: The clips that get a veil, and from which frame on.
    """
    layout, clips, timing, strip = _laid_out(plan), plan.clips, plan.timing, plan.strip
    lengths = _lengths(plan)
    count, frames = len(clips), lengths[0]
    lines: list[str] = []
    for number, (clip, cell) in enumerate(zip(clips, layout.cells, strict=True)):
        # Each holds its last frame to the end, so that the longest one alone decides how long the grid is.
        scale = (cell.width, cell.height)
        lines.append(f"[{number}:v]{steady(clip, timing, head=timing.head, frames=frames, scale=scale)}[c{number}]")
    colour = "0x{:02x}{:02x}{:02x}".format(*plan.ink.background)
    written = _written(layout)
    pictures = range(count, count + len(written))
    lines += [f"[{number}:v]{held(1, timing)},{YUV}[c{number}]" for number in pictures]
    boxes = [*layout.cells, *written]
    places = "|".join(f"{box.x}_{box.y}" for box in boxes)
    cells = "".join(f"[c{number}]" for number in range(len(boxes)))
    lines.append(f"{cells}xstack=inputs={len(boxes)}:layout={places}:fill={colour}[o]")
    overlays = len(boxes)
    last = "o"
    for place, (number, start) in enumerate(endings.items()):
        cell = layout.cells[number]
        lines.append(f"[{last}][{overlays + place}:v]overlay={cell.x}:{cell.y}:enable='gte(n,{start})'[e{place}]")
        last = f"e{place}"
    if strip is not None and layout.strip is not None:
        # While all clips play at once, the dot goes from the first of them to the last.
        span = (timing.head, frames - timing.tail)
        journeys = [list(zip(span, (min(curve.marks), max(curve.marks)), strict=True)) for curve in strip.curves]
        first_dot = overlays + len(endings)
        lines.append(strip.filters(journeys, x=layout.strip.x, y=layout.strip.y, source=last, dot=first_dot, out="m"))
        last = "m"
    if plan.end_words:
        picture = overlays + len(endings) + (0 if strip is None else len(strip.curves))
        lines.append(f"[{last}]format=yuv420p,setsar=1[g]")
        lines.append(f"[{picture}:v]{held(lengths[1] + lead(1, timing), timing)},{YUV}[end]")
        joining, last = join(["g", "end"], lengths, timing)
        lines += joining
    lines.append(f"[{last}]format=yuv420p,{COLOURS}[out]")
    return ";".join(lines)


def _lengths(plan: Plan) -> list[int]:
    timing = plan.timing
    playing = timing.head + max(timing.body(clip) for clip in plan.clips) + timing.tail
    return [playing, *([end_frames(timing)] if plan.end_words else [])]


def _written(layout: GridLayout) -> list[Box]:
    """Return the parts of the canvas that hold more than its colour, and its last corner, which makes it whole."""
    corner = Box(layout.width - 2, layout.height - 2, 2, 2)
    return [layout.title, *layout.captions, *([] if layout.strip is None else [layout.strip]), corner]


def _edges(box: Box) -> tuple[int, int, int, int]:
    return box.x, box.y, box.x + box.width, box.y + box.height


def _laid_out(plan: Plan) -> GridLayout:
    assert plan.layout is not None, "a grid has a layout"
    return plan.layout


def write_poster(plan: Plan, path: Path, *, scratch: Path, on_frame: OnFrame = lambda frame: None) -> None:
    """Write one picture of the grid, as PNG or PDF; see `Writer`."""
    layout, clips = _laid_out(plan), plan.clips
    poster = Image.new("RGB", plan.size, plan.ink.background)
    longest_s = max(clip.info.duration_s for clip in clips)
    for number, (clip, cell) in enumerate(zip(clips, layout.cells, strict=True)):
        file = scratch / f"still-{number}.png"
        still(clip.film, clip.info, round(plan.moment * longest_s * float(clip.info.fps)), file)
        with Image.open(file) as image:
            shot = image.convert("RGB").resize((cell.width, cell.height), Image.Resampling.LANCZOS)
        if clip.info.duration_s + EARLY_S < plan.moment * longest_s:
            # No veil: in one picture nothing moves, and a darker one would only be harder to see.
            note = draw_ending(shot.size, layout.unit, clip, veil_alpha=0, ink=plan.ink)
            shot.paste(note, mask=note)
        poster.paste(shot, (cell.x, cell.y))
    canvas = draw_canvas(layout, clips, plan.strip, title=plan.title, ink=plan.ink)
    poster.paste(canvas, mask=canvas)
    content = io.BytesIO()
    if path.suffix.lower() == ".pdf":
        # Pillow puts photographs into a PDF as JPEG; at this quality the text on them stays sharp.
        poster.save(content, format="PDF", resolution=PDF_DPI, quality=95, subsampling=0, title=plan.title or path.stem)
    else:
        poster.save(content, format="PNG", optimize=True)
    durable.write_bytes(path, content.getvalue())
    on_frame(1)
