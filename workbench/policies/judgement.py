"""What an evaluation comes to: how failures group, whether a policy passes a bar, and what to do next."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workbench.errors import RequestError
from workbench.policies.chances import Range, wilson
from workbench.policies.evaluation import Evaluation

NEVER_LEARNED = 0.1
"""A policy whose success rate is below this at best has not learned the task."""
TOO_WIDE = 0.15
"""A range that leaves more than this open says little."""
MORE = 4
"""Times as many episodes make a range half as wide."""
MOST_STEPS = 4
"""So many things to do next are told at most."""


@dataclass(frozen=True)
class FailureGroup:
    """Failed episodes that ended for the same reason."""

    ended_by: str
    count: int


@dataclass(frozen=True)
class Verdict:
    """Whether a policy passes a bar of success."""

    rate: float
    """The observed success rate, which decides."""
    bar: float
    """What was required."""
    range: Range
    """Where the true rate probably lies."""
    episodes: int

    @property
    def is_passed(self) -> bool:
        """Whether the observed rate reaches the bar."""
        return self.rate >= self.bar

    @property
    def is_uncertain(self) -> bool:
        """Whether the true rate may well lie on the other side."""
        return self.range.straddles(self.bar)

    @property
    def episodes_to_tell(self) -> int:
        """How many episodes would halve the range."""
        return MORE * self.episodes

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"required": self.bar, "observed": self.rate, "passed": self.is_passed, "uncertain": self.is_uncertain}


def success_range(evaluation: Evaluation) -> Range | None:
    """Return the 95 % range of the success rate; None where success is not measured."""
    count = evaluation.success_count
    return None if count is None else wilson(count, evaluation.episodes)


def failure_groups(evaluation: Evaluation) -> list[FailureGroup]:
    """Return the failed episodes by how they ended, the largest group first; nothing where success is not measured."""
    if evaluation.successes is None:
        return []
    failed = Counter(reason for reason, good in zip(evaluation.reasons, evaluation.successes, strict=True) if not good)
    return [FailureGroup(reason, count) for reason, count in failed.most_common()]


def judge(evaluation: Evaluation, bar: float) -> Verdict:
    """Return whether the success rate reaches a bar.

    Raises:
        RequestError: The environment does not say what success is.
    """
    rate, found = evaluation.success_rate, success_range(evaluation)
    if rate is None or found is None:
        raise RequestError(
            f"a success rate of {bar:g} cannot be required: {evaluation.environment} does not say what success is.",
            hint="A BatchEnv names the endings that are in `successes`; any other tells `is_success` in its info.",
        )
    return Verdict(rate, bar, found, evaluation.episodes)


def next_steps(evaluation: Evaluation, *, name: str, bar: float | None = None) -> list[str]:
    """Return what to do next, in sentences, the most pressing first; nothing that the figures do not call for.

    Args:
        evaluation: The scores.
        name: What a person types for the policy.
        bar: The success rate that was required, if any.
    """
    return list(_steps(evaluation, name, bar))[:MOST_STEPS]


def _steps(evaluation: Evaluation, name: str, bar: float | None) -> Iterator[str]:
    if evaluation.problems:
        first = min(evaluation.problems)
        yield (
            f"{len(evaluation.problems)} of {evaluation.episodes} episodes broke the simulation: "
            f"look at episode {evaluation.seed + first} first ({evaluation.problems[first].rstrip('.')})."
        )
    if evaluation.successful_at_reset:
        yield (
            f"{evaluation.successful_at_reset} of {evaluation.episodes} episodes were a success before anything acted: "
            "the start states are too near the goal, or the success is too easily met."
        )
    found = success_range(evaluation)
    if evaluation.successes is None or found is None:
        return
    if found.high < NEVER_LEARNED:
        yield "It has not learned the task: train longer, or look at its curves for where it stopped to learn."
    elif _pays_for_failure(evaluation):
        yield "Failed episodes return as much as successful ones: the reward pays for something else than success."
    more = MORE * evaluation.episodes
    if (bar is not None and found.straddles(bar)) or found.width > TOO_WIDE:
        yield f"The range {found.percent()} leaves much open: --episodes {more} halves it."
    if not all(evaluation.successes):
        yield f"See how it fails: `workbench evaluate {name} --record-worst 1`."


def _pays_for_failure(evaluation: Evaluation) -> bool:
    assert evaluation.successes is not None
    by_success: dict[bool, list[float]] = {True: [], False: []}
    for value, good in zip(evaluation.returns, evaluation.successes, strict=True):
        by_success[good].append(value)
    if not by_success[True] or not by_success[False]:
        return False
    return statistics.median(by_success[False]) >= statistics.median(by_success[True])
