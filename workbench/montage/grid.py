"""The grid layout: all clips side by side, started together; and the poster, one picture of it."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

from PIL import Image

from workbench import durable
from workbench.montage.canvas import draw_canvas, draw_ending
from workbench.montage.clips import Clip
from workbench.montage.curve import CurveStrip
from workbench.montage.ffmpeg import COLOURS, encode, still
from workbench.montage.film import steady
from workbench.montage.labels import BACKGROUND
from workbench.montage.timing import Timing
from workbench.storyboard.layout import GridLayout

EARLY_S = 0.25
"""A clip counts as ended early when others play on for longer than this."""


def grid_frames(clips: Sequence[Clip], timing: Timing) -> int:
    """Return how many frames the grid has: those of its longest clip, with the still ones around them."""
    return timing.head + max(timing.body(clip) for clip in clips) + timing.tail


def ends_early(clips: Sequence[Clip], timing: Timing) -> dict[int, int]:
    """Return for each clip that ends well before the longest the frame of the grid at which it has ended."""
    longest = max(timing.body(clip) for clip in clips)
    bodies = {number: timing.body(clip) for number, clip in enumerate(clips)}
    return {number: timing.head + body for number, body in bodies.items() if longest - body > EARLY_S * timing.fps}


def write_grid(
    clips: Sequence[Clip],
    timing: Timing,
    layout: GridLayout,
    film: Path,
    *,
    scratch: Path,
    strip: CurveStrip | None = None,
    on_frame: Callable[[int], None] = lambda frame: None,
) -> None:
    """Encode the grid.

    Args:
        clips: Of one size, row by row.
        timing: Rate and padding.
        layout: Where everything lies.
        film: Where it goes.
        scratch: A folder for pictures.
        strip: What goes into the layout's strip.
        on_frame: Called with the number of frames written so far.

    Raises:
        WorkFailedError: ffmpeg failed.
    """
    canvas = scratch / "canvas.png"
    draw_canvas(layout, clips, strip).save(canvas)
    endings = ends_early(clips, timing)
    veils = []
    for number in endings:
        cell = layout.cells[number]
        veils.append(scratch / f"ending-{number}.png")
        draw_ending((cell.width, cell.height), layout.unit, clips[number]).save(veils[-1])
    dots = [] if strip is None else [scratch / "dot.png"] * len(strip.curves)
    if strip is not None:
        strip.dot.save(dots[0])
    inputs = [*(clip.film for clip in clips), canvas, *veils, *dots]
    graph = grid_graph(clips, timing, layout, endings, strip)
    encode(inputs, graph, film, frames=grid_frames(clips, timing), on_frame=on_frame)


def grid_graph(
    clips: Sequence[Clip],
    timing: Timing,
    layout: GridLayout,
    endings: dict[int, int],
    strip: CurveStrip | None = None,
) -> str:
    """Return the filter graph: inputs are the clips, the canvas, the veils of `endings`, and a dot for each curve."""
    count, frames = len(clips), grid_frames(clips, timing)
    lines: list[str] = []
    for number, (clip, cell) in enumerate(zip(clips, layout.cells, strict=True)):
        # Each holds its last frame to the end, so that the longest one alone decides how long the grid is.
        scale = (cell.width, cell.height)
        lines.append(f"[{number}:v]{steady(clip, timing, head=timing.head, frames=frames, scale=scale)}[c{number}]")
    colour = "0x{:02x}{:02x}{:02x}".format(*BACKGROUND)
    if count > 1:
        places = "|".join(f"{cell.x}_{cell.y}" for cell in layout.cells)
        cells = "".join(f"[c{number}]" for number in range(count))
        lines.append(f"{cells}xstack=inputs={count}:layout={places}:fill={colour}[s]")
    else:
        cell = layout.cells[0]
        lines.append(f"[c0]pad={cell.x + cell.width}:{cell.y + cell.height}:{cell.x}:{cell.y}:{colour}[s]")
    lines.append(f"[s]pad={layout.width}:{layout.height}:0:0:{colour}[w]")
    lines.append(f"[w][{count}:v]overlay=0:0[o]")
    last = "o"
    for place, (number, start) in enumerate(endings.items(), start=1):
        cell = layout.cells[number]
        lines.append(f"[{last}][{count + place}:v]overlay={cell.x}:{cell.y}:enable='gte(n,{start})'[e{place}]")
        last = f"e{place}"
    if strip is not None and layout.strip is not None:
        # While all clips play at once, the dot goes from the first of them to the last.
        span = (timing.head, frames - timing.tail)
        journeys = [list(zip(span, (min(curve.marks), max(curve.marks)), strict=True)) for curve in strip.curves]
        first_dot = count + 1 + len(endings)
        lines.append(strip.filters(journeys, x=layout.strip.x, y=layout.strip.y, source=last, dot=first_dot, out="m"))
        last = "m"
    lines.append(f"[{last}]format=yuv420p,{COLOURS}[out]")
    return ";".join(lines)


def write_poster(
    clips: Sequence[Clip],
    layout: GridLayout,
    picture: Path,
    *,
    moment: float,
    scratch: Path,
    strip: CurveStrip | None = None,
) -> None:
    """Write one picture of the grid.

    Args:
        clips: Of one size, row by row.
        layout: Where everything lies.
        picture: The PNG file, replaced in one step.
        moment: The share of the longest clip at which all are shown, 0 to 1; shorter ones show their end by then.
        scratch: A folder for stills.
        strip: What goes into the layout's strip.

    Raises:
        WorkFailedError: ffmpeg failed.
    """
    poster = Image.new("RGB", (layout.width, layout.height), BACKGROUND)
    longest_s = max(clip.info.duration_s for clip in clips)
    for number, (clip, cell) in enumerate(zip(clips, layout.cells, strict=True)):
        path = scratch / f"still-{number}.png"
        still(clip.film, clip.info, round(moment * longest_s * float(clip.info.fps)), path)
        with Image.open(path) as image:
            shot = image.convert("RGB").resize((cell.width, cell.height), Image.Resampling.LANCZOS)
        if clip.info.duration_s + EARLY_S < moment * longest_s:
            # No veil: in one picture nothing moves, and a darker one would only be harder to see.
            note = draw_ending(shot.size, layout.unit, clip, veil_alpha=0)
            shot.paste(note, mask=note)
        poster.paste(shot, (cell.x, cell.y))
    canvas = draw_canvas(layout, clips, strip)
    poster.paste(canvas, mask=canvas)
    content = io.BytesIO()
    poster.save(content, format="PNG", optimize=True)
    durable.write_bytes(picture, content.getvalue())
