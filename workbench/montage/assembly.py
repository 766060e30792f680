"""Putting the clips of a montage together, in whichever layout was asked for."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import RequestError
from workbench.montage.clips import Clip
from workbench.montage.curve import CurveStrip, read_curve
from workbench.montage.ffmpeg import FilmInfo, probe
from workbench.montage.film import film_frames, write_film
from workbench.montage.grid import grid_frames, write_grid, write_poster
from workbench.montage.request import MontageRequest
from workbench.montage.timing import Timing, work_out
from workbench.storyboard.layout import GridLayout, lay_out

Progress = Callable[[float, str], None]
"""Called with the share done, 0 to 1, and what is being done."""


@dataclass(frozen=True)
class Plan:
    """A montage worked out to the frame and the pixel."""

    timing: Timing
    layout: GridLayout | None
    frames: int
    strip: CurveStrip | None


def plan_montage(request: MontageRequest, clips: Sequence[Clip]) -> Plan:
    """Work out a montage of `clips`.

    Raises:
        RequestError: The clips do not go together.
    """
    _check_sizes(clips)
    timing = work_out(request.pace, clips)
    size = clips[0].info.even_size
    if request.layout == "film":
        layout, frames = None, film_frames(clips, timing)
        unit, place = min(size[0] / 480, size[1] / 360), (size[0], 2 * round(size[1] / 6))
    else:
        layout = lay_out(len(clips), size, columns=_columns(request, clips), strip=request.curve)
        unit, frames = layout.unit, grid_frames(clips, timing)
        place = (0, 0) if layout.strip is None else (layout.strip.width, layout.strip.height)
    strip = None
    if request.curve:
        shown = [clip.shown for clip in clips]
        runs = dict.fromkeys(item.run for item in shown)
        strip = CurveStrip([read_curve(run, shown) for run in runs], place, unit)
    return Plan(timing, layout, frames, strip)


def assemble(request: MontageRequest, clips: Sequence[Clip], path: Path, *, tell: Progress) -> FilmInfo:
    """Write a montage of `clips` to `path` and return what it is; a poster counts as one frame.

    Raises:
        RequestError: The clips do not go together.
        WorkFailedError: ffmpeg failed.
    """
    plan = plan_montage(request, clips)
    doing = f"{'drawing' if request.layout == 'poster' else 'encoding'} {path.name}"
    tell(0.0, doing)
    with tempfile.TemporaryDirectory(prefix="workbench-montage-") as folder:
        scratch = Path(folder)

        def on_frame(frame: int) -> None:
            tell(frame / plan.frames, doing)

        if plan.layout is None:
            write_film(clips, plan.timing, request.style, path, scratch=scratch, strip=plan.strip, on_frame=on_frame)
        elif request.layout == "grid":
            write_grid(clips, plan.timing, plan.layout, path, scratch=scratch, strip=plan.strip, on_frame=on_frame)
        else:
            write_poster(clips, plan.layout, path, moment=request.moment, scratch=scratch, strip=plan.strip)
            return FilmInfo(plan.layout.width, plan.layout.height, plan.timing.fps, 1)
    return probe(path)


def _check_sizes(clips: Sequence[Clip]) -> None:
    first = clips[0]
    for clip in clips:
        if clip.info.size != first.info.size:
            raise RequestError(
                f"the clips differ in size: {first.film} is {first.info.width}x{first.info.height}, "
                f"{clip.film} is {clip.info.width}x{clip.info.height}.",
                hint="Give --size WxH to film them all alike.",
            )


def _columns(request: MontageRequest, clips: Sequence[Clip]) -> int | None:
    """Return the columns asked for; several runs with as many clips each get a row each."""
    if request.columns is not None or len(request.runs) == 1:
        return request.columns
    counts = {run.path: 0 for run in request.runs}
    for clip in clips:
        counts[clip.shown.run.directory.path] += 1
    each = set(counts.values())
    return each.pop() if len(each) == 1 and max(counts.values()) > 1 else None
