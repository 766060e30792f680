"""The episodes of an evaluation as rows of a table, and which of them went worst."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.policies.evaluation import Evaluation

COLUMNS = ("episode", "seed", "success", "ended_by", "length", "time_s", "return", "problem")
"""Before one column for each reward term."""


@dataclass(frozen=True)
class EpisodeRow:
    """One episode."""

    episode: int
    """Its place, from 0."""
    seed: int
    """The number that alone fixes how it begins."""
    success: bool | None
    """None where that is not measured."""
    ended_by: str
    length: int
    """In steps."""
    time_s: float | None
    """In simulated time; None where the environment does not say how long a step is."""
    return_: float
    terms: Mapping[str, float]
    """The sum of each reward term."""
    problem: str
    """What went wrong in the simulation."""


def rows(evaluation: Evaluation) -> list[EpisodeRow]:
    """Return one row an episode, in the order of their numbers."""
    period_s, successes = evaluation.control_period_s, evaluation.successes
    return [
        EpisodeRow(
            episode=place,
            seed=evaluation.seed + place,
            success=None if successes is None else successes[place],
            ended_by=evaluation.reasons[place],
            length=evaluation.lengths[place],
            time_s=None if period_s is None else evaluation.lengths[place] * period_s,
            return_=evaluation.returns[place],
            terms={name: sums[place] for name, sums in evaluation.terms.items()},
            problem=evaluation.problems.get(place, ""),
        )
        for place in range(evaluation.episodes)
    ]


def worst(evaluation: Evaluation, count: int) -> list[EpisodeRow]:
    """Return the episodes that went worst, the worst first.

    Those that broke the simulation come first, then those that failed, each by its return; of equals the first.
    """
    ranked = sorted(rows(evaluation), key=lambda row: (not row.problem, row.success is True, row.return_, row.episode))
    return ranked[:count]


def to_csv(evaluation: Evaluation) -> str:
    """Return the table as CSV: numbers with all their digits, nothing where something is not known."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, *(f"reward_{name}" for name in evaluation.terms)])
    for row in rows(evaluation):
        success = "" if row.success is None else str(row.success).lower()
        time_s = "" if row.time_s is None else f"{row.time_s:.6g}"
        told = [row.episode, row.seed, success, row.ended_by, row.length, time_s, repr(row.return_), row.problem]
        writer.writerow([*told, *(repr(value) for value in row.terms.values())])
    return text.getvalue()
