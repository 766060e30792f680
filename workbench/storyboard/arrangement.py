"""Which cell of a grid shows what, where its rows and columns mean something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

from workbench.storyboard.selection import FilmedRun, Shown

By = Literal["checkpoint", "seed", "run", "algorithm"]
COLUMNS: tuple[By, ...] = get_args(By)
"""What the columns of a grid can be."""

Place = tuple[int, int]
"""Row and column, counted from 0."""


@dataclass(frozen=True)
class Take:
    """One cell of a montage: a checkpoint, played from one seed."""

    shown: Shown
    seed: int
    place: int
    """Of the checkpoint among those that are shown of its run, counted from 0."""


def takes_of(chosen: Iterable[Shown], seeds: Sequence[int]) -> list[Take]:
    """Return every checkpoint with every seed, run after run, the seeds of one checkpoint side by side."""
    counts: Counter[FilmedRun] = Counter()
    takes = []
    for shown in chosen:
        takes += [Take(shown, seed, counts[shown.run]) for seed in seeds]
        counts[shown.run] += 1
    return takes


def arrange(takes: Sequence[Take], by: By | None = None) -> list[Place] | None:
    """Return the place of each take; None where any order will do, and the grid may have the shape it likes.

    What differs and is not in the columns is in the rows: by checkpoint, a row is a run (and a seed); by seed, a run
    and one of its checkpoints; by run or algorithm, a checkpoint (and a seed). Cells may stay empty. Where all are
    played from one seed, a column by seed is one that runs were trained with, and a row an environment and algorithm
    and one of the checkpoints.

    Args:
        takes: What is shown.
        by: What a column is; without, a seed where there are several, else a checkpoint, and nothing where that
            would make a single row or column.
    """
    chosen = by or ("seed" if len({take.seed for take in takes}) > 1 else "checkpoint")
    column_of, row_of = _keys(takes)[chosen]
    columns = _numbered(column_of(take) for take in takes)
    rows = _numbered(sorted({row_of(take) for take in takes}))
    if by is None and 1 in (len(rows), len(columns)):
        return None
    return [(rows[row_of(take)], columns[column_of(take)]) for take in takes]


Item = TypeVar("Item", bound=Hashable)
Key = Callable[[Take], Hashable]
Order = Callable[[Take], tuple[int, ...]]


def _keys(takes: Sequence[Take]) -> Mapping[By, tuple[Key, Order]]:
    runs = _numbered(take.shown.run for take in takes)
    seeds = _numbered(take.seed for take in takes)
    algorithms = _numbered(each.algorithm for each in runs)
    trained = _numbered(each.seed for each in runs)
    kinds = _numbered((each.environment, each.algorithm) for each in runs)
    # Runs of one algorithm are counted: the first of each stand in one row, then the second ones.
    ranks = _ranks(runs, lambda each: each.algorithm)
    twins = _ranks(runs, lambda each: (each.environment, each.algorithm, each.seed))

    def run(take: Take) -> int:
        return runs[take.shown.run]

    def seed(take: Take) -> int:
        return seeds[take.seed]

    def checkpoint(take: Take) -> int:
        return take.place

    def algorithm(take: Take) -> int:
        return algorithms[take.shown.run.algorithm]

    def training_seed(take: Take) -> int:
        return trained[take.shown.run.seed]

    def kind(take: Take) -> tuple[int, ...]:
        run = take.shown.run
        return kinds[run.environment, run.algorithm], twins[run], take.place

    return {
        "checkpoint": (checkpoint, lambda take: (run(take), seed(take))),
        "seed": (seed, lambda take: (run(take), checkpoint(take))) if len(seeds) > 1 else (training_seed, kind),
        "run": (run, lambda take: (checkpoint(take), seed(take))),
        "algorithm": (algorithm, lambda take: (ranks[take.shown.run], checkpoint(take), seed(take))),
    }


def _ranks(runs: Iterable[FilmedRun], group: Callable[[FilmedRun], Hashable]) -> dict[FilmedRun, int]:
    """Count the runs of each group."""
    counts: Counter[Hashable] = Counter()
    ranks = {}
    for run in runs:
        ranks[run] = counts[group(run)]
        counts[group(run)] += 1
    return ranks


def _numbered(items: Iterable[Item]) -> dict[Item, int]:
    return {item: number for number, item in enumerate(dict.fromkeys(items))}
