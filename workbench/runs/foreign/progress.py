"""`progress.csv`, as the logger of Stable-Baselines3 writes it: any columns, which may become more as it goes on."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator
from pathlib import Path

from workbench.runs.foreign.following import LineTail
from workbench.runs.foreign.names import SCORE, SCORE_LENGTH, TOTAL_STEPS, number, our_name
from workbench.runs.foreign.rows import Facts, Row

ELAPSED, ITERATIONS, EPISODES = "time/time_elapsed", "time/iterations", "time/episodes"
_TAIL_BYTES = 65536
_TELLING = (("train/clip_fraction", "ppo"), ("train/ent_coef", "sac"))
"""Columns that only one algorithm writes."""


class ProgressSource:
    """The rows of a `progress.csv`.

    The logger writes the whole file anew when a column is added, and a reader may meet it half-written: a row with
    another number of cells than the header has is no row, and what was read is read again when it has changed.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._tail = LineTail(path)
        self._path = path
        self._names: list[str] = []
        self._began: float | None = None
        self._steps = 0
        self._base = 0
        self._told = 0
        self.skipped = 0
        """Lines that were no rows."""

    @property
    def facts(self) -> Facts:
        """The algorithm, where a column gives it away, and when it began."""
        known = next((algorithm for name, algorithm in _TELLING if name in self._names), "")
        return Facts(algorithm=known, began=self._began or 0.0)

    def rows(self) -> Iterator[Row]:
        """Yield the rows that were completed since the last time.

        Raises:
            StartedOverError: The file was written anew.
        """
        for line in self._tail.lines():
            cells = _cells(line)
            if not self._names:
                self._names = cells
                self._began = self._beginning()
            elif len(cells) == len(self._names):
                yield self._row(dict(zip(self._names, cells, strict=True)))
            else:
                self.skipped += 1

    def _row(self, cells: dict[str, str]) -> Row:
        found = {name: value for name, text in cells.items() if name and (value := number(text)) is not None}
        finite = {name: value for name, value in found.items() if math.isfinite(value)}
        steps = next((int(finite[name]) for name in TOTAL_STEPS if name in finite), None)
        if steps is None:
            steps = self._steps if any(name in cells for name in TOTAL_STEPS) else self._told + 1
        elif steps + self._base < self._steps:
            # `learn` was called again and counts from zero, with the same network: the run goes on.
            self._base = self._steps
        self._told += 1
        self._steps = steps + self._base if any(name in cells for name in TOTAL_STEPS) else steps
        elapsed = finite.get(ELAPSED)
        row = Row(
            self._steps,
            {our_name(name): finite.get(name) for name in found if name not in (SCORE, SCORE_LENGTH)},
            time=None if elapsed is None or self._began is None else self._began + elapsed,
            wall_s=elapsed,
            episodes=int(finite[EPISODES]) if EPISODES in finite else None,
            iteration=int(finite[ITERATIONS]) if ITERATIONS in finite else None,
        )
        if SCORE in finite:
            row.scores = {"mean_return": finite[SCORE], "mean_length": finite.get(SCORE_LENGTH)}
        return row

    def _beginning(self) -> float | None:
        """Return when training began: the last row was written when the file was, so long after the beginning."""
        try:
            with self._path.open("rb") as file:
                status = os.fstat(file.fileno())
                data = os.pread(file.fileno(), _TAIL_BYTES, max(0, status.st_size - _TAIL_BYTES))
        except OSError:
            return None
        for line in reversed(data[: data.rfind(b"\n") + 1].splitlines()):
            cells = _cells(line)
            if len(cells) == len(self._names) and ELAPSED in self._names:
                elapsed = number(cells[self._names.index(ELAPSED)])
                if elapsed is not None and math.isfinite(elapsed):
                    return status.st_mtime - elapsed
        return None


def _cells(line: bytes) -> list[str]:
    try:
        return next(csv.reader([line.decode(errors="replace")]), [])
    except csv.Error:
        return []
