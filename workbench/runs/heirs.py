"""Runs that have yet to begin from a checkpoint of another: what they begin from must not be thrown away."""

from __future__ import annotations

from workbench.runs.directory import RunDirectory, run_directories
from workbench.runs.filter_fields import parent_run
from workbench.runs.lineage import Parent


def heirs_of(run: RunDirectory) -> dict[str, RunDirectory]:
    """Return the runs that were forked from a run and have no checkpoint of their own, by what they begin from.

    Queued ones need it still; those that ended before their first checkpoint begin anew from it when resumed.

    Returns:
        One of them for each checkpoint, by the name of its folder.
    """
    found: dict[str, RunDirectory] = {}
    for other in run_directories(run.runs_root):
        if other == run or other.checkpoints():
            continue
        parent = Parent.of_record(other.record())
        if parent is not None and run.name in (parent.run, parent_run(parent.reference)):
            found[parent.checkpoint] = other
    return found
