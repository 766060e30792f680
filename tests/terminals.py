"""A real terminal around a real command, for tests of what a person at a keyboard meets."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time


class Terminal:
    """A `workbench` command in a terminal of its own, 80 columns by 24 rows."""

    def __init__(self, *words: str) -> None:
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, 80))
        command = [sys.executable, "-m", "workbench", *words]
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)
        self.text = ""

    def read_until(self, words: str, timeout_s: float = 20.0) -> None:
        deadline = time.monotonic() + timeout_s
        while words not in self.text:
            assert time.monotonic() < deadline, self.text[-2000:]
            if select.select([self._ours], [], [], 0.1)[0]:
                self.text += os.read(self._ours, 65536).decode(errors="replace")

    def type(self, keys: str) -> None:
        self.text = ""
        os.write(self._ours, keys.encode())

    def interrupt(self) -> None:
        os.kill(self.process.pid, signal.SIGINT)

    def wait(self) -> int:
        deadline = time.monotonic() + 20
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.text[-2000:]
            if select.select([self._ours], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):
                    self.text += os.read(self._ours, 65536).decode(errors="replace")
        return self.process.returncode

    def close(self) -> None:
        if self._ours >= 0:
            self.process.kill()
            self.process.wait()
            os.close(self._ours)
            self._ours = -1
