"""Making a montage: choose checkpoints, find or film their clips, put them together, and say how it was made."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench.errors import RequestError, WorkFailedError
from workbench.montage.clips import (
    Clip,
    RecordCommand,
    Wanted,
    clip_path,
    film_clips,
    find_clips,
    find_leftovers,
    missing_clip,
    record_command,
)
from workbench.montage.curve import CurveStrip, read_curve
from workbench.montage.ffmpeg import FilmInfo, probe
from workbench.montage.film import film_frames, write_film
from workbench.montage.grid import grid_frames, write_grid, write_poster
from workbench.montage.labels import LabelStyle, steps_text
from workbench.montage.layout import GridLayout, lay_out
from workbench.montage.selection import Choice, Shown, choose, describe_run
from workbench.montage.timing import Pace, Timing, work_out
from workbench.project import Project
from workbench.runs import RunDirectory
from workbench.runs.recordings import EpisodeResult, JobReport, Sidecar, read_sidecar, recording_path

Layout = Literal["film", "grid", "poster"]
ThemeName = Literal["light", "dark"]

SUFFIXES: dict[Layout, str] = {"film": ".mp4", "grid": ".mp4", "poster": ".png"}
ENCODING_WEIGHT = 1.0
"""How much of the work putting together is, against filming one clip."""


@dataclass(frozen=True)
class MontageRequest:
    """What a montage is asked to show and how."""

    runs: tuple[RunDirectory, ...]
    layout: Layout = "film"
    choice: Choice = dataclasses.field(default_factory=Choice)
    generate_missing: bool = True
    """Whether checkpoints without a film are filmed now."""
    columns: int | None = None
    """Of a grid or poster; chosen by shape without."""
    seed: int | None = None
    """Of every clip; that of the first run's evaluations without."""
    size: tuple[int, int] | None = None
    """Of every clip, 480x360 without."""
    theme: ThemeName | None = None
    """Look of every clip, light without."""
    episodes: int = 1
    """Filmed one after another in every clip."""
    pace: Pace = dataclasses.field(default_factory=Pace)
    style: LabelStyle = dataclasses.field(default_factory=LabelStyle)
    moment: float = 0.5
    """Which part of the longest clip a poster shows, 0 to 1."""
    curve: bool = False
    """Whether the return curves stand under the clips."""
    output: Path | None = None
    """Where it goes; a new name among the recordings without."""
    command: tuple[str, ...] = ()
    """The words that make it again."""


@dataclass(frozen=True)
class Montage:
    """What was made."""

    path: Path
    sidecar: Sidecar
    clips: tuple[Clip, ...]


Progress = Callable[[float, str], None]
"""Called with the share done, 0 to 1, and what is being done."""


def make_montage(
    request: MontageRequest,
    project: Project,
    *,
    record: RecordCommand | None = None,
    on_progress: Progress = lambda share, message: None,
) -> Montage:
    """Make a montage and its sidecar; on any error, and on Ctrl-C, no half film is left.

    Args:
        request: What to make.
        project: Where recordings are found and go.
        record: How a checkpoint is filmed; `workbench record` without.
        on_progress: Called as the work goes on.

    Raises:
        RequestError: A value makes no sense, or a checkpoint is not there.
        WorkFailedError: Filming or encoding failed.
    """
    _check(request)
    runs = [describe_run(run) for run in request.runs]
    chosen = [shown for run in runs for shown in choose(run, request.choice)]
    request.pace.check(fading=request.layout == "film" and len(chosen) > 1)
    if request.curve:
        for run in runs:
            read_curve(run, chosen)
    default = Wanted(seed=runs[0].eval_seed)
    wanted = Wanted(
        seed=default.seed if request.seed is None else request.seed,
        size=request.size or default.size,
        theme=request.theme or default.theme,
        episodes=request.episodes,
        exact=request.episodes != 1 or any(item is not None for item in (request.seed, request.size, request.theme)),
    )
    found = find_clips(project.recordings, chosen, wanted)
    missing = list(dict.fromkeys(shown for shown in chosen if shown not in found))
    if missing and not request.generate_missing:
        found |= find_leftovers(missing)
        lost = [shown for shown in missing if shown not in found]
        if lost:
            raise missing_clip(lost[0], wanted)
        missing = []
    if not missing:
        # Nothing need be filmed, so what cannot be put together is known before a name is taken.
        _plan(request, _clips(chosen, found, frozenset()))
    path = request.output or recording_path(project.recordings, _stem(request), SUFFIXES[request.layout])
    start = Sidecar(
        kind="montage",
        command=request.command,
        environment=runs[0].env_id,
        seed=wanted.seed,
        runs=tuple(str(run.directory.path) for run in runs),
        checkpoints=tuple(str(shown.path) for shown in chosen),
        theme=wanted.theme,
        extra={"layout": request.layout},
    )
    with JobReport(path, start) as report:

        def tell(share: float, message: str) -> None:
            report.progress(share, message)
            on_progress(share, message)

        try:
            found |= _film_missing(missing, project, wanted, record or record_command(project.root), tell)
            clips = _clips(chosen, found, frozenset(missing))
            report.update(episodes=tuple(_episode(clip) for clip in clips))
            filmed_share = len(missing) / (len(missing) + ENCODING_WEIGHT)
            info = _put_together(
                request,
                clips,
                path,
                tell=lambda share, message: tell(_rest(filmed_share, share), message),
            )
        except OSError as error:
            raise WorkFailedError(f"the montage cannot be written: {error}.") from error
        moving = request.layout != "poster"
        report.update(
            size=info.size,
            fps=float(info.fps) if moving else None,
            frames=info.frames if moving else None,
            duration_s=round(info.duration_s, 3) if moving else None,
        )
    return Montage(path=path, sidecar=report.sidecar, clips=tuple(clips))


@dataclass(frozen=True)
class _Plan:
    timing: Timing
    layout: GridLayout | None
    frames: int
    strip: CurveStrip | None


def _check(request: MontageRequest) -> None:
    """Check what can be checked before any work."""
    if not request.runs:
        raise RequestError("name at least one run.", hint="`workbench runs` lists them.")
    if request.episodes < 1:
        raise RequestError(f"--episodes is {request.episodes}; it must be at least 1.")
    if request.columns is not None and request.columns < 1:
        raise RequestError(f"--columns is {request.columns}; it must be at least 1.")
    if not 0 <= request.moment <= 1:
        raise RequestError(f"--moment is {request.moment:g}; it must be 0 to 1.")
    suffix = SUFFIXES[request.layout]
    if request.output is not None:
        if request.output.suffix.lower() != suffix:
            raise RequestError(f"-o {request.output}: a {request.layout} is written as {suffix}.")
        if request.output.is_dir():
            raise RequestError(f"-o takes a file, and {request.output} is a folder.")
    request.style.check()


def _plan(request: MontageRequest, clips: Sequence[Clip]) -> _Plan:
    _check_sizes(clips)
    timing = work_out(request.pace, clips)
    size = clips[0].info.size
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
    return _Plan(timing, layout, frames, strip)


def _put_together(request: MontageRequest, clips: Sequence[Clip], path: Path, *, tell: Progress) -> FilmInfo:
    plan = _plan(request, clips)
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


def _film_missing(
    missing: Sequence[Shown], project: Project, wanted: Wanted, record: RecordCommand, tell: Progress
) -> dict[Shown, Path]:
    films = {shown: clip_path(project.recordings, shown, wanted) for shown in missing}
    total = len(missing) + ENCODING_WEIGHT

    def on_progress(done: float, finished: int) -> None:
        place = min(finished, len(missing) - 1)
        steps = steps_text(missing[place].steps)
        tell(done / total, f"filming clip {place + 1} of {len(missing)}: step {steps}")

    if missing:
        film_clips(list(films.items()), lambda shown, film: record(shown, wanted, film), on_progress=on_progress)
    return films


def _clips(chosen: Sequence[Shown], films: dict[Shown, Path], made: frozenset[Shown]) -> list[Clip]:
    infos = {film: probe(film) for film in dict.fromkeys(films[shown] for shown in chosen)}
    return [
        Clip(
            shown=shown,
            film=films[shown],
            info=infos[films[shown]],
            sidecar=read_sidecar(films[shown]),
            made=shown in made,
        )
        for shown in chosen
    ]


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


def _episode(clip: Clip) -> EpisodeResult:
    episodes = () if clip.sidecar is None else clip.sidecar.episodes
    first = episodes[0] if len(episodes) == 1 else EpisodeResult()
    seed = None if clip.sidecar is None else clip.sidecar.seed
    return dataclasses.replace(first, return_=clip.return_, seed=seed)


def _stem(request: MontageRequest) -> str:
    names = list(dict.fromkeys(run.short_name.replace("/", "__") for run in request.runs))
    ids = [run.short_id for run in request.runs]
    shown = [names[0], *ids[:3], *([f"and_{len(ids) - 3}"] if len(ids) > 3 else [])]
    return "_".join([*shown, request.layout])


def _rest(start: float, share: float) -> float:
    return start + (1 - start) * share
