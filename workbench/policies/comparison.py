"""Two or more policies on the same episodes: how far apart they are, and whether that is more than chance.

Episodes that begin alike are compared one by one, so that what is easy or hard about a start weighs on both. The first
policy is the new one; each of the others is what it is compared with.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workbench.errors import RequestError
from workbench.policies.chances import SIGNIFICANT, Range, mcnemar
from workbench.policies.evaluation import Evaluation
from workbench.policies.judgement import success_range
from workbench.runs.contrast import FEWEST_EPISODES, ahead_in_pairs
from workbench.runs.statistics import Interval, bootstrap, iqm

FEWEST_SOLVED = next(count for count in range(1, 100) if mcnemar(count, 0) < SIGNIFICANT)
"""So many episodes that only one of two policies solves are more than chance."""

Outcome = Literal["did_better", "did_worse", "no_clear_difference"]
"""How the new policy did against another."""


@dataclass(frozen=True)
class Standing:
    """One policy by itself."""

    name: str
    evaluation: Evaluation
    mean: Interval
    """Its mean return, and where that probably lies."""
    iqm: Interval
    """Its interquartile mean, likewise."""
    success: Range | None
    """Where its success rate probably lies; None where that is not measured."""


@dataclass(frozen=True)
class Duel:
    """The new policy against another, episode by episode."""

    new: str
    old: str
    difference: Interval
    """How much more the new one returns, by the mean over episodes."""
    higher: int
    """Episodes in which the new one returned more."""
    lower: int
    """Episodes in which it returned less."""
    improved: int | None
    """Episodes that only the new one solved; None where success is not measured."""
    regressed: int | None
    """Episodes that only the other solved."""
    p_value: float | None
    """How often chance alone would split those as unevenly."""

    @property
    def outcome(self) -> Outcome:
        """By success where that is measured, else by the range of the difference in return."""
        if self.p_value is not None and self.improved is not None and self.regressed is not None:
            if self.p_value >= SIGNIFICANT:
                return "no_clear_difference"
            return "did_better" if self.improved > self.regressed else "did_worse"
        if self.difference.low > 0:
            return "did_better"
        return "did_worse" if self.difference.high < 0 else "no_clear_difference"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "new": self.new,
            "old": self.old,
            "outcome": self.outcome,
            "difference": _interval(self.difference),
            "higher": self.higher,
            "lower": self.lower,
            "improved": self.improved,
            "regressed": self.regressed,
            "p_value": self.p_value,
        }


@dataclass(frozen=True)
class Comparison:
    """Several policies on the same episodes."""

    standings: tuple[Standing, ...]
    """In the order they were named, the new one first."""
    duels: tuple[Duel, ...]
    """The new one against each of the others."""

    @property
    def fewest_episodes(self) -> int:
        """With fewer no difference is clear, however large it is."""
        return FEWEST_SOLVED if any(duel.p_value is not None for duel in self.duels) else FEWEST_EPISODES

    @property
    def did_worse(self) -> list[str]:
        """The policies that the new one is clearly worse than."""
        return [duel.old for duel in self.duels if duel.outcome == "did_worse"]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        first = self.standings[0].evaluation
        return {
            "environment": first.environment,
            "seed": first.seed,
            "num_episodes": first.episodes,
            "deterministic": first.deterministic,
            "policies": [
                {
                    "name": one.name,
                    "checkpoint": None if one.evaluation.checkpoint is None else str(one.evaluation.checkpoint),
                    "mean": _interval(one.mean),
                    "iqm": _interval(one.iqm),
                    "success_range": None if one.success is None else [one.success.low, one.success.high],
                    **one.evaluation.to_json(),
                }
                for one in self.standings
            ],
            "comparisons": [duel.to_json() for duel in self.duels],
        }


def compare(names: Sequence[str], evaluations: Sequence[Evaluation]) -> Comparison:
    """Compare the first policy with each of the others.

    Args:
        names: What each is called.
        evaluations: Their scores, in the same order.

    Raises:
        RequestError: There is only one, or they did not play the same episodes.
    """
    if len(evaluations) < 2:
        raise RequestError("a comparison needs at least two policies.")
    first = evaluations[0]
    for name, other in zip(names, evaluations, strict=True):
        played, same = ((one.environment, one.seed, one.episodes) for one in (other, first))
        if played != same:
            raise RequestError(f"{name} did not play the same episodes as {names[0]}.")
    standings = tuple(_standing(name, one) for name, one in zip(names, evaluations, strict=True))
    return Comparison(standings, tuple(_duel(standings[0], other) for other in standings[1:]))


def to_csv(comparison: Comparison) -> str:
    """Return a table of the episodes: for each policy its return, and its success where that is measured."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    standings = comparison.standings
    head = ["episode", "seed"]
    for one in standings:
        head += [f"return {one.name}"] + ([f"success {one.name}"] if one.evaluation.successes is not None else [])
    writer.writerow(head)
    first = standings[0].evaluation
    for place in range(first.episodes):
        row: list[Any] = [place, first.seed + place]
        for one in standings:
            row.append(repr(one.evaluation.returns[place]))
            if one.evaluation.successes is not None:
                row.append(str(one.evaluation.successes[place]).lower())
        writer.writerow(row)
    return text.getvalue()


def _standing(name: str, evaluation: Evaluation) -> Standing:
    mean = bootstrap(evaluation.returns, statistic=lambda drawn: float(drawn.mean()))
    return Standing(name, evaluation, mean, bootstrap(evaluation.returns, statistic=iqm), success_range(evaluation))


def _duel(new: Standing, old: Standing) -> Duel:
    pairs = list(zip(new.evaluation.returns, old.evaluation.returns, strict=True))
    improved = regressed = p_value = None
    ours, theirs = new.evaluation.successes, old.evaluation.successes
    if ours is not None and theirs is not None:
        improved = sum(mine and not other for mine, other in zip(ours, theirs, strict=True))
        regressed = sum(other and not mine for mine, other in zip(ours, theirs, strict=True))
        p_value = mcnemar(improved, regressed)
    return Duel(
        new.name,
        old.name,
        difference=ahead_in_pairs(new.evaluation.returns, old.evaluation.returns),
        higher=sum(mine > other for mine, other in pairs),
        lower=sum(mine < other for mine, other in pairs),
        improved=improved,
        regressed=regressed,
        p_value=p_value,
    )


def _interval(interval: Interval) -> dict[str, float | None]:
    ends = {"value": interval.value, "low": interval.low, "high": interval.high}
    return {name: value if math.isfinite(value) else None for name, value in ends.items()}
