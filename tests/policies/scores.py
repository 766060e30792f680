"""Evaluations made up by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.policies import Evaluation


def scores(returns: Sequence[float], successes: Sequence[bool] | None = None, **fields: Any) -> Evaluation:
    """Scores of episodes that all took ten steps, and ended by `goal` where they were a success."""
    count = len(returns)
    reasons = ["time_limit"] * count if successes is None else ["goal" if good else "fall" for good in successes]
    given: dict[str, Any] = {
        "environment": "workbench/Reach-v0",
        "checkpoint": None,
        "seed": 100,
        "deterministic": True,
        "returns": tuple(map(float, returns)),
        "lengths": (10,) * count,
        "reasons": tuple(reasons),
        "terminated": tuple(reason != "time_limit" for reason in reasons),
        "successes": None if successes is None else tuple(successes),
    }
    return Evaluation(**{**given, **fields})
