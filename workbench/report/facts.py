"""What a report tells of its runs: read once, so that every part of it speaks of the same moment."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.catalog import Catalog
from workbench.catalog.run_config import RunConfig, read_config
from workbench.errors import NotFoundError
from workbench.runs.digest import RETURN_METRIC
from workbench.runs.directory import RunDirectory
from workbench.runs.grouping import RunGroup, grouped
from workbench.runs.history import Evaluation, History
from workbench.runs.statistics import Interval, bootstrap
from workbench.runs.store import RunStore
from workbench.runs.summary import RunSummary

Floats = NDArray[np.float64]

TERM_PREFIX, TERM_SUFFIX = "reward/", "_sum"


@dataclass(frozen=True, eq=False)
class ReportedRun:
    """One run as it was when the report was written."""

    summary: RunSummary
    history: History
    record: Mapping[str, Any]
    config: RunConfig

    @property
    def returns(self) -> tuple[Floats, Floats]:
        """Steps and training returns, `(n,)` each; a return is the mean of the last 100 whole episodes."""
        return self.curve(RETURN_METRIC)

    def curve(self, metric: str) -> tuple[Floats, Floats]:
        """Steps and values of a metric, `(n,)` each; empty where it was never written."""
        series = self.history.series.get(metric)
        if series is None:
            return np.empty(0), np.empty(0)
        return series.steps.copy(), series.values.copy()

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of its reward terms."""
        names = self.history.series
        return tuple(
            name.removeprefix(TERM_PREFIX).removesuffix(TERM_SUFFIX)
            for name in sorted(names)
            if name.startswith(TERM_PREFIX) and name.endswith(TERM_SUFFIX)
        )

    @property
    def best(self) -> Evaluation | None:
        """Its best evaluation."""
        return self.history.best_evaluation

    @property
    def command(self) -> str:
        """The line that started it; empty where that is not known."""
        words = self.record.get("command")
        return shlex.join(map(str, words)) if isinstance(words, list) else ""


@dataclass(frozen=True, eq=False)
class Row:
    """Runs that differ in seed alone, or one run: a line of the table, a curve of the figures."""

    letter: str
    title: str
    runs: tuple[ReportedRun, ...]

    @property
    def first(self) -> ReportedRun:
        """The run that stands for what all have in common."""
        return self.runs[0]

    @property
    def label(self) -> str:
        """How figures and tables call it: `a  ant_no_contact ×3 PPO`."""
        return f"{self.letter} {self.title} {self.first.summary.algorithm.upper()}"

    @cached_property
    def final(self) -> Interval:
        """The last training return, over its runs."""
        return _over(self.runs, lambda run: run.summary.last_return)

    @cached_property
    def best(self) -> Interval:
        """The mean return of the best evaluation, over its runs."""
        return _over(self.runs, lambda run: None if run.best is None else run.best.mean_return)

    @property
    def is_live(self) -> bool:
        """Whether one of its runs goes on."""
        return any(not run.summary.state.is_ended for run in self.runs)


@dataclass(frozen=True, eq=False)
class Facts:
    """All that a report tells."""

    rows: tuple[Row, ...]
    written: float
    """Unix seconds."""

    @property
    def runs(self) -> tuple[ReportedRun, ...]:
        """Every run, row after row."""
        return tuple(run for row in self.rows for run in row.runs)

    @property
    def environments(self) -> dict[str, list[Row]]:
        """Rows by Gymnasium ID; returns of different environments are never compared."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.first.summary.env_id, []).append(row)
        return found


def read_facts(
    runs: Sequence[RunDirectory], runs_root: Path, catalog: Catalog, *, clock: Callable[[], float] = time.time
) -> Facts:
    """Read runs and fold those that differ in seed alone.

    Args:
        runs: The runs, in the order in which they shall be told; one named twice counts once.
        runs_root: The folder of all runs.
        catalog: Knows the recipes that settings are compared with.
        clock: Unix seconds.

    Raises:
        NotFoundError: A run has told nothing so far.
    """
    store = RunStore(runs_root, clock=clock)
    told = {run.path: read_run(store, run, catalog) for run in dict.fromkeys(runs)}
    rows = []
    for place, item in enumerate(grouped([run.summary for run in told.values()])):
        members = item.rows if isinstance(item, RunGroup) else (item,)
        title = item.title if isinstance(item, RunGroup) else f"{item.env_name} {item.short_id}"
        rows.append(Row(_letter(place), title, tuple(told[member.run.path] for member in members)))
    return Facts(tuple(rows), clock())


def read_run(store: RunStore, run: RunDirectory, catalog: Catalog) -> ReportedRun:
    """Read one run.

    Raises:
        NotFoundError: It has told nothing so far.
    """
    summary = store.summary(run)
    if not summary.env_id:
        raise NotFoundError(f"{run.name} is no run that can be reported: {summary.problem}.")
    history = History(run)
    history.refresh()
    record = run.record()
    return ReportedRun(summary, history, record, read_config(record, catalog.entry_for_id(summary.env_id)))


def _over(runs: Sequence[ReportedRun], value: Callable[[ReportedRun], float | None]) -> Interval:
    known = [number for number in map(value, runs) if number is not None and math.isfinite(number)]
    return bootstrap(known)


def _letter(place: int) -> str:
    """`a` to `z`, then `aa` and on, as columns of a sheet are named."""
    name = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        name = chr(ord("a") + rest) + name
    return name
