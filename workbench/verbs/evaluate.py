"""`workbench evaluate`: how good a policy is, on numbered episodes, with what chance leaves open."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import RequestError, WorkbenchError
from workbench.project import Project
from workbench.verbs.evaluating import add_episode_arguments, check_episode_arguments, noting, play, write_table
from workbench.verbs.numbers import whole_number
from workbench.verbs.run_text import write_line
from workbench.verbs.signals import stop_on_signals
from workbench.verbs.writing import write_json

if TYPE_CHECKING:
    from workbench.policies import Evaluation
    from workbench.policies.contestants import Contestant
    from workbench.policies.judgement import Verdict

MOST_RECORDED = 10
LISTED = 10
"""Worst episodes in the JSON document; in words half as many."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `evaluate`."""
    parser.add_argument(
        "policy", metavar="CKPT", help="a checkpoint (a path, RUN, RUN:best, RUN:latest, RUN:STEPS) or a policy's file"
    )
    parser.add_argument(
        "--agent", choices=("policy", "zero", "random", "sweep"), help="let an agent act that needs no training"
    )
    add_episode_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document; all else goes to stderr")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write a table of the episodes")
    parser.add_argument(
        "--require-success",
        type=_rate,
        metavar="R",
        help="exit with 1 where fewer than this share of the episodes succeed: 0.9 or 90%%",
    )
    parser.add_argument(
        "--record-worst",
        type=whole_number,
        default=0,
        metavar="N",
        help=f"film the N episodes that went worst, up to {MOST_RECORDED}",
    )


def run(args: argparse.Namespace, project: Project) -> int:
    """Evaluate; 0 where that worked and the bar was passed, 1 where it was not, 3 where it was stopped."""
    check_episode_arguments(args)
    if not 0 <= args.record_worst <= MOST_RECORDED:
        raise RequestError(f"--record-worst takes a number up to {MOST_RECORDED}, not {args.record_worst}.")
    from workbench.policies.contestants import find_contestant
    from workbench.policies.episode_table import to_csv
    from workbench.policies.judgement import judge

    contestant = find_contestant(
        project,
        args.policy,
        seed=args.seed,
        agent=args.agent,
        env=args.env,
        stochastic=args.stochastic,
        normalizer=args.normalizer,
        trust=args.trust,
    )
    with stop_on_signals() as asked:
        evaluation = play(contestant, args, lambda: bool(asked))
    failures: list[WorkbenchError] = []
    verdict: Verdict | None = None
    films: list[Path] = []
    if args.csv is not None:
        with noting(failures):
            write_table(args.csv, to_csv(evaluation))
    if args.require_success is not None:
        with noting(failures):
            verdict = judge(evaluation, args.require_success)
    if args.record_worst:
        with noting(failures):
            films = _film_worst(args, project, evaluation)
    _warn(evaluation, verdict)
    if args.json:
        write_json(_document(args, contestant, evaluation, verdict, films))
    else:
        from workbench.verbs.evaluation_text import lines

        for line in lines(contestant, evaluation, verdict, _next(args, contestant, evaluation)):
            write_line(line, sys.stdout)
        for film in films:
            write_line(f"  film       {film}", sys.stdout)
    if failures:
        raise failures[0]
    return int(verdict is not None and not verdict.is_passed)


def _rate(text: str) -> float:
    """Return the share that a text means; the type of an argument.

    Raises:
        argparse.ArgumentTypeError: It means none.
    """
    number = text.strip().removesuffix("%")
    try:
        rate = float(number) / (100 if number != text.strip() else 1)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise argparse.ArgumentTypeError(f"takes a share from 0 to 1 such as 0.9, or 90%, not {text!r}")
    return rate


def _warn(evaluation: Evaluation, verdict: Verdict | None) -> None:
    """Say on stderr what makes the figures worth less than they seem."""
    if evaluation.successful_at_reset:
        count, of = evaluation.successful_at_reset, evaluation.episodes
        write_line(f"warning: {count} of {of} episodes were a success before anything acted.", sys.stderr)
    if verdict is not None and verdict.is_uncertain:
        write_line(
            f"warning: the 95 % range, {verdict.range.percent()}, lies on both sides of {verdict.bar:g}; "
            f"--episodes {verdict.episodes_to_tell} would halve it.",
            sys.stderr,
        )


def _document(
    args: argparse.Namespace,
    contestant: Contestant,
    evaluation: Evaluation,
    verdict: Verdict | None,
    films: list[Path],
) -> dict[str, Any]:
    from workbench.policies.episode_table import worst
    from workbench.policies.judgement import failure_groups, success_range

    found = success_range(evaluation)
    return {
        "finished": True,
        "policy": contestant.name,
        "agent": contestant.agent,
        "checkpoint": None if evaluation.checkpoint is None else str(evaluation.checkpoint),
        **evaluation.to_json(),
        "success_range": None if found is None else [found.low, found.high],
        "failures": [{"ended_by": group.ended_by, "episodes": group.count} for group in failure_groups(evaluation)],
        "worst": [
            {"episode": row.episode, "seed": row.seed, "return": row.return_, "length": row.length,
             "ended_by": row.ended_by, "success": row.success}
            for row in worst(evaluation, LISTED)
        ],
        "verdict": None if verdict is None else verdict.to_json(),
        "next": _next(args, contestant, evaluation),
        "films": [str(film) for film in films],
    }  # fmt: skip


def _next(args: argparse.Namespace, contestant: Contestant, evaluation: Evaluation) -> list[str]:
    """What to do next with a policy; an agent that learns nothing calls for nothing."""
    from workbench.policies.judgement import next_steps

    if contestant.agent is not None:
        return []
    return next_steps(evaluation, name=contestant.name, bar=args.require_success)


def _film_worst(args: argparse.Namespace, project: Project, evaluation: Evaluation) -> list[Path]:
    """Film the worst episodes, and return the films."""
    from workbench.policies.episode_table import worst
    from workbench.verbs.worst_films import film

    return film(args, project, [row.episode for row in worst(evaluation, args.record_worst)])
