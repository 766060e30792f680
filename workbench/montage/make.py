"""Making a montage: choose checkpoints, find or film their clips, put them together, and say how it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.errors import WorkFailedError
from workbench.montage.assembly import Progress, assemble, plan_montage
from workbench.montage.clips import (
    Clip,
    RecordCommand,
    can_be_filmed,
    common_seed,
    film_clips,
    find_clips,
    missing_clip,
    record_command,
)
from workbench.montage.curve import read_curve
from workbench.montage.ffmpeg import probe
from workbench.montage.labels import steps_text
from workbench.montage.request import MontageRequest
from workbench.project import Project
from workbench.runs.recordings import EpisodeResult, JobReport, Sidecar, read_sidecar, recording_path
from workbench.storyboard.arrangement import Take, arrange, takes_of
from workbench.storyboard.finding import Wanted, clip_path, find_leftovers
from workbench.storyboard.selection import FilmedRun, Shown, choose, describe_run, passed_over, pick

ENCODING_WEIGHT = 1.0
"""How much of the work putting together is, against filming one clip."""


@dataclass(frozen=True)
class Montage:
    """What was made."""

    path: Path
    sidecar: Sidecar
    clips: tuple[Clip, ...]
    notes: tuple[str, ...] = ()
    """What was passed over, each a sentence."""


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
    chosen = [shown for run in runs for shown in _chosen(request, run)]
    takes = takes_of(chosen, request.seeds or (runs[0].eval_seed,))
    places = None if request.columns is not None else arrange(takes, request.by)
    has_fades = request.layout == "film" and (len(takes) > 1 or request.title != "")
    request.pace.check(fading=has_fades or (request.layout != "poster" and request.end_card))
    for run in runs if request.curve else ():
        read_curve(run, chosen)
    wanted = _wanted(request, takes[0].seed)
    films, missing = _films(request, project, takes, wanted)
    if not missing:
        # Nothing need be filmed, so what cannot be put together is known before a name is taken.
        plan_montage(request, _clips(takes, films, frozenset()), places)
    try:
        path = request.output or recording_path(project.recordings, _stem(request), request.suffix)
        with JobReport(path, _sidecar(request, runs, chosen, wanted)) as report:

            def tell(share: float, message: str) -> None:
                report.progress(share, message)
                on_progress(share, message)

            filmed = _film_missing(missing, project, wanted, record or record_command(project.root), tell)
            clips = _clips(takes, {**films, **filmed}, frozenset(missing))
            report.update(episodes=tuple(_episode(clip) for clip in clips), seed=common_seed(clips))
            start = len(missing) / (len(missing) + ENCODING_WEIGHT)
            plan = plan_montage(request, clips, places)
            info = assemble(
                plan, request.layout, path, tell=lambda share, message: tell(start + (1 - start) * share, message)
            )
            report.update(size=info.size)
            if request.layout != "poster":
                report.update(fps=float(info.fps), frames=info.frames, duration_s=round(info.duration_s, 3))
    except OSError as error:
        raise WorkFailedError(f"the montage cannot be written: {error.strerror or error}.") from error
    return Montage(path=path, sidecar=report.sidecar, clips=tuple(clips), notes=_notes(request, chosen, missing))


def _notes(request: MontageRequest, chosen: Sequence[Shown], missing: Sequence[Take]) -> tuple[str, ...]:
    folders = [(run, passed_over(run)) for run in request.runs]
    ignored = [f"{run.name}: {', '.join(names)} passed over, no checkpoint." for run, names in folders if names]
    if request.own_film is not None and missing:
        filmed = len({take.shown for take in missing})
        ignored.append(f"{request.own_film} is missing in {filmed} of {len(chosen)} checkpoints; they were filmed.")
    return tuple(dict.fromkeys([*ignored, *(shown.note for shown in chosen if shown.note)]))


def _chosen(request: MontageRequest, run: FilmedRun) -> list[Shown]:
    if not request.pinned:
        return choose(run, request.choice)
    return pick(run, [path for path in request.pinned if path.parent == run.directory.path])


def _wanted(request: MontageRequest, seed: int) -> Wanted:
    default = Wanted(seed=seed)
    asked = (request.size, request.theme)
    return Wanted(
        seed=seed,
        size=request.size or default.size,
        theme=request.theme or default.theme,
        episodes=request.episodes,
        stochastic=request.stochastic,
        exact=bool(request.seeds)
        or request.stochastic
        or request.episodes != 1
        or any(item is not None for item in asked),
    )


def _films(
    request: MontageRequest, project: Project, takes: Sequence[Take], wanted: Wanted
) -> tuple[dict[Take, Path], list[Take]]:
    """Return the films that exist, and what must be filmed."""
    films = find_clips(project.recordings, takes, wanted, own=request.own_film)
    missing = [take for take in takes if take not in films]
    if request.generate_missing:
        for take in missing:
            if not can_be_filmed(take):
                raise missing_clip(take, wanted, own=request.own_film)
        return films, missing
    left = {} if request.own_film is not None else find_leftovers(take.shown for take in missing)
    for take in missing:
        if take.shown not in left:
            raise missing_clip(take, wanted, own=request.own_film)
        films[take] = left[take.shown]
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
        stochastic=wanted.stochastic,
        extra={"layout": request.layout},
    )


def _film_missing(
    missing: Sequence[Take], project: Project, wanted: Wanted, record: RecordCommand, tell: Progress
) -> dict[Take, Path]:
    films = {take: clip_path(project.recordings, take.shown, replace(wanted, seed=take.seed)) for take in missing}
    # A checkpoint that is shown twice is filmed once.
    jobs = list({film: take for take, film in films.items()}.items())
    total = len(jobs) + ENCODING_WEIGHT

    def on_progress(done: float, finished: int) -> None:
        place = min(finished, len(jobs) - 1)
        steps = steps_text(jobs[place][1].shown.steps)
        tell(done / total, f"filming clip {place + 1} of {len(jobs)}: step {steps}")

    if jobs:
        film_clips(
            [(take, film) for film, take in jobs],
            lambda take, film: record(take.shown, replace(wanted, seed=take.seed), film),
            on_progress=on_progress,
        )
    return films


def _clips(takes: Sequence[Take], films: Mapping[Take, Path], made: frozenset[Take]) -> list[Clip]:
    infos = {film: probe(film) for film in dict.fromkeys(films[take] for take in takes)}
    return [
        Clip(
            shown=take.shown,
            film=films[take],
            info=infos[films[take]],
            sidecar=read_sidecar(films[take]),
            made=take in made,
        )
        for take in takes
    ]


def _episode(clip: Clip) -> EpisodeResult:
    episodes = () if clip.sidecar is None else clip.sidecar.episodes
    first = episodes[0] if len(episodes) == 1 else EpisodeResult()
    seed = None if clip.sidecar is None else clip.sidecar.seed
    return replace(first, return_=clip.return_, seed=seed)


def _stem(request: MontageRequest) -> str:
    names = list(dict.fromkeys(run.short_name.replace("/", "__") for run in request.runs))
    ids = [run.short_id for run in request.runs]
    shown = [names[0], *ids[:3], *([f"and_{len(ids) - 3}"] if len(ids) > 3 else [])]
    return "_".join([*shown, request.layout])
