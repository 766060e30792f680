"""`workbench compare`: two or more policies on the same episodes, and whether they differ by more than chance."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import RequestError, WorkbenchError
from workbench.project import Project
from workbench.verbs.evaluating import add_episode_arguments, check_episode_arguments, noting, play, write_table
from workbench.verbs.run_text import write_line
from workbench.verbs.signals import stop_on_signals
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.policies.comparison import Comparison, Duel, Standing
    from workbench.runs.statistics import Interval

MOST = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `compare`."""
    parser.add_argument(
        "policies",
        nargs="+",
        metavar="CKPT",
        help="the new policy, then those it is compared with; zero, random and sweep are agents that need no training",
    )
    add_episode_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document; all else goes to stderr")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write a table of the episodes")
    parser.add_argument(
        "--fail-if-worse",
        action="store_true",
        help="exit with 1 where the first is clearly worse than any other: by McNemar's exact test of success "
        "(p < 0.05), or, where success is not measured, where the 95%% range of the difference in return is below 0",
    )


def run(args: argparse.Namespace, project: Project) -> int:
    """Compare; 0 where that worked, 1 where the new policy is worse and must not be, 3 where it was stopped."""
    check_episode_arguments(args)
    texts: list[str] = args.policies
    if not 2 <= len(texts) <= MOST:
        raise RequestError(f"a comparison is of 2 to {MOST} policies, not {len(texts)}.")
    twice = next((text for text in texts if texts.count(text) > 1), None)
    if twice is not None:
        raise RequestError(f"`{twice}` is named twice: there is nothing to compare.")
    from workbench.policies.comparison import compare, to_csv
    from workbench.policies.contestants import find_contestants

    contestants = find_contestants(
        project,
        texts,
        seed=args.seed,
        env=args.env,
        stochastic=args.stochastic,
        normalizer=args.normalizer,
        trust=args.trust,
    )
    with stop_on_signals() as asked:
        evaluations = [play(one, args, lambda: bool(asked)) for one in contestants]
    comparison = compare([one.name for one in contestants], evaluations)
    failures: list[WorkbenchError] = []
    if args.csv is not None:
        with noting(failures):
            write_table(args.csv, to_csv(comparison))
    if args.episodes < comparison.fewest_episodes:
        write_line(
            f"warning: with fewer than {comparison.fewest_episodes} episodes no difference is clear, however large.",
            sys.stderr,
        )
    if args.json:
        write_json({"finished": True, **comparison.to_json()})
    else:
        for line in lines(comparison, contestants[0].source.name):
            write_line(line, sys.stdout)
    if failures:
        raise failures[0]
    return int(args.fail_if_worse and bool(comparison.did_worse))


def lines(comparison: Comparison, environment: str) -> Iterator[str]:
    """Yield what a comparison came to."""
    from workbench.formatting import plural

    first = comparison.standings[0].evaluation
    last = first.seed + first.episodes - 1
    yield f"{environment}: the same {plural(first.episodes, 'episode')} for each, {first.seed} to {last}"
    head = ("policy", "mean return (95 % range)", "interquartile mean", "success (95 % range)")
    yield from _aligned([head, *(_row(one) for one in comparison.standings)])
    yield f"{comparison.standings[0].name} against"
    yield from _aligned([_told(duel) for duel in comparison.duels])


def _row(one: Standing) -> tuple[str, ...]:
    from workbench.formatting import digits

    success = "not measured"
    if one.success is not None:
        count = one.evaluation.success_count
        success = f"{digits(count)} of {digits(one.evaluation.episodes)} ({one.success.percent()})"
    return one.name, _spanned(one.mean), _spanned(one.iqm), success


def _told(duel: Duel) -> tuple[str, ...]:
    from workbench.formatting import digits, number

    words = {"did_better": "did better", "did_worse": "did worse", "no_clear_difference": "no clear difference"}
    gap = f"return {_signed(duel.difference)} on the same episode, higher in {digits(duel.higher)}, lower in "
    told = [duel.old, words[duel.outcome], gap + digits(duel.lower)]
    if duel.p_value is not None:
        solved = f"solved {digits(duel.improved)} that the other did not, and missed {digits(duel.regressed)}"
        told.append(f"{solved} that it did, p {number(duel.p_value)}")
    return tuple(told)


def _spanned(interval: Interval, sign: str = "") -> str:
    from workbench.formatting import number

    value = f"{sign}{number(interval.value)}"
    if interval.low != interval.low:
        return value
    return f"{value} ({number(interval.low)} to {number(interval.high)})"


def _signed(interval: Interval) -> str:
    return _spanned(interval, "+" if interval.value > 0 else "")


def _aligned(rows: list[tuple[str, ...]]) -> Iterator[str]:
    columns = max(map(len, rows))
    filled = [(*row, *[""] * (columns - len(row))) for row in rows]
    widths = [max(len(row[column]) for row in filled) for column in range(columns)]
    for row in filled:
        yield "  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
