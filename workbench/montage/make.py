"""Making a montage: choose checkpoints, find or film their clips, put them together, and say how it was made."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import WorkFailedError
from workbench.montage.assembly import Progress, assemble, plan_montage
from workbench.montage.clips import (
    Clip,
    RecordCommand,
    common_seed,
    film_clips,
    find_clips,
    missing_clip,
    record_command,
)
from workbench.montage.curve import read_curve
from workbench.montage.ffmpeg import probe
from workbench.montage.labels import steps_text
from workbench.montage.request import SUFFIXES, MontageRequest
from workbench.project import Project
from workbench.runs.recordings import EpisodeResult, JobReport, Sidecar, read_sidecar, recording_path
from workbench.storyboard.finding import Wanted, clip_path, find_leftovers
from workbench.storyboard.selection import FilmedRun, Shown, choose, describe_run

ENCODING_WEIGHT = 1.0
"""How much of the work putting together is, against filming one clip."""


@dataclass(frozen=True)
class Montage:
    """What was made."""

    path: Path
    sidecar: Sidecar
    clips: tuple[Clip, ...]


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
    request.check()
    runs = [describe_run(run) for run in request.runs]
    chosen = [shown for run in runs for shown in choose(run, request.choice)]
    request.pace.check(fading=request.layout == "film" and len(chosen) > 1)
    for run in runs if request.curve else ():
        read_curve(run, chosen)
    wanted = _wanted(request, runs)
    films, missing = _films(request, project, chosen, wanted)
    if not missing:
        # Nothing need be filmed, so what cannot be put together is known before a name is taken.
        plan_montage(request, _clips(chosen, films, frozenset()))
    try:
        path = request.output or recording_path(project.recordings, _stem(request), SUFFIXES[request.layout])
        with JobReport(path, _sidecar(request, runs, chosen, wanted)) as report:

            def tell(share: float, message: str) -> None:
                report.progress(share, message)
                on_progress(share, message)

            filmed = _film_missing(missing, project, wanted, record or record_command(project.root), tell)
            clips = _clips(chosen, {**films, **filmed}, frozenset(missing))
            report.update(episodes=tuple(_episode(clip) for clip in clips), seed=common_seed(clips))
            start = len(missing) / (len(missing) + ENCODING_WEIGHT)
            info = assemble(
                request, clips, path, tell=lambda share, message: tell(start + (1 - start) * share, message)
            )
            report.update(size=info.size)
            if request.layout != "poster":
                report.update(fps=float(info.fps), frames=info.frames, duration_s=round(info.duration_s, 3))
    except OSError as error:
        raise WorkFailedError(f"the montage cannot be written: {error.strerror or error}.") from error
    return Montage(path=path, sidecar=report.sidecar, clips=tuple(clips))


def _wanted(request: MontageRequest, runs: Sequence[FilmedRun]) -> Wanted:
    default = Wanted(seed=runs[0].eval_seed)
    asked = (request.seed, request.size, request.theme)
    return Wanted(
        seed=default.seed if request.seed is None else request.seed,
        size=request.size or default.size,
        theme=request.theme or default.theme,
        episodes=request.episodes,
        exact=request.episodes != 1 or any(item is not None for item in asked),
    )


def _films(
    request: MontageRequest, project: Project, chosen: Sequence[Shown], wanted: Wanted
) -> tuple[dict[Shown, Path], list[Shown]]:
    """Return the films that exist, and the checkpoints that must be filmed."""
    films = find_clips(project.recordings, chosen, wanted)
    missing = list(dict.fromkeys(shown for shown in chosen if shown not in films))
    if request.generate_missing:
        return films, missing
    films |= find_leftovers(missing)
    for shown in missing:
        if shown not in films:
            raise missing_clip(shown, wanted)
    return films, []


def _sidecar(request: MontageRequest, runs: Sequence[FilmedRun], chosen: Sequence[Shown], wanted: Wanted) -> Sidecar:
    return Sidecar(
        kind="montage",
        command=request.command,
        environment=runs[0].env_id,
        seed=wanted.seed,
        runs=tuple(str(run.directory.path) for run in runs),
        checkpoints=tuple(str(shown.path) for shown in chosen),
        theme=wanted.theme,
        extra={"layout": request.layout},
    )


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


def _clips(chosen: Sequence[Shown], films: Mapping[Shown, Path], made: frozenset[Shown]) -> list[Clip]:
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
