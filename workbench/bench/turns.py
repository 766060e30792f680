"""Two or more pieces of work in turns, so that whatever else the machine does touches all of them alike."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch

Clock = Callable[[], float]

REST_S = 0.03
"""Before every turn: threads of the one before, torch's and JAX's among them, spin for some milliseconds after their
work, on a CPU that another's threads would have had if each ran in a process alone, as its users run it."""


def take_turns(
    runs: Sequence[Callable[[], object]], repeats: int, *, clock: Clock = time.perf_counter
) -> list[list[float]]:
    """Return the seconds of each in each turn; a first turn of each, which also warms up, is not counted."""
    seconds: list[list[float]] = [[] for _ in runs]
    for repeat in range(repeats + 1):
        for run, kept in zip(runs, seconds, strict=True):
            time.sleep(REST_S)
            started = clock()
            run()
            if repeat:
                kept.append(clock() - started)
    return seconds


def ratio(theirs: Sequence[float], ours: Sequence[float]) -> float:
    """Return the median of how many times longer neighbouring turns of theirs took."""
    return statistics.median(one / other for one, other in zip(theirs, ours, strict=True))


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use so many threads until the block ends."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def busy_neighbour() -> Iterator[None]:
    """Keep one other process busy until the block ends, or this process does."""
    code = "import os; parent = os.getppid()\nwhile os.getppid() == parent: sum(range(10_000))"
    with subprocess.Popen([sys.executable, "-c", code]) as neighbour:
        try:
            yield
        finally:
            neighbour.kill()
