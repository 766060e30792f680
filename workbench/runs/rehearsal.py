"""What a dry run finds: the record between the process that trains for a moment and those who ask it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Rehearsal:
    """What a run would take, from what a few iterations of it took."""

    steps_per_s: float | None
    """Steps of all copies, evaluations and checkpoints left out; None where no iteration came in time."""
    collection_share: float | None
    """The part of that time which the environment and the policy take; updates take the rest."""
    seconds: float | None
    """What the budget of steps takes; None where there is no such budget, or no speed."""
    iterations: int | None
    """How many there are until it is spent; None where there is none."""
    memory_bytes: int
    """The trainer's, when its buffers are full."""
    replay_bytes: int
    """What of that the replay buffer takes, 0 without one."""
    checkpoint_bytes: int
    checkpoints: int | None
    """How many are kept in the end; None where there is no budget of steps."""
    disk_bytes: int | None
    """What these take, with the replay buffer where that is kept on disk."""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        """Read the answer of the process."""
        return cls(**{name: told[name] for name in cls.__dataclass_fields__})
