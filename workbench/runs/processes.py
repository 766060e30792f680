"""Processes told apart for certain: a pid together with when it started, on which host.

A pid alone is reused by the system; nothing here looks at or signals a process whose start does not match.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

_TICKS_PER_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_ON_LINUX = sys.platform == "linux"


@cache
def this_host() -> str:
    """Return the name of the machine this process runs on."""
    return socket.gethostname()


@dataclass(frozen=True)
class ProcessIdentity:
    """One process, and never the next one that gets its pid."""

    pid: int
    started: float
    """When it started: seconds since boot on Linux, where wall time shifts with the clock; else seconds since 1970."""
    host: str

    @classmethod
    def of(cls, pid: int) -> ProcessIdentity | None:
        """Return the identity of a process that lives on this host now; a zombie does not live."""
        started = _start_of(pid)
        return None if started is None else cls(pid, started, this_host())

    @classmethod
    def current(cls) -> ProcessIdentity:
        """Return the identity of the calling process."""
        return cls(os.getpid(), _start_of(os.getpid()) or 0.0, this_host())

    def is_alive(self) -> bool:
        """Return whether this very process still lives; always false for one on another host."""
        return self.host == this_host() and _start_of(self.pid) == self.started

    def send_signal(self, number: signal.Signals) -> bool:
        """Send a signal to this very process and return whether it was there to receive it."""
        if self.host != this_host():
            return False
        if not hasattr(os, "pidfd_open"):
            if not self.is_alive():
                return False
            os.kill(self.pid, number)
            return True
        try:
            handle = os.pidfd_open(self.pid)
        except OSError:
            return False
        try:
            # The handle names one process for good, so checking it after opening leaves no gap.
            if not self.is_alive():
                return False
            signal.pidfd_send_signal(handle, number)
        except ProcessLookupError:
            return False
        finally:
            os.close(handle)
        return True

    def group(self) -> list[ProcessIdentity]:
        """Return this process and those in the group that it leads; only itself where it leads none."""
        if not self.is_alive():
            return []
        if _group_of(self.pid) != self.pid:
            return [self]
        others = [ProcessIdentity.of(pid) for pid in psutil.pids() if pid != self.pid and _group_of(pid) == self.pid]
        return [self, *(other for other in others if other is not None)]


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:
        return None


def _start_of(pid: int) -> float | None:
    """Return when a living process started, or nothing where there is none or it is a zombie."""
    if not _ON_LINUX:
        try:
            process = psutil.Process(pid)
            return None if process.status() == psutil.STATUS_ZOMBIE else round(process.create_time(), 2)
        except psutil.Error:
            return None
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    # The name in parentheses may hold anything; what follows the last one are the fields from the third on.
    fields = text[text.rindex(")") + 2 :].split()
    return None if fields[0] in "ZXx" else int(fields[19]) / _TICKS_PER_S
