"""Films, stills, montages and reports, and how each was made.

Beside every film `<name>.<ext>` lies `<name>.<ext>.json`, its sidecar: the command that made it, the checkpoint,
the seed, the returns, and the job that makes or made it. Whoever makes a film writes the sidecar first and keeps
its job up to date with a `JobReport`, so that any reader can show what is in progress and what failed; a job whose
process is gone without having closed it has failed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, cast, get_args

import psutil

from workbench import durable
from workbench.durable import read_document
from workbench.errors import WorkbenchError
from workbench.runs.processes import ProcessIdentity, this_host

JobState = Literal["running", "done", "failed", "stopped"]

FILM_SUFFIXES = frozenset({".mp4", ".webm", ".mkv", ".mov", ".avi"})
IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".apng"})
REPORT_SUFFIXES = frozenset({".html", ".md"})

FOREIGN_HEARTBEAT_S = 60.0
"""A job of another host counts as gone when its sidecar has not been written for so long."""
PROGRESS_INTERVAL_S = 0.5
"""Progress is written at most this often."""
ABANDONED_S = 24 * 3600.0
"""A part of a film that nobody has written to for so long is no longer in the making, on any host."""
_PART = re.compile(r"\.(?P<stem>.+)\.(?P<pid>\d{1,9})\.part(?P<suffix>\.\w+)")
_MADE = FILM_SUFFIXES | IMAGE_SUFFIXES | {".npz", ".pdf"}
RESERVED_MESSAGE = "waiting to start"


@dataclass(frozen=True)
class EpisodeResult:
    """How one filmed episode went."""

    return_: float | None = None
    """Sum of its rewards; spelt `return` in the file."""
    length: int | None = None
    """Its steps."""
    reason: str | None = None
    """Why it ended, as the environment names it."""
    seed: int | None = None
    """The number that alone fixed its start state."""

    def to_json(self) -> dict[str, Any]:
        """Return the plain data of the sidecar."""
        return {"return": _finite(self.return_), "length": self.length, "reason": self.reason, "seed": self.seed}

    @classmethod
    def from_json(cls, data: object) -> EpisodeResult:
        """Read what can be read; the rest is unknown."""
        fields = _mapping(data)
        return cls(
            return_=_float(fields.get("return")),
            length=_int(fields.get("length")),
            reason=_text(fields.get("reason")),
            seed=_int(fields.get("seed")),
        )


@dataclass(frozen=True)
class Job:
    """The process that makes a film, and how far it is."""

    pid: int
    pid_started: float
    """When the process started, as `ProcessIdentity` counts it: tells it from a later one with the same pid."""
    host: str
    """The machine it runs on; pids mean nothing on another."""
    state: JobState = "running"
    progress: float = 0.0
    """0 to 1."""
    message: str = ""
    """What it is doing, or why it failed."""

    @classmethod
    def here(cls, *, message: str = "") -> Job:
        """Return a running job of this very process."""
        process = ProcessIdentity.current()
        return cls(pid=process.pid, pid_started=process.started, host=process.host, message=message)

    def to_json(self) -> dict[str, Any]:
        """Return the plain data of the sidecar."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: object) -> Job | None:
        """Return the job, or None where there is none that can be understood."""
        fields = _mapping(data)
        pid, started, state = _int(fields.get("pid")), _float(fields.get("pid_started")), fields.get("state")
        if pid is None or started is None or state not in get_args(JobState):
            return None
        return cls(
            pid=pid,
            pid_started=started,
            host=_text(fields.get("host")) or this_host(),
            state=cast(JobState, state),
            progress=min(1.0, max(0.0, _float(fields.get("progress")) or 0.0)),
            message=_text(fields.get("message")) or "",
        )


@dataclass(frozen=True)
class Sidecar:
    """How a film was made."""

    kind: str = "recording"
    """`recording`, `montage`, `report`, or another word."""
    command: tuple[str, ...] = ()
    """The words that make it again."""
    checkpoint: str | None = None
    """The filmed checkpoint's folder; None for an agent without one."""
    environment: str | None = None
    """The environment's ID."""
    seed: int | None = None
    """The seed of the first episode."""
    episodes: tuple[EpisodeResult, ...] = ()
    """The filmed episodes; in a montage one a clip, in the order of `checkpoints`."""
    runs: tuple[str, ...] = ()
    """A montage's run directories."""
    checkpoints: tuple[str, ...] = ()
    """A montage's checkpoint folders, one a clip."""
    size: tuple[int, int] | None = None
    """Width and height in pixels."""
    fps: float | None = None
    frames: int | None = None
    duration_s: float | None = None
    theme: str | None = None
    """The look it was drawn in."""
    stochastic: bool = False
    """Whether actions were sampled."""
    created: float = 0.0
    """When it was begun, in Unix seconds; 0 when unknown."""
    job: Job | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Keys of the file that this version does not know; written back as they were."""

    def to_json(self) -> dict[str, Any]:
        """Return the plain data of the file."""
        known = {
            "kind": self.kind,
            "command": list(self.command),
            "checkpoint": self.checkpoint,
            "environment": self.environment,
            "seed": self.seed,
            "episodes": [episode.to_json() for episode in self.episodes],
            "runs": list(self.runs),
            "checkpoints": list(self.checkpoints),
            "size": None if self.size is None else list(self.size),
            "fps": _finite(self.fps),
            "frames": self.frames,
            "duration_s": _finite(self.duration_s),
            "theme": self.theme,
            "stochastic": self.stochastic,
            "created": _finite(self.created),
            "job": None if self.job is None else self.job.to_json(),
        }
        return {**self.extra, **known}

    @classmethod
    def from_json(cls, data: object) -> Sidecar | None:
        """Return the sidecar, or None where the document is not one; a field that makes no sense is left out."""
        fields = _mapping(data)
        kind = _text(fields.get("kind"))
        if not kind:
            return None
        size = [_int(item) for item in _list(fields.get("size"))]
        width, height = size if len(size) == 2 else (None, None)
        environment = fields.get("environment")
        known = {item.name for item in dataclasses.fields(cls)} - {"extra"}
        return cls(
            kind=kind,
            command=_texts(fields.get("command")),
            checkpoint=_text(fields.get("checkpoint")),
            environment=_text(_mapping(environment).get("env_id", environment)),
            seed=_int(fields.get("seed")),
            episodes=tuple(EpisodeResult.from_json(item) for item in _list(fields.get("episodes"))),
            runs=_texts(fields.get("runs")),
            checkpoints=_texts(fields.get("checkpoints")),
            size=None if width is None or height is None else (width, height),
            fps=_float(fields.get("fps")),
            frames=_int(fields.get("frames")),
            duration_s=_float(fields.get("duration_s")),
            theme=_text(fields.get("theme")),
            stochastic=fields.get("stochastic") is True,
            created=_float(fields.get("created")) or 0.0,
            job=Job.from_json(fields.get("job")),
            extra={key: value for key, value in fields.items() if key not in known},
        )


@dataclass(frozen=True)
class Recording:
    """A film, still, montage or report in a folder, there or in the making."""

    path: Path
    """The film; it need not exist while its job runs, or after it failed."""
    sidecar: Sidecar | None
    """How it was made; None for a file of other origin, or with a sidecar that cannot be read."""
    state: JobState
    """What became of its job, a vanished process counted as a failure."""
    progress: float
    """0 to 1."""
    message: str
    """What the job is doing, or why it failed."""
    size_bytes: int
    created: float
    """When it was begun, else when the file was written, in Unix seconds."""

    @property
    def kind(self) -> str:
        """`recording`, `montage`, `report`; for a file of other origin `film`, `image` or `report` by its name."""
        if self.sidecar is not None:
            return self.sidecar.kind
        suffix = self.path.suffix.lower()
        return "report" if suffix in REPORT_SUFFIXES else "image" if suffix in IMAGE_SUFFIXES else "film"


def sidecar_path(film: Path) -> Path:
    """Return where the sidecar of `film` lies."""
    return film.with_name(f"{film.name}.json")


def part_path(film: Path) -> Path:
    """Return where `film` is written until it is whole: beside it, hidden, with the same suffix for encoders."""
    return film.with_name(f".{film.stem}.{os.getpid()}.part{film.suffix}")


def remove_leftovers(film: Path, *, now: float | None = None) -> None:
    """Remove what killed processes left half written in the folder of `film`.

    A process of another host looks gone from here, so that of other films only old parts go.

    Args:
        film: The film that is about to be made; parts of it go at once.
        now: The current time, if not the clock's.
    """
    latest = (time.time() if now is None else now) - ABANDONED_S
    for path in film.parent.glob(".*.part.*"):
        match = _PART.fullmatch(path.name)
        if match is None or match["suffix"].lower() not in _MADE:
            continue
        with contextlib.suppress(OSError):
            is_due = match["stem"] + match["suffix"] == film.name or path.stat().st_mtime < latest
            if is_due and not psutil.pid_exists(int(match["pid"])):
                path.unlink()


def write_sidecar(film: Path, sidecar: Sidecar) -> Path:
    """Write `sidecar` beside `film` in one step, and return where."""
    path = sidecar_path(film)
    durable.write_json(path, sidecar.to_json())
    return path


def read_sidecar(film: Path) -> Sidecar | None:
    """Return the sidecar of `film`, or None where there is none, or it is torn, or it is something else."""
    return Sidecar.from_json(read_document(sidecar_path(film)))


def recording_path(folder: Path, stem: str, suffix: str) -> Path:
    """Return a name in `folder` that nobody else has or will get, by reserving its sidecar.

    The first is `<stem><suffix>`, then `<stem>-2<suffix>`, and so on. Until the film's own job writes the sidecar,
    the reservation lists as a job of this process, and as failed should it die first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    reservation = Sidecar(created=time.time(), job=Job.here(message=RESERVED_MESSAGE)).to_json()
    number = 1
    while True:
        film = folder / (f"{stem}{suffix}" if number == 1 else f"{stem}-{number}{suffix}")
        number += 1
        if film.exists():
            continue
        try:
            # Exclusive creation is the reservation: of two processes exactly one succeeds.
            sidecar_path(film).open("x").close()
        except FileExistsError:
            continue
        durable.write_json(sidecar_path(film), reservation)
        return film


def job_alive(job: Job, *, heartbeat: float = 0.0, now: float | None = None) -> bool:
    """Return whether the job's process still runs.

    Args:
        job: The job; its pid counts only together with its start time.
        heartbeat: When its sidecar was last written; decides for a job of another host.
        now: The current time, if not the clock's.
    """
    if job.host != this_host():
        return (time.time() if now is None else now) - heartbeat < FOREIGN_HEARTBEAT_S
    try:
        return ProcessIdentity(job.pid, job.pid_started, job.host).is_alive()
    except (ValueError, OverflowError):
        return False


def list_recordings(folder: Path) -> list[Recording]:
    """Return what lies in `folder` and what is being made there, newest first; never raises for a file's content.

    Hidden files (films half written) and sub-folders (cached clips) are left out, and so is a finished film that
    was deleted by hand.
    """
    try:
        names = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    except OSError:
        return []
    known = FILM_SUFFIXES | IMAGE_SUFFIXES | REPORT_SUFFIXES
    films = {name for name in names if Path(name).suffix.lower() in known}
    films |= {name.removesuffix(".json") for name in names if name.endswith(".json")}
    found = (_look(folder / name, known) for name in films)
    return sorted((item for item in found if item is not None), key=lambda item: (-item.created, item.path.name))


def _look(film: Path, known: frozenset[str]) -> Recording | None:
    stat = _stat(film)
    sidecar_stat = _stat(sidecar_path(film))
    sidecar = None if sidecar_stat is None else read_sidecar(film)
    if sidecar is None and (stat is None or film.suffix.lower() not in known):
        return None
    job = None if sidecar is None else sidecar.job
    state: JobState = "done" if job is None else job.state
    message = "" if job is None else job.message
    if stat is None and state == "done":
        return None
    if job is not None and state == "running":
        heartbeat = 0.0 if sidecar_stat is None else sidecar_stat.st_mtime
        if not job_alive(job, heartbeat=heartbeat):
            state, message = "failed", "its process ended without finishing it"
    written = stat.st_mtime if stat is not None else sidecar_stat.st_mtime if sidecar_stat is not None else 0.0
    return Recording(
        path=film,
        sidecar=sidecar,
        state=state,
        progress=1.0 if job is None or state == "done" else job.progress,
        message=message,
        size_bytes=0 if stat is None else stat.st_size,
        created=written if sidecar is None or not sidecar.created else sidecar.created,
    )


class JobReport:
    """Keeps the sidecar of a film in the making up to date; used as a context manager around the work.

    Entering writes the sidecar with a running job of this process, and removes what killed ones left half written
    beside it. Leaving normally marks it done, leaving by
    Ctrl-C stopped, by any other exception failed with its message.

    Args:
        film: The film that will be.
        sidecar: What is known of it so far; its job is replaced.
        clock: Seconds that only grow.
    """

    def __init__(self, film: Path, sidecar: Sidecar, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.film = film
        self.job = Job.here()
        self._known = dataclasses.replace(sidecar, created=sidecar.created or time.time())
        self._clock = clock
        self._written_at = -math.inf

    @property
    def sidecar(self) -> Sidecar:
        """What the file says, or will say at its next writing."""
        return dataclasses.replace(self._known, job=self.job)

    def progress(self, fraction: float, message: str = "") -> None:
        """Say how far the work is, 0 to 1, and what it is doing; written at most twice a second."""
        self.job = dataclasses.replace(self.job, progress=min(1.0, max(0.0, fraction)), message=message)
        if self._clock() - self._written_at >= PROGRESS_INTERVAL_S:
            self._write()

    def update(self, **changes: Any) -> None:
        """Replace fields of the sidecar by name and write it now."""
        self._known = dataclasses.replace(self._known, **changes)
        self._write()

    def finish(self, state: JobState = "done", message: str = "") -> None:
        """Close the job; a done one is whole, another keeps the progress it had."""
        progress = 1.0 if state == "done" else self.job.progress
        self.job = dataclasses.replace(self.job, state=state, progress=progress, message=message)
        self._write()

    def __enter__(self) -> Self:
        self._write()
        remove_leftovers(self.film)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            if self.job.state == "running":
                self.finish()
        elif isinstance(error, KeyboardInterrupt):
            self.finish("stopped", "stopped by hand")
        else:
            said = error.message if isinstance(error, WorkbenchError) else str(error)
            self.finish("failed", said or type(error).__name__)

    def _write(self) -> None:
        self._written_at = self._clock()
        write_sidecar(self.film, self.sidecar)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: object) -> tuple[str, ...]:
    return tuple(item for item in _list(value) if isinstance(item, str))


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return _finite(float(value))
    except OverflowError:
        return None


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
