"""Deleting recordings so that it can be undone, and ending the job that makes one, whoever started it.

`<recordings>/.trash/<unix nanoseconds>/` holds what was deleted together, films beside their sidecars; no list looks
into it, and nothing in it is ever thrown away by itself.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from workbench.errors import NotFoundError, RequestError, WorkFailedError
from workbench.runs.processes import this_host
from workbench.runs.recordings import Job, Recording, job_alive, sidecar_path

TRASH_NAME = ".trash"


def delete_recordings(films: Sequence[Recording]) -> list[Path]:
    """Move films and their sidecars to the trash and return where the films lie now.

    Raises:
        RequestError: One is being made.
        WorkFailedError: One cannot be moved; it is where it was, and those before it are in the trash.
    """
    busy = [film.path.name for film in films if film.state == "running"]
    if busy:
        raise RequestError(f"{busy[0]} is being made.", hint="S cancels it first.")
    moved: list[Path] = []
    batch = f"{time.time_ns():020d}"
    for film in films:
        target = film.path.parent / TRASH_NAME / batch / film.path.name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            for source in (film.path, sidecar_path(film.path)):
                with contextlib.suppress(FileNotFoundError):
                    source.rename(target.parent / source.name)
        except OSError as error:
            raise WorkFailedError(
                f"{film.path.name} cannot be moved to the trash: {error.strerror or error}.",
                hint=f"It lies in {film.path.parent}.",
            ) from error
        moved.append(target)
    return moved


def restore_recordings(folder: Path) -> list[Path]:
    """Bring back what was deleted last and return the films.

    Args:
        folder: The recordings' folder.

    Raises:
        NotFoundError: The trash is empty.
        RequestError: A film of that name is there again.
        WorkFailedError: One cannot be moved back.
    """
    try:
        batches = sorted(path for path in (folder / TRASH_NAME).iterdir() if path.name.isdigit())
    except OSError:
        batches = []
    if not batches:
        raise NotFoundError(f"the trash of {folder} is empty.")
    files = sorted(path for path in batches[-1].iterdir() if path.is_file())
    taken = [path.name for path in files if (folder / path.name).exists()]
    if taken:
        raise RequestError(
            f"{folder / taken[0]} is there again.", hint="Move it away first; the trash keeps the other."
        )
    names = {path.name for path in files}
    back: list[Path] = []
    for path in files:
        try:
            path.rename(folder / path.name)
        except OSError as error:
            raise WorkFailedError(
                f"{path.name} cannot be brought back: {error.strerror or error}.", hint=f"It lies in {path.parent}."
            ) from error
        # A sidecar belongs to its film; alone, of a film that was never finished, it stands for it.
        film = path.name.removesuffix(".json")
        if path.name == film or film not in names:
            back.append(folder / film)
    with contextlib.suppress(OSError):
        batches[-1].rmdir()
    return back


def cancel_job(job: Job) -> None:
    """Interrupt the job that makes a film as Ctrl-C would, so that it leaves no half file.

    Raises:
        RequestError: It is on another machine, or has ended.
        WorkFailedError: It belongs to somebody else.
    """
    if job.host != this_host():
        raise RequestError(f"it is made on {job.host}, and can be cancelled only there.")
    if not job_alive(job):
        raise RequestError("its process has ended.")
    try:
        # One that leads its own group takes its encoder with it.
        if os.getpgid(job.pid) == job.pid:
            os.killpg(job.pid, signal.SIGINT)
        else:
            os.kill(job.pid, signal.SIGINT)
    except ProcessLookupError:
        return
    except PermissionError as error:
        raise WorkFailedError(f"the process {job.pid} that makes it belongs to somebody else.") from error
