"""Runs side by side: what is a column, the numbers of each, how far they are apart, and where their settings differ.

Pure: from rows and pasts to values; `workbench.ui.compare_text` puts them into words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.catalog.run_config import flat_settings, is_own
from workbench.runs.contrast import ahead, ahead_in_pairs
from workbench.runs.grouping import RunGroup, grouped
from workbench.runs.statistics import Interval, iqm
from workbench.ui.charts.smoothing import smooth
from workbench.ui.past import Past, Points
from workbench.ui.run_charts import NO_PAST
from workbench.ui.watch import RunRow

Floats = NDArray[np.float64]
SMOOTHING = 0.9
"""Of the values at a common step."""


@dataclass(frozen=True)
class Side:
    """One column: a run, or runs that differ in seed only."""

    letter: str
    rows: tuple[RunRow, ...]

    @property
    def first(self) -> RunRow:
        """The run that stands for what all have in common."""
        return self.rows[0]

    @property
    def key(self) -> str:
        """What it is told apart by."""
        return self.first.name if len(self.rows) == 1 else f"{self.first.group}"

    @property
    def title(self) -> str:
        """Environment and short id, or how many seeds."""
        return self.first.title if len(self.rows) == 1 else f"{self.first.env_name} ×{len(self.rows)}"


@dataclass(frozen=True)
class Figure:
    """One row of numbers."""

    name: str
    values: tuple[float | None, ...]
    """A number a side."""
    spreads: tuple[float | None, ...] = ()
    """A standard deviation a side, where there is one."""
    apart: Interval | None = None
    """How much the second of two sides is ahead of the first."""
    is_count: bool = False
    """Whether it is a number of steps."""


def sides(rows: Sequence[RunRow]) -> list[Side]:
    """Return the columns, in the order in which they were asked for.

    Runs of one group are one column, unless it would be the only one: then its seeds are compared.
    """
    found, together = [], grouped(rows)
    for place, item in enumerate(together if len(together) > 1 else rows):
        members = item.rows if isinstance(item, RunGroup) else (item,)
        letter = chr(ord("a") + place)
        found.append(Side(letter, tuple(row for row in members if isinstance(row, RunRow))))
    return found


def metrics(pasts: Mapping[Path, Past]) -> set[str]:
    """Return every metric that one of the runs told of."""
    return {name for past in pasts.values() for name in past.series}


def figures(columns: Sequence[Side], pasts: Mapping[Path, Past], metric: str) -> list[Figure]:
    """Return the rows of numbers.

    Args:
        columns: The sides.
        pasts: What each run did.
        metric: What is compared at a common step.
    """
    best = [[row.best.mean_return if row.best else None for row in side.rows] for side in columns]
    spreads = tuple(
        side.first.best.std_return if len(side.rows) == 1 and side.first.best is not None else None for side in columns
    )
    rows = [Figure("best evaluation", _middles(best), spreads, _apart(best))]
    rows += _at_common(columns, pasts, metric)
    rows += _same_episodes(columns, pasts)
    steps = tuple(float(np.mean([row.steps for row in side.rows])) for side in columns)
    rows.append(Figure("steps", steps, is_count=True))
    return rows


def _at_common(columns: Sequence[Side], pasts: Mapping[Path, Past], metric: str) -> list[Figure]:
    """What a metric was, smoothed, at the last step all of them have reached."""
    points = [[pasts.get(row.path, NO_PAST).series.get(metric) for row in side.rows] for side in columns]
    ends = [float(item.steps[-1]) for side in points for item in side if item is not None and len(item.steps)]
    if len(ends) < sum(len(side.rows) for side in columns):
        return []
    at = min(ends)
    values = [[_value(item, at) for item in side] for side in points]
    return [Figure(f"at {at:.0f}", _middles(values), (), _apart(values))]


def _value(points: Points | None, at: float) -> float | None:
    if points is None:
        return None
    place = int(np.searchsorted(points.steps, at, side="right"))
    if not place:
        return None
    drawn = smooth(points.values[:place], SMOOTHING)
    return float(drawn[-1]) if np.isfinite(drawn[-1]) else None


def _same_episodes(columns: Sequence[Side], pasts: Mapping[Path, Past]) -> list[Figure]:
    """Returns on episodes that the best checkpoint of every run was scored on, those asked for before those claimed."""
    if any(len(side.rows) > 1 for side in columns):
        return []
    scored = [_scored(side.first, pasts.get(side.first.path, NO_PAST)) for side in columns]
    shared = set.intersection(*(set(item) for item in scored)) if scored else set()
    if not shared:
        return []
    # The latest episodes are those that nothing was chosen by.
    key = max(shared)
    returns = [scored[place][key] for place in range(len(columns))]
    apart = ahead_in_pairs(returns[1], returns[0]) if len(returns) == 2 else None
    means = tuple(float(np.nanmean(item)) for item in returns)
    return [Figure(f"same {key[1]} episodes", means, (), apart)]


def _scored(row: RunRow, past: Past) -> dict[tuple[int, int], Floats]:
    """The returns of a run's best checkpoint, by first seed and number of the episodes."""
    found: dict[tuple[int, int], Floats] = {}
    best = None if row.best is None else row.best.steps
    for mark in past.marks:
        kind, returns, seed = mark.get("kind"), mark.get("returns"), mark.get("seed")
        steps = mark.get("of_steps") if kind == "scores" else mark.get("steps")
        if kind in ("evaluation", "scores") and isinstance(returns, list) and isinstance(seed, int) and steps == best:
            values = [float(item) if isinstance(item, int | float) else np.nan for item in returns]
            if values:
                found[(seed, len(values))] = np.array(values)
    return found


def _middles(values: Sequence[Sequence[float | None]]) -> tuple[float | None, ...]:
    """The interquartile mean of each side; of one run its value."""
    known = [[value for value in side if value is not None and np.isfinite(value)] for side in values]
    return tuple(iqm(side) if side else None for side in known)


def _apart(values: Sequence[Sequence[float | None]]) -> Interval | None:
    if len(values) != 2:
        return None
    first, second = ([value for value in side if value is not None] for side in values)
    return ahead(second, first) if first and second else None


@dataclass(frozen=True)
class Difference:
    """One setting as every side has it."""

    key: str
    values: tuple[str, ...]

    @property
    def is_one(self) -> bool:
        """Whether it is a difference at all."""
        return len(set(self.values)) > 1 and not is_own(self.key)


def settings(records: Sequence[Mapping[str, Any]]) -> list[Difference]:
    """Return all settings of several runs, in the order of the first.

    Fields of one name in the blocks of different algorithms are compared with each other.

    Args:
        records: Their `run.json`.
    """
    tables = [flat_settings(record) for record in records]
    algorithms = {table.get("algorithm", "") for table in tables}
    if len(algorithms) > 1:
        tables = [
            {key.removeprefix(f"{table.get('algorithm', '')}."): value for key, value in table.items()}
            for table in tables
        ]
    keys = dict.fromkeys(key for table in tables for key in table)
    return [Difference(key, tuple(table.get(key, "–") for table in tables)) for key in keys]


@dataclass(frozen=True)
class Alike:
    """What all of them have in common, and whether their returns may be compared at all."""

    environment: bool
    seed: str
    """`same seed 1`, `seeds 1, 2`; empty where no seed is known."""
    code: str
    """`same code 4be1c07`, `code 4be1c07, 9ab01f2`; empty where none is known."""


def alike(columns: Sequence[Side], records: Sequence[Mapping[str, Any]]) -> Alike:
    """Return what is the same.

    Args:
        columns: The sides.
        records: The `run.json` of the first run of each.
    """
    environments = {side.first.env_id for side in columns}
    seeds = sorted({row.seed for side in columns for row in side.rows if row.seed is not None})
    told = f"seeds {', '.join(map(str, seeds[:6]))}" if len(seeds) > 1 else ""
    told = f"same seed {seeds[0]}" if len(seeds) == 1 else told
    codes = dict.fromkeys(_code(record) for record in records)
    known = [code for code in codes if code]
    code = "" if not known else f"same code {known[0]}" if len(codes) == 1 else f"code {', '.join(known)}"
    return Alike(len(environments) == 1, told, code)


def _code(record: Mapping[str, Any]) -> str:
    git = record.get("git")
    revision = git.get("revision") if isinstance(git, dict) else git
    if not isinstance(revision, str) or not revision:
        return ""
    return revision[:7] + ("+" if isinstance(git, dict) and git.get("dirty") else "")
