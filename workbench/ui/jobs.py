"""The commands the app starts for a person: films, montages, checks and measurements.

A job is a child process of its own session whose output goes to a file. It is polled, not awaited through asyncio's
transport: that one kills its child when the loop ends, and a film must go on when the app is closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from workbench.project import Project, cache_folder

JobKind = Literal["film", "report", "file"]
"""What a command makes: something for the place of recordings, something to read, or files of the project."""
JobState = Literal["running", "done", "failed", "stopped"]

TAIL_LINES = 12
"""How many of a job's last lines its error card shows."""

_TAIL_BYTES = 16_384
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
"""What a command writes to clear the line that it draws over."""
_POLL_S = 0.2
_LOGS_KEPT = 20
_SAID = "workbench: "
"""How the command line begins what it says of an error; the hint is on the lines after it."""


@dataclass
class Job:
    """One command that was started, and how it goes."""

    number: int
    kind: JobKind
    title: str
    """What it makes, for notices and cards: `recording of ant 7f3a`."""
    words: tuple[str, ...]
    """What a person would type after `workbench`."""
    state: JobState = "running"
    exit_code: int | None = None
    tail: tuple[str, ...] = ()
    """The last lines it wrote, once it has ended."""
    log: Path | None = None
    """The file that holds everything it writes."""
    detail: dict[str, str] = field(default_factory=dict)
    """What the screen that started it wants to find again: the output file, the checkpoint played."""

    @property
    def command_line(self) -> str:
        """The command as one line to paste in a shell."""
        return shell_line(self.words)

    @property
    def fault(self) -> tuple[str, str]:
        """Why it failed and what to do, as the command line said them."""
        marked = [place for place, line in enumerate(self.tail) if line.startswith(_SAID)]
        if not marked:
            said = self.tail[-1] if self.tail else f"It ended with exit code {self.exit_code} and said nothing."
            return said, ""
        return self.tail[marked[-1]].removeprefix(_SAID), "\n".join(self.tail[marked[-1] + 1 :])


class Launcher(Protocol):
    """Starts jobs; tests have one that starts nothing."""

    jobs: list[Job]

    def start(self, words: Sequence[str], *, kind: JobKind, title: str, detail: dict[str, str] | None = None) -> Job:
        """Start `workbench WORDS…` in the project and return at once."""
        ...

    def stop(self, job: Job) -> None:
        """Ask a job to end; its state turns to `stopped` when it has."""
        ...

    def close(self) -> None:
        """The app is closing: end what ends with it, let the rest go on."""
        ...


def shell_line(words: Sequence[str]) -> str:
    """Return `workbench WORDS…` quoted for a shell."""
    return shlex.join(["workbench", *words])


class ProcessLauncher:
    """Starts jobs as `python -m workbench`, in the background.

    Args:
        project: Where the commands work.
        on_change: Called on the event loop when a job ends.
    """

    def __init__(self, project: Project, *, on_change: Callable[[Job], None]) -> None:
        self.jobs: list[Job] = []
        self._project = project
        self._on_change = on_change
        self._numbers = itertools.count(1)
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._watchers: dict[int, asyncio.Task[None]] = {}

    def start(self, words: Sequence[str], *, kind: JobKind, title: str, detail: dict[str, str] | None = None) -> Job:
        """Start `workbench WORDS…`; a command that cannot be started is a failed job with the reason as its tail."""
        job = Job(next(self._numbers), kind, title, tuple(words), detail=dict(detail or {}))
        self.jobs.append(job)
        command = [sys.executable, "-m", "workbench", "--project", str(self._project.root), *words]
        try:
            log = job.log = new_log()
            with log.open("wb") as output:
                process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
                )
        except OSError as error:
            job.state, job.tail = "failed", (str(error),)
            asyncio.get_running_loop().call_soon(self._on_change, job)
            return job
        self._processes[job.number] = process
        self._watchers[job.number] = asyncio.create_task(self._watch(job, process, log))
        return job

    def stop(self, job: Job) -> None:
        """Interrupt a job as Ctrl-C would, so that it leaves no half file."""
        process = self._processes.get(job.number)
        if process is not None and job.state == "running":
            job.state = "stopped"
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)

    def close(self) -> None:
        """Leave what runs alone, and stop watching."""
        for watcher in self._watchers.values():
            watcher.cancel()
        for process in self._processes.values():
            # Popen warns of a child that outlives it; these are meant to.
            process.returncode = 0 if process.returncode is None else process.returncode

    async def _watch(self, job: Job, process: subprocess.Popen[bytes], log: Path) -> None:
        while process.poll() is None:  # noqa: ASYNC110  (a process has no event to wait for)
            await asyncio.sleep(_POLL_S)
        job.exit_code = process.returncode
        job.tail = last_lines(log)
        if job.state == "running":
            job.state = "done" if process.returncode == 0 else "failed"
        self._on_change(job)


def last_lines(log: Path, count: int = TAIL_LINES, *, most_bytes: int = _TAIL_BYTES) -> tuple[str, ...]:
    """Return the last lines of a log, progress that overwrote itself folded to what it ended as."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - most_bytes))
            text = file.read().decode(errors="replace")
    except OSError:
        return ()
    lines = [line.rsplit("\r", 1)[-1].rstrip() for line in _ESCAPES.sub("", text).replace("\r\n", "\n").split("\n")]
    return tuple(line for line in lines if line)[-count:]


def new_log() -> Path:
    """Make a file for a job's output, and forget the oldest ones."""
    folder = cache_folder() / "jobs"
    folder.mkdir(parents=True, exist_ok=True)
    for old in sorted(folder.glob("*.log"), key=lambda path: path.stat().st_mtime)[:-_LOGS_KEPT]:
        old.unlink(missing_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, suffix=".log")
    os.close(handle)
    return Path(name)
