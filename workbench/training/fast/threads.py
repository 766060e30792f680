"""Pieces of one computation on threads of our own, each with one thread of torch.

Torch's own threads spin between two operations: against the simulator's in a rollout, and for milliseconds wherever
another process has the core. Pieces of work that are cut in one fixed way and joined in one fixed order give the same
bits on any number of threads.
"""

from __future__ import annotations

import functools
import statistics
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager

import numpy as np
import torch

from workbench.training import blas
from workbench.training.cpus import cpus

__all__ = ["Pace", "cpus", "one_thread", "run_pieces"]

ROUNDS = 100
"""Every so many rounds, what was slower last time is tried again."""
TRIES = 3
"""Rounds that decide, by their median: one may be late for reasons of its own, as the first with a new thread is."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch and the matrix products of NumPy use one thread until the block ends.

    NumPy says nothing there of numbers that are not finite, as torch does not: they are looked for before they are
    learnt.
    """
    setters = ((torch.get_num_threads(), torch.set_num_threads), (blas.threads() or 1, blas.set_threads))
    try:
        for before, set_threads in setters:
            if before != 1:
                set_threads(1)
        with np.errstate(all="ignore"):
            yield
    finally:
        for before, set_threads in setters:
            if before != 1:
                set_threads(before)


class Pace:
    """Finds out whether threads pay, as long as the work goes on.

    Where other work has the CPUs, waiting for a thread's turn takes longer than the thread saves. Only for work whose
    result is the same on any number of threads.
    """

    def __init__(self) -> None:
        self._seconds: dict[int, deque[float]] = defaultdict(lambda: deque(maxlen=TRIES))
        self._rounds = 0

    def choose(self, most: int) -> int:
        """Return the number of workers for the next round of the work: one, or the most there may be."""
        self._rounds += 1
        for workers in (most, 1):
            if len(self._seconds[workers]) < TRIES:
                return workers
        faster, slower = sorted((1, most), key=lambda workers: statistics.median(self._seconds[workers]))
        if self._rounds % ROUNDS:
            return faster
        self._seconds[slower].clear()
        return slower

    def note(self, workers: int, seconds: float) -> None:
        """Take how long a round took."""
        self._seconds[workers].append(seconds)


def run_pieces(pieces: Sequence[Callable[[], object]], workers: int) -> None:
    """Run all pieces, as many at once as there are workers; autograd records nothing of them.

    Call it within `one_thread`, so that threads that begin here have one too.

    Args:
        pieces: That write nothing another one reads or writes.
        workers: Threads, the calling one among them.
    """
    if workers < 2 or len(pieces) < 2:
        _run(pieces)
        return
    # The calling thread is a worker too: it takes the first of every `workers` pieces.
    shares = [pieces[start::workers] for start in range(min(workers, len(pieces)))]
    pending = [_pool(workers - 1).submit(_run, share) for share in shares[1:]]
    try:
        _run(shares[0])
    finally:
        # Whoever meets a failure finds nobody writing any more.
        wait(pending)
    for future in pending:
        future.result()


def _run(pieces: Sequence[Callable[[], object]]) -> None:
    # Whether autograd records, and what NumPy warns of, is a matter of each thread: what is not finite is found later.
    with torch.inference_mode(), np.errstate(all="ignore"):
        for piece in pieces:
            piece()


@functools.cache
def _pool(size: int) -> ThreadPoolExecutor:
    # The number of threads that MKL uses is one of each thread too.
    return ThreadPoolExecutor(size, "update", initializer=torch.set_num_threads, initargs=(1,))
