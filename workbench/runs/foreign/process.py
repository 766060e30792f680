"""The converter as a process beside the app: started when there is something to convert, ended with the app."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time

from workbench.project import Project
from workbench.runs.foreign.watch_list import watch_list_path

RESTART_S = 30.0
"""Before one that ended by itself is started again."""
_END_S = 0.3


class ConverterProcess:
    """Keeps one converter running while a project has a list of foreign folders.

    Args:
        project: The project.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._is_stopped = False
        self._started = float("-inf")

    @property
    def is_running(self) -> bool:
        """Whether it runs now."""
        return self._process is not None and self._process.poll() is None

    def ensure(self) -> None:
        """Start it where it is wanted and does not run; cheap to call often.

        Raises:
            OSError: No process can be started.
        """
        with self._lock:
            self._ensure()

    def _ensure(self) -> None:
        if self._is_stopped or self.is_running or time.monotonic() - self._started < RESTART_S:
            return
        if not watch_list_path(self._project).is_file():
            return
        self._started = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "workbench.runs.foreign", str(self._project.root), "--follow"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Ctrl-C in the terminal is the app's; this one ends with its input.
            start_new_session=True,
        )

    def stop(self) -> None:
        """End it for good; one that is in the middle of a mirror leaves it to be written anew."""
        with self._lock:
            self._is_stopped = True
            process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
