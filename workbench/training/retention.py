"""Which checkpoints may go."""

from __future__ import annotations

from workbench.runs import CheckpointDirectory, RunDirectory
from workbench.runs.lineage import start_of
from workbench.runs.pruning import discard

__all__ = ["discard", "surplus"]


def surplus(run: RunDirectory, keep_last: int | None) -> list[CheckpointDirectory]:
    """Return the checkpoints beyond the last `keep_last`; pinned, best, latest and first ones always stay."""
    if keep_last is None:
        return []
    pinned = set(run.annotations().pinned)
    special = {checkpoint.steps for checkpoint in (run.best(), run.latest()) if checkpoint is not None}
    start = start_of(run.record())[0]
    ordinary = [item for item in run.checkpoints() if item.steps > start and item.steps not in pinned]
    return [checkpoint for checkpoint in ordinary[:-keep_last] if checkpoint.steps not in special]
