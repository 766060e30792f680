"""Putting the clips of a montage together, in whichever layout was asked for."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.errors import RequestError
from workbench.montage.clips import Clip
from workbench.montage.curve import CurveStrip, read_curve
from workbench.montage.ffmpeg import GIF_MOST_FPS, FilmInfo, probe
from workbench.montage.film import film_frames, write_film
from workbench.montage.fonts import font_for
from workbench.montage.grid import grid_frames, write_grid, write_poster
from workbench.montage.labels import DARK, LIGHT, Ink
from workbench.montage.plan import PDF_SCALE, Plan, Writer
from workbench.montage.request import Layout, MontageRequest
from workbench.montage.timing import work_out
from workbench.storyboard.arrangement import Place
from workbench.storyboard.layout import FILM_PIXELS, LONGEST_SIDE, POSTER_PIXELS, STRIP, lay_out

LARGER = 1.25
"""How much larger text may be under cells than above them."""

Progress = Callable[[float, str], None]
"""Called with the share done, 0 to 1, and what is being done."""


WRITERS: Mapping[Layout, Writer] = {"film": write_film, "grid": write_grid, "poster": write_poster}


def plan_montage(request: MontageRequest, clips: Sequence[Clip], places: Sequence[Place] | None = None) -> Plan:
    """Work out a montage of `clips`.

    Args:
        request: What was asked for.
        clips: What it shows.
        places: Row and column of each in a grid, where they mean something.

    Raises:
        RequestError: The clips do not go together.
    """
    _check_sizes(clips)
    fastest = GIF_MOST_FPS if request.suffix == ".gif" else None
    timing = work_out(request.pace, clips, most_fps=fastest)
    size = clips[0].info.even_size
    ink = _ink(request)
    if request.layout == "film":
        layout = None
        unit, place = min(size[0] / 480, size[1] / 360), (size[0], 2 * round(size[1] / 6))
    else:
        most = POSTER_PIXELS if request.layout == "poster" else FILM_PIXELS
        scale = PDF_SCALE if request.suffix == ".pdf" else 1
        layout = lay_out(
            len(clips),
            (scale * size[0], scale * size[1]),
            columns=request.columns,
            strip=request.curve,
            places=places,
            most_pixels=most * scale**2,
            longest_side=LONGEST_SIDE * scale,
        )
        place = (0, 0) if layout.strip is None else (layout.strip.width, layout.strip.height)
        # Its text grows with the strip, and is still that of captions.
        unit = min(place[1] / STRIP, LARGER * layout.unit)
    strip = None
    if request.curve:
        shown = [clip.shown for clip in clips]
        runs = dict.fromkeys(item.run for item in shown)
        strip = CurveStrip([read_curve(run, shown) for run in runs], place, unit, ink=ink)
    return Plan(
        clips=tuple(clips),
        timing=timing,
        style=replace(request.style, font=ink.font),
        ink=ink,
        layout=layout,
        strip=strip,
        moment=request.moment,
        title=request.title,
        end_words=_without_output(request.command) if request.end_card else (),
    )


def assemble(plan: Plan, layout: Layout, path: Path, *, tell: Progress) -> FilmInfo:
    """Write a montage to `path` and return what it is; a poster counts as one frame.

    Raises:
        WorkFailedError: ffmpeg failed.
    """
    frames = {"film": film_frames, "grid": grid_frames}[layout](plan) if layout != "poster" else 1
    doing = f"{'drawing' if layout == 'poster' else 'encoding'} {path.name}"
    tell(0.0, doing)
    with tempfile.TemporaryDirectory(prefix="workbench-montage-") as folder:
        WRITERS[layout](plan, path, scratch=Path(folder), on_frame=lambda frame: tell(frame / frames, doing))
    if path.suffix.lower() == ".mp4":
        return probe(path)
    # ffmpeg reads no animated WebP, so what is no MP4 is told from the plan.
    return FilmInfo(*plan.size, plan.timing.fps, frames)


def _ink(request: MontageRequest) -> Ink:
    """Return how the whole is written: a poster is a page, as light as its pictures; films are shown on screens."""
    is_page = request.layout == "poster" and request.theme != "dark"
    return replace(LIGHT if is_page else DARK, font=font_for(request.title, request.style.font))


def _without_output(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command without where its file goes, which tells nobody else anything."""
    place = words.index("--output") if "--output" in words else len(words)
    return words[:place] + words[place + 2 :]


def _check_sizes(clips: Sequence[Clip]) -> None:
    first = clips[0]
    for clip in clips:
        if clip.info.size != first.info.size:
            raise RequestError(
                f"the clips differ in size: {first.film} is {first.info.width}x{first.info.height}, "
                f"{clip.film} is {clip.info.width}x{clip.info.height}.",
                hint="Give --size WxH to film them all alike.",
            )
