"""What a run's process takes of the machine: processor, memory, disk, and a GPU where one can be asked about.

Read off the event loop, now and then, while somebody looks.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray
from textual.content import Content

from workbench import formatting
from workbench.runs.sizes import size_of
from workbench.ui.charts.spark import sparkline
from workbench.ui.past import Points

INTERVAL_S = 2.0
"""How often it is read while a run is shown."""
_KEPT = 1800
"""Readings that are kept: an hour of them."""
_SPARK = 6
_SHORTEST_S = 0.2
"""Between two readings of a processor's time: less tells nothing."""
_SMI = "nvidia-smi"
_SMI_S = 3.0
"""A driver that hangs is not waited for longer."""
PREFIX = "system/"
"""What the names of metrics begin with that are read here and told by no run."""
CPU, MEMORY = f"{PREFIX}cpu_percent", f"{PREFIX}memory_MB"


@dataclass(frozen=True)
class Usage:
    """One reading."""

    machine: float
    """Share of all cores in use, 0 to 1."""
    cpu: float | None = None
    """Of the run's processes, 1 for each core in full use; None where none lives here."""
    memory: int | None = None
    """Bytes the run's processes hold."""
    disk: int | None = None
    """Bytes its folder takes."""
    free: int | None = None
    """Bytes free on that disk."""
    gpu: tuple[float, int] | None = None
    """Share of the first GPU in use, and its memory in use in bytes; None where there is none."""


ReadUsage = Callable[[int | None, Path], Usage]
"""Reads what a process and a folder take now."""


class Meter:
    """Reads what one run takes; a share of the processor needs two readings."""

    def __init__(self) -> None:
        self._process: tuple[int, float, float] | None = None
        """Pid, processor seconds and when, at the last reading."""
        self._has_gpu = shutil.which(_SMI) is not None

    def __call__(self, pid: int | None, folder: Path) -> Usage:
        """Return what a run takes now; it walks the folder and may start a program: not for the event loop.

        Args:
            pid: Of the run's process; None where it has none on this machine.
            folder: The run's.
        """
        cpu, memory = (None, None) if pid is None else self._measure(pid)
        try:
            free: int | None = shutil.disk_usage(folder).free
        except OSError:
            free = None
        gpu = _gpu() if self._has_gpu else None
        # A driver that does not answer once is not asked again.
        self._has_gpu = gpu is not None
        return Usage(psutil.cpu_percent(interval=None) / 100, cpu, memory, size_of(folder), free, gpu)

    def _measure(self, pid: int) -> tuple[float | None, int | None]:
        try:
            parent = psutil.Process(pid)
            everyone = [parent, *parent.children(recursive=True)]
        except psutil.Error:
            self._process = None
            return None, None
        seconds, memory = 0.0, 0
        for process in everyone:
            try:
                times, held = process.cpu_times(), process.memory_info().rss
            except psutil.Error:
                continue
            seconds += times.user + times.system
            memory += held
        now, before = time.monotonic(), self._process
        self._process = (pid, seconds, now)
        if before is None or before[0] != pid or now - before[2] < _SHORTEST_S:
            return None, memory
        return max(0.0, seconds - before[1]) / (now - before[2]), memory


def _gpu() -> tuple[float, int] | None:
    if shutil.which(_SMI) is None:
        return None
    query = [_SMI, "--query-gpu=utilization.gpu,memory.used", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(
            query, capture_output=True, text=True, timeout=_SMI_S, check=True, stdin=subprocess.DEVNULL
        ).stdout
        share, memory = told.splitlines()[0].split(",")
        return float(share) / 100, int(float(memory) * 2**20)
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None


@dataclass
class Usages:
    """The readings of one run while it is shown, each with where the run was then."""

    readings: deque[tuple[Usage, float, float, float]] = field(default_factory=lambda: deque(maxlen=_KEPT))
    """Usage, steps, wall seconds, episodes; oldest first."""

    @property
    def last(self) -> Usage | None:
        """The newest."""
        return self.readings[-1][0] if self.readings else None

    def add(self, usage: Usage, *, steps: float, wall_s: float, episodes: float) -> None:
        """Keep a reading."""
        self.readings.append((usage, steps, wall_s, episodes))

    def series(self) -> dict[str, Points]:
        """Return what was read as metrics, beside those the run tells itself."""
        cpu = _points((None if usage.cpu is None else 100 * usage.cpu, *at) for usage, *at in self.readings)
        memory = _points((None if usage.memory is None else usage.memory / 1e6, *at) for usage, *at in self.readings)
        return {name: points for name, points in ((CPU, cpu), (MEMORY, memory)) if points is not None}

    def line(self, width: int, *, plain: bool) -> Content:
        """Return the system line: the machine, this run, GPU and disk."""
        usage = self.last
        if usage is None:
            return Content.styled("measuring…", "$muted")
        shares = np.array([reading[0].machine for reading in self.readings])[-_SPARK:]
        spark = "" if plain or len(shares) < 2 else f"{_columns(shares)} "
        parts = [("CPU ", "$muted"), (f"{spark}{formatting.percent(usage.machine)}", "")]
        if usage.memory is not None:
            cpu = "" if usage.cpu is None else f"{formatting.percent(usage.cpu)}, "
            parts += [("   this run ", "$muted"), (f"{cpu}{formatting.size(usage.memory)}", "")]
        parts += [("   GPU ", "$muted"), (_gpu_text(usage), "")]
        if usage.disk is not None:
            free = "" if usage.free is None else f" of {formatting.size(usage.free)} free"
            parts += [("   disk ", "$muted"), (f"{formatting.size(usage.disk)}{free}", "")]
        return Content.assemble(*parts).truncate(width, ellipsis=True)


def _columns(shares: NDArray[np.float64]) -> str:
    """Shares as signs whose height is the share itself, not where it stands among the others."""
    scaled = np.concatenate([shares, [0.0, 1.0]])
    return sparkline(scaled, len(scaled))[:-2]


def _gpu_text(usage: Usage) -> str:
    if usage.gpu is None:
        return "none"
    share, memory = usage.gpu
    return f"{formatting.percent(share)}, {formatting.size(memory)}"


def _points(rows: Iterable[tuple[float | None, ...]]) -> Points | None:
    table = np.array([row for row in rows if row[0] is not None], dtype=np.float64).reshape(-1, 4)
    if not len(table):
        return None
    # A run that was resumed goes back; its readings do not.
    keep = table[:, 1] >= np.maximum.accumulate(table[:, 1])
    table = table[keep]
    return Points(table[:, 1], table[:, 2], table[:, 3], table[:, 0])
