"""The best checkpoint, honestly: those with the best claims are scored once more, on episodes no choice was made by.

Whoever takes the highest of many noisy scores takes luck with it, so the score of the best checkpoint is too good on
average. Scores on new episodes are not, and it is by those that `best` is settled in the end. All candidates play the
same episodes, which follow those of the claims, so that nobody who looks at a run can change what becomes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.formatting import number, spread
from workbench.policies.evaluation import Evaluation
from workbench.runs import CheckpointDirectory, EventWriter, RunDirectory
from workbench.runs.claims import claim_of
from workbench.runs.directory import steps_of

BY_THE_RUN = "run"
"""Who scored, in the events of it: not a person who asked for it."""


class GivenUpError(Exception):
    """Whoever scores has been told to stop."""


@dataclass(frozen=True)
class Scored:
    """What came of scoring a checkpoint on new episodes."""

    evaluation: Evaluation | None
    """The scores; None where that failed."""
    failure: str = ""
    """Why it failed."""


def settle_best(
    run: RunDirectory,
    events: EventWriter,
    candidates: Iterable[Path],
    score: Callable[[Path], Scored],
    *,
    say: Callable[[str], None],
    request: str = "",
) -> Path | None:
    """Score some checkpoints on new episodes, and make the one with the highest lower bound the best of its run.

    Args:
        run: The run.
        events: Its event stream.
        candidates: The folders of the checkpoints, the best by claim first.
        score: Scores one on the new episodes.
        say: Takes a line for a log.
        request: Id of the request that this answers, told with each event.

    Returns:
        The best one; None where none could be scored, and the best stays what it was.

    Raises:
        GivenUpError: The scoring was given up; the best stays what it was.
        OSError: The disk is full or failed.
    """
    scored: list[tuple[Path, Evaluation]] = []
    for path in candidates:
        outcome, claimed = score(path), _claimed(path)
        told: dict[str, Any] = {"failure": outcome.failure}
        if outcome.evaluation is not None:
            scored.append((path, outcome.evaluation))
            told = scores_of(outcome.evaluation.to_json())
        events.append(
            "scores", id=request, by=BY_THE_RUN, checkpoint=path.name, of_steps=steps_of(path), claimed=claimed, **told
        )
        say(_line(path, outcome, claimed))
    if not scored:
        return None
    # On a tie the earlier one stays: it needed fewer steps for the same.
    best, evaluation = max(scored, key=lambda item: (item[1].lower_bound, -steps_of(item[0])))
    before = run.best()
    run.set_best(best.name)
    events.append(
        "best",
        id=request,
        checkpoint=best.name,
        of_steps=steps_of(best),
        before="" if before is None else before.path.name,
        claimed=_claimed(best),
        mean_return=evaluation.mean,
        std_return=evaluation.std,
        lower_bound=evaluation.lower_bound,
        episodes=evaluation.episodes,
        seed=evaluation.seed,
    )
    moved = before is not None and before.path != best
    say(f"best is {best.name}{f', and not {before.path.name}' if moved and before is not None else ''}")
    return best


def scores_of(scores: dict[str, Any]) -> dict[str, Any]:
    """Return what a `scores` event says of an evaluation that `evaluation.json` holds."""
    names = ("mean_return", "std_return", "lower_bound", "mean_length", "returns", "endings", "seed")
    return {name: scores[name] for name in names}


def _claimed(path: Path) -> float | None:
    """Return the mean return that a run claims of its checkpoint."""
    claim = claim_of(CheckpointDirectory(path, steps_of(path)))
    return None if claim is None else claim.mean_return


def _line(path: Path, outcome: Scored, mean: float | None) -> str:
    if outcome.evaluation is None:
        return f"{path.name} could not be scored again: {outcome.failure}"
    again = spread(outcome.evaluation.mean, outcome.evaluation.std)
    claimed = "" if mean is None else f", claimed {number(mean)}"
    return f"{path.name} re-scored  return {again} over {outcome.evaluation.episodes} episodes{claimed}"
