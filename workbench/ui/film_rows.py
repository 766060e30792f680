"""Rows of the list of recordings, and what is told of the one under the cursor."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from textual.content import Content

from workbench import formatting
from workbench.runs.recordings import Recording, Sidecar
from workbench.ui.jobs import Job
from workbench.ui.theme import STATE_LOOKS
from workbench.ui.widgets.rows import Column, Part, Row, cell

COLUMNS = (
    Column("glyph"),
    Column("file", "File", grows=True, least=20),
    Column("kind", "Kind"),
    Column("length", "Length", least=14),
    Column("size", "Size", "right", least=7),
    Column("made", "Made", "right"),
)
_MOST_RETURNS = 4
"""How many returns are told of a film; further ones are but hinted at."""
MADE = "made"
SORTS: dict[str, Callable[[Recording], float | str]] = {
    MADE: lambda item: item.created,
    "file": lambda item: item.path.name,
    "kind": lambda item: item.kind,
    "length": lambda item: (item.sidecar.duration_s or 0.0) if item.sidecar else 0.0,
    "size": lambda item: float(item.size_bytes),
}
_LOOKS = {"running": "stopping", "done": "finished", "failed": "failed", "stopped": "stopped"}
"""A job looks like a run in the state of that name."""


def ordered(films: Iterable[Recording], by: str, *, reverse: bool) -> list[Recording]:
    """Return films by a column; the newest and the largest come first, names in the order of the alphabet."""
    down = by in (MADE, "size", "length")
    return sorted(films, key=lambda item: (SORTS[by](item), item.path.name), reverse=down is not reverse)


def matches(film: Recording, words: str) -> bool:
    """Return whether every word is in what is known of a film."""
    sidecar = film.sidecar
    known = [film.path.name, film.kind, film.state]
    if sidecar is not None:
        known += [sidecar.environment or "", sidecar.checkpoint or "", *sidecar.runs, *sidecar.command]
    text = " ".join(known).lower()
    return all(word in text for word in words.lower().split())


def film_row(film: Recording, now: float, *, plain: bool) -> Row:
    """Return one film as a row."""
    look = STATE_LOOKS[_LOOKS[film.state]]
    bad = film.state == "failed"
    return Row(
        film.path.name,
        {
            "glyph": cell(look.plain if plain else look.glyph, look.variable),
            "file": cell(film.path.name),
            "kind": cell(film.kind, "muted"),
            "length": _length(film, plain=plain),
            "size": cell(formatting.size(film.size_bytes) if film.size_bytes else formatting.UNKNOWN, "muted"),
            "made": cell(
                "enter: why" if bad else formatting.age(max(0.0, now - film.created)), "error" if bad else "muted"
            ),
        },
    )


def about(film: Recording, root: Path) -> Content:
    """Return where a film is, how it was made, and by which command; paths as seen from the project's folder."""
    sidecar = film.sidecar
    lines: list[Content] = []
    if film.state == "failed":
        lines.append(Content.styled(film.message or "it failed and said nothing", "$error"))
    elif film.state == "running":
        lines.append(Content(f"{formatting.percent(film.progress)}  {film.message}".rstrip()))
    path = film.path.relative_to(root) if film.path.is_relative_to(root) else film.path
    lines.append(Content.styled(str(path), "$muted"))
    if sidecar is None:
        lines.append(Content("Nothing is written of how it was made."))
    else:
        facts = " · ".join(_facts(sidecar))
        if facts:
            lines.append(Content(facts))
        if sidecar.command:
            lines.append(Content(command_of(sidecar)))
    return Content("\n").join(lines)


def has_command(film: Recording) -> bool:
    """Return whether it is known by which command a film was made."""
    return film.sidecar is not None and bool(film.sidecar.command)


def command_of(sidecar: Sidecar) -> str:
    """Return the command that makes a film again, as one line."""
    words = list(sidecar.command)
    return shlex.join(words if words[:1] == ["workbench"] else ["workbench", *words])


def starting_row(job: Job, *, plain: bool) -> Row:
    """Return a job that has not begun its file yet."""
    look = STATE_LOOKS["starting"]
    return Row(
        f"job {job.number}",
        {
            "glyph": cell(look.plain if plain else look.glyph, look.variable),
            "file": cell(job.title),
            "kind": cell(job.words[0] if job.words else "", "muted"),
            "length": cell("starting", "muted"),
        },
    )


def starting(jobs: Sequence[Job], films: Sequence[Recording]) -> list[Job]:
    """Return the jobs of this app that run and of which no file tells yet."""
    told = sum(film.state == "running" for film in films)
    running = [job for job in jobs if job.kind == "film" and job.state == "running"]
    return running[told:]


def _length(film: Recording, *, plain: bool) -> tuple[Part, ...]:
    if film.state == "running":
        bar = formatting.bar(film.progress, 9, plain=plain)
        return ((bar, "state-stopping"), (f" {formatting.percent(film.progress):>5}", ""))
    if film.state != "done":
        return cell(film.state, "error" if film.state == "failed" else "muted")
    seconds = film.sidecar.duration_s if film.sidecar else None
    if seconds is None:
        return cell("")
    return cell(f"{seconds:.1f} s" if seconds < 60 else formatting.duration(seconds))


def _facts(sidecar: Sidecar) -> list[str]:
    facts = []
    if sidecar.environment:
        facts.append(sidecar.environment)
    if sidecar.checkpoint:
        facts.append(Path(sidecar.checkpoint).name)
    if sidecar.checkpoints:
        facts.append(formatting.plural(len(sidecar.checkpoints), "clip"))
    if sidecar.seed is not None:
        facts.append(f"seed {sidecar.seed}")
    episodes = [item for item in sidecar.episodes if item.return_ is not None]
    if len(episodes) == 1:
        facts.append(f"return {formatting.number(episodes[0].return_)}")
    elif episodes:
        told = [formatting.number(item.return_) for item in episodes[:_MOST_RETURNS]]
        more = ["…"] if len(episodes) > _MOST_RETURNS else []
        facts.append(f"{len(episodes)} episodes, returns {', '.join(told + more)}")
    if sidecar.size:
        facts.append(f"{sidecar.size[0]}×{sidecar.size[1]}")
    if sidecar.fps:
        facts.append(f"{sidecar.fps:g} fps")
    return facts
