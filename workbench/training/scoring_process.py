"""A process beside the training that plays checkpoints: asked with a line, answering with one."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from workbench.policies.scoring import THREADS


class ScoringProcess:
    """A process that scores one checkpoint after the other, or films it, and stands back behind this one.

    Args:
        log_path: Where what it says goes.
        module: What it runs.
        work: What it does, for sentences: `evaluating`.
    """

    def __init__(self, log_path: Path, module: str = "workbench.policies.scoring", work: str = "evaluating") -> None:
        self._log_path = log_path
        self._module = module
        self._work = work
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def ask(self, request: dict[str, Any]) -> None:
        """Hand a request over, to a new process where none lives; see `workbench.policies.scoring`."""
        try:
            if self._process is None or self._process.poll() is not None:
                self._start()
            assert self._process is not None and self._process.stdin is not None
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError:
            # It could not be started, or died this moment: that is found where the answer is taken.
            self._answers.put(None)

    def answer(self, timeout_s: float) -> dict[str, Any] | None:
        """Return the next answer, `{"ok", "reason", "scores"}`; nothing where none came in time."""
        try:
            line = self._answers.get(timeout=timeout_s) if timeout_s > 0 else self._answers.get_nowait()
        except queue.Empty:
            return None
        if line is None:
            return {"ok": False, "reason": self._bury()}
        answer: dict[str, Any] = json.loads(line)
        return answer

    @property
    def pid(self) -> int | None:
        """Its process, while there is one."""
        return None if self._process is None else self._process.pid

    def leave(self) -> None:
        """Let it finish what it was asked for and end by itself; nobody hears its answers any more."""
        process, self._process = self._process, None
        if process is not None:
            # Somebody must wait for it, or it stays a zombie for as long as this process lives.
            threading.Thread(target=_end, args=(process,), daemon=True).start()

    def close(self) -> None:
        """End it, in the middle of its work too."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            _end(process)

    def _start(self) -> None:
        self._process = None
        self._answers = queue.SimpleQueue()
        with self._log_path.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", self._module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
                env={**os.environ, **THREADS},
            )
        self._process = process
        assert process.stdout is not None
        threading.Thread(target=_forward, args=(process.stdout, self._answers), daemon=True).start()

    def _bury(self) -> str:
        process, self._process = self._process, None
        if process is None:
            return f"the {self._work} process could not be started"
        return f"the {self._work} process ended with code {_end(process)}"


def _end(process: subprocess.Popen[str]) -> int:
    """Wait for a process that is ending and return its exit code."""
    with suppress(OSError):
        # What it did not read any more cannot be flushed.
        process.stdin.close()  # type: ignore[union-attr]
    return process.wait()


def _forward(answers: IO[str], into: queue.SimpleQueue[str | None]) -> None:
    with answers:
        for line in answers:
            into.put(line)
    into.put(None)
