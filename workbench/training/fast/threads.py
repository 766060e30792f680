"""Pieces of one computation on threads of our own, each with one thread of torch.

Torch's own threads spin between two operations: against the simulator's in a rollout, and for milliseconds wherever
another process has the core. Pieces of work that are cut in one fixed way and joined in one fixed order give the same
bits on any number of threads.
"""

from __future__ import annotations

import functools
import statistics
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager

import numpy as np
import torch

from workbench.training import blas
from workbench.training.cpus import cpus

__all__ = ["Pace", "cpus", "one_thread", "run_pieces"]

GAP = 64
"""Rounds until what was slower is tried again for the first time; twice as many each time after that."""
MOST_GAP = 1024
"""Rounds between two such trials at the most."""
ROUNDS = 4
"""Rounds that a trial is judged by, their median: one may be late for reasons of its own. An even number, since every
other update of TD3 steps the actor too."""
KEPT = 16
"""Rounds of what is in use that it is judged by: a pause slows down more than one."""
WARM_UP_S = 0.05
"""A trial lasts this long at least and its last rounds decide: a virtual CPU that was idle wakes up slowly at first."""


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
        self._seconds: dict[int, deque[float]] = {}
        self._tried = 0
        self._trial_rounds, self._trial_s = 0, 0.0
        self._gap = self._left = GAP

    def choose(self, most: int) -> int:
        """Return the number of workers for the next round of the work: one, or the most there may be."""
        if self._tried:
            return self._tried
        for workers in (most, 1):
            if workers not in self._seconds:
                return self._try(workers)
        faster, slower = sorted((1, most), key=lambda workers: statistics.median(self._seconds[workers]))
        self._left -= 1
        if self._left > 0:
            return faster
        self._gap = self._left = min(2 * self._gap, MOST_GAP)
        return self._try(slower)

    def note(self, workers: int, seconds: float) -> None:
        """Take how long a round took."""
        kept = self._seconds.setdefault(workers, deque(maxlen=KEPT))
        kept.append(seconds)
        if not self._tried:
            return
        self._trial_rounds += 1
        self._trial_s += seconds
        if self._trial_rounds >= ROUNDS and self._trial_s >= WARM_UP_S:
            self._tried = 0
            self._seconds[workers] = deque(list(kept)[-ROUNDS:], KEPT)

    def _try(self, workers: int) -> int:
        self._tried = workers
        self._trial_rounds, self._trial_s = 0, 0.0
        return workers


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
