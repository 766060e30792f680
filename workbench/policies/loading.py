"""From what a person types to an actor."""

from __future__ import annotations

from pathlib import Path

from workbench.policies.actor import PolicyActor
from workbench.policies.checkpoint import RECORD_NAME, read_checkpoint
from workbench.project import Project, open_project


def load_policy(
    reference: str | Path, *, stochastic: bool = False, seed: int | None = None, project: Project | None = None
) -> PolicyActor:
    """Return the actor of a checkpoint.

    Args:
        reference: A checkpoint, a run directory, `RUN:best`, `RUN:latest`, `RUN:<steps>`, or an environment's name.
        stochastic: Sample actions instead of taking the policy's best.
        seed: Of the sampling; None draws one.
        project: Where references are looked up; the current one by default.

    Raises:
        NotFoundError: The reference names nothing.
        CheckpointError: The checkpoint is not whole.
    """
    return PolicyActor(read_checkpoint(find_checkpoint(reference, project)), stochastic=stochastic, seed=seed)


def find_checkpoint(reference: str | Path, project: Project | None = None) -> Path:
    """Return the folder of the checkpoint that a reference names.

    Raises:
        NotFoundError: The reference names nothing; what is there, and what to type, is said.
    """
    path = Path(reference).expanduser()
    if (path / RECORD_NAME).is_file():
        return path
    from workbench.runs import resolve_checkpoint

    return resolve_checkpoint(project or open_project(), str(reference))
