"""An evaluation in words, as `evaluate` writes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.formatting import digits, number, plural, spread

if TYPE_CHECKING:
    from workbench.policies import Evaluation
    from workbench.policies.contestants import Contestant
    from workbench.policies.judgement import Verdict

WORST = 5
_NAMES = 9


def lines(
    contestant: Contestant, evaluation: Evaluation, verdict: Verdict | None, steps: Sequence[str]
) -> Iterator[str]:
    """Yield what an evaluation came to.

    Args:
        contestant: Who was evaluated, and where.
        evaluation: The scores.
        verdict: Whether it passed a bar, where there was one.
        steps: What to do next.
    """
    count, last = evaluation.episodes, evaluation.seed + evaluation.episodes - 1
    how = "greedy" if evaluation.deterministic else "drawn at random"
    who = f"{_title(contestant, evaluation)} in {contestant.source.name}"
    yield f"{who}: {plural(count, 'episode')}, {evaluation.seed} to {last}, actions {how}"
    shown = f"{spread(evaluation.mean, evaluation.std)}, from {number(evaluation.min)} to {number(evaluation.max)}"
    yield _line("return", shown)
    yield _line("length", f"{number(evaluation.mean_length)} steps{_in_seconds(evaluation)}")
    yield from _success(evaluation)
    yield _line("endings", ", ".join(f"{digits(many)} {reason}" for reason, many in evaluation.endings.items()))
    yield from _worst(evaluation)
    for place, problem in list(evaluation.problems.items())[:WORST]:
        yield _line("problem", f"episode {evaluation.seed + place}: {problem.rstrip('.')}")
    if verdict is not None:
        word = "passed" if verdict.is_passed else "failed"
        yield _line(
            "verdict",
            f"{word}: {_percent(verdict.rate)} of the episodes succeeded, {_percent(verdict.bar)} are required",
        )
    if steps:
        yield "NEXT"
        yield from (f"  {step}" for step in steps)


def _percent(share: float) -> str:
    """Return a share as precisely as a bar may need it: 89.97 % is not 90 %."""
    return f"{100 * share:.4g} %"


def _title(contestant: Contestant, evaluation: Evaluation) -> str:
    """What a person called the policy, with the checkpoint that this meant where it does not say."""
    path = evaluation.checkpoint
    return contestant.name if path is None or path.name in contestant.name else f"{contestant.name} ({path.name})"


def _success(evaluation: Evaluation) -> Iterator[str]:
    from workbench.policies.judgement import failure_groups, success_range

    found, good = success_range(evaluation), evaluation.success_count
    if found is None or good is None:
        yield _line("success", "not measured: the environment does not say what it is")
        return
    yield _line("success", f"{digits(good)} of {digits(evaluation.episodes)}, 95 % range {found.percent()}")
    groups = failure_groups(evaluation)
    if groups:
        yield _line("failures", ", ".join(f"{digits(group.count)} {group.ended_by}" for group in groups))


def _worst(evaluation: Evaluation) -> Iterator[str]:
    from workbench.policies.episode_table import worst

    if evaluation.episodes < 2 or len(set(zip(evaluation.returns, evaluation.reasons, strict=True))) < 2:
        return
    title = "worst"
    for row in worst(evaluation, WORST):
        yield _line(title, f"{row.seed}: return {number(row.return_)}, {digits(row.length)} steps, {row.ended_by}")
        title = ""


def _in_seconds(evaluation: Evaluation) -> str:
    period_s = evaluation.control_period_s
    return "" if period_s is None else f", {number(evaluation.mean_length * period_s)} s"


def _line(name: str, text: str) -> str:
    return f"  {name:<{_NAMES}}  {text}"
