"""Making a report: read its runs, have the montage made, and write one file and how it was made."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from workbench import durable
from workbench.catalog import discover
from workbench.errors import RequestError, WorkbenchError, WorkFailedError
from workbench.formatting import plural
from workbench.project import Project
from workbench.report.blocks import Figure
from workbench.report.facts import Facts, ReportedRun, read_facts
from workbench.report.html import write_html
from workbench.report.markdown import write_markdown
from workbench.report.story import tell
from workbench.runs.directory import RunDirectory
from workbench.runs.recordings import JobReport, Sidecar, recording_path

Format = Literal["html", "md"]
FORMATS: tuple[Format, ...] = get_args(Format)

Progress = Callable[[float, str], None]
PosterMaker = Callable[[Sequence[RunDirectory], Progress], Path]
"""Makes a poster of what the policies of some runs do, telling how far it is, and returns the picture's file."""


@dataclass(frozen=True)
class Report:
    """What was written."""

    path: Path
    facts: Facts
    note: str
    """Why there is no montage in it; empty where there is one or none was asked for."""


@dataclass(frozen=True)
class ReportRequest:
    """What to write."""

    runs: tuple[RunDirectory, ...]
    command: tuple[str, ...]
    """The words that write it again."""
    format: Format = "html"
    title: str = ""
    """Its heading; one is made from the runs without."""
    output: Path | None = None
    """Where to; a new file among the recordings without."""


def make_report(
    request: ReportRequest,
    project: Project,
    *,
    poster: PosterMaker | None = None,
    on_progress: Progress = lambda share, message: None,
) -> Report:
    """Write a report and its sidecar; on any error no half file is left.

    Args:
        request: What to write.
        project: Where runs and recipes are, and where the report goes.
        poster: Makes the montage; without, there is none.
        on_progress: Called as the work goes on.

    Raises:
        NotFoundError: A run has told nothing so far.
        WorkFailedError: The file cannot be written.
    """
    facts = read_facts(request.runs, project.runs, discover(project))
    path = request.output or recording_path(project.recordings, _stem(facts), f".{request.format}")
    sidecar = Sidecar(kind="report", command=request.command, runs=tuple(str(run.path) for run in request.runs))
    try:
        with JobReport(path, sidecar) as job:

            def progress(share: float, message: str) -> None:
                job.progress(share, message)
                on_progress(share, message)

            picture, note = _montage(_shown(facts), poster, progress)
            progress(0.9, "writing")
            title = request.title or _title(facts)
            blocks = tell(facts, title=title, command=shlex.join(request.command), montage=picture)
            write = write_html if request.format == "html" else write_markdown
            durable.write_text(path, write(blocks))
    except OSError as error:
        raise WorkFailedError(f"the report cannot be written to {path}: {error.strerror or error}.") from error
    return Report(path, facts, note)


def _shown(facts: Facts) -> list[RunDirectory]:
    """Of runs that differ in seed alone the best stands for all."""

    def score(run: ReportedRun) -> float:
        found = None if run.best is None else run.best.score
        return -math.inf if found is None else found

    return [max(row.runs, key=score).summary.run for row in facts.rows]


def _montage(runs: Sequence[RunDirectory], poster: PosterMaker | None, progress: Progress) -> tuple[Figure | None, str]:
    """A montage is worth having and not worth failing for: without a renderer the numbers are still the numbers."""
    filmed = [run for run in runs if run.latest() is not None]
    if poster is None or not filmed:
        return None, ""
    try:
        picture = poster(filmed, lambda share, message: progress(0.9 * share, message))
        data = picture.read_bytes()
    except WorkbenchError as error:
        return None, f"There is no montage in it: {error.message}"
    return Figure(data, "image/png", "One moment of each checkpoint's episode, all from the same start state."), ""


def _title(facts: Facts) -> str:
    names = list(dict.fromkeys(row.first.summary.env_name for row in facts.rows))
    shown = names if len(names) <= 3 else [*names[:2], plural(len(names) - 2, "other")]
    return f"Report on {' and '.join([', '.join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)}"


def _stem(facts: Facts) -> str:
    first = facts.runs[0].summary
    more = f"_and_{len(facts.runs) - 1}" if len(facts.runs) > 1 else ""
    return f"{first.run.short_name}_{first.short_id}{more}_report".replace("/", "__")


def check_format(text: str, output: Path | None) -> Format:
    """Return the format that is meant, which the name of the file decides where it is not given.

    Raises:
        RequestError: The two contradict each other.
    """
    named = None if output is None else output.suffix.lower().removeprefix(".")
    if not text:
        return "md" if named in ("md", "markdown") else "html"
    if named in FORMATS and named != text:
        raise RequestError(f"--format {text} and -o {output} contradict each other.", hint="Leave out one of them.")
    return "md" if text == "md" else "html"
