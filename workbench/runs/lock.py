"""The lock that makes a supervisor the only one of its runs root.

The kernel gives it up with the last process that holds it, however that process ends, so it never has to be judged
stale. The file says who holds it, for people and for `supervisor_of`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType

from workbench.durable import read_document
from workbench.runs.holding import take
from workbench.runs.processes import ProcessIdentity

LOCK_FILE = ".supervisor.lock"


class SupervisorLock:
    """The lock of one runs root.

    Args:
        runs_root: The folder of runs; it must exist.
    """

    def __init__(self, runs_root: Path) -> None:
        self.path = runs_root / LOCK_FILE
        self._handle: int | None = None

    def acquire(self) -> bool:
        """Take the lock and return whether it was free; never waits.

        Raises:
            OSError: The folder cannot be written.
        """
        # Not inherited by a program that is started, but by a fork until then: a trainer about to write that it
        # starts still keeps the next supervisor out.
        handle = take(self.path, os.O_RDWR | os.O_CREAT)
        if handle is None:
            return False
        self._handle = handle
        return True

    def sign(self, *, places: int | None = None) -> None:
        """Write into the file that the calling process holds it, and how many trainers it runs at once."""
        if self._handle is not None:
            text = json.dumps({**ProcessIdentity.current().__dict__, "places": places}).encode()
            os.ftruncate(self._handle, 0)
            os.pwrite(self._handle, text, 0)

    def release(self) -> None:
        """Give the lock up; without it does nothing."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> SupervisorLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def supervisor_of(runs_root: Path) -> ProcessIdentity | None:
    """Return the living supervisor of a runs root, or nothing where there is none on this host."""
    data = read_document(runs_root / LOCK_FILE)
    try:
        process = ProcessIdentity(int(data["pid"]), float(data["started"]), str(data["host"]))
    except (KeyError, TypeError, ValueError):
        return None
    return process if process.is_alive() else None
