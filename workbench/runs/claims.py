"""What a run claims of its checkpoints, as `evaluation.json` beside each holds it, from the best one down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.durable import read_document
from workbench.runs.directory import CheckpointDirectory, RunDirectory

CLAIMED = "claimed"
"""The kind of scores that a run gave its own checkpoint, and by which it chose."""
RESCORED = "rescored"
"""The kind of scores of a checkpoint that had some, from episodes that none of those were of."""


@dataclass(frozen=True)
class Claim:
    """What a run claims of a checkpoint."""

    checkpoint: CheckpointDirectory
    lower_bound: float
    """The lower end of the 95 % confidence interval of its mean return."""
    mean_return: float | None = None


def claims(run: RunDirectory) -> list[Claim]:
    """Return the claims of the checkpoints on disk, the highest first; of equals the one with the fewest steps."""
    found = (claim_of(checkpoint) for checkpoint in run.checkpoints())
    return sorted(
        (claim for claim in found if claim is not None), key=lambda claim: (-claim.lower_bound, claim.checkpoint.steps)
    )


def claim_of(checkpoint: CheckpointDirectory) -> Claim | None:
    """Return what a run claims of a checkpoint; None where it does not."""
    for scores in scores_in(checkpoint):
        mean = _number(scores.get("mean_return"))
        bound = _number(scores.get("lower_bound"))
        bound = mean if bound is None else bound
        if scores.get("kind") == CLAIMED and bound is not None:
            return Claim(checkpoint, bound, mean)
    return None


def scores_in(checkpoint: CheckpointDirectory) -> list[dict[str, Any]]:
    """Return all scores of a checkpoint, in the order in which they were written."""
    listed = read_document(checkpoint.evaluation_path).get("evaluations")
    return [scores for scores in listed if isinstance(scores, dict)] if isinstance(listed, list) else []


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
