"""Places among the trainers that run at once, for a paused run that wants to go on.

A paused run takes no place. One that was asked to go on and finds none says so in its state; from then on the
supervisor counts it as one that runs, and so leaves to it the next place that becomes free.
"""

from __future__ import annotations

from workbench.runs.directory import RunDirectory, run_directories
from workbench.runs.state import StateFile, StoredState
from workbench.runs.states import RunState

WAITING = "waits for a place"
"""The reason in the state of a paused run that goes on as soon as it can."""


def takes_place(stored: StoredState | None) -> bool:
    """Return whether a trainer in this state takes a place, or has one coming."""
    return stored is None or stored.state is not RunState.PAUSED or stored.reason == WAITING


def has_place(run: RunDirectory, since: float, places: int) -> bool:
    """Return whether there is a place for a paused run.

    Args:
        run: The run.
        since: When it was asked to go on, unix seconds; those that were asked before go first.
        places: How many trainers run at once.
    """
    before = sum(_goes_first(other, run, since) for other in run_directories(run.runs_root) if other != run)
    return before < places


def _goes_first(other: RunDirectory, run: RunDirectory, since: float) -> bool:
    stored = StateFile(other.state_path).read()
    if stored is None or not stored.state.is_live or stored.process is None or not stored.process.is_alive():
        return False
    if stored.state is not RunState.PAUSED:
        return True
    return stored.reason == WAITING and (stored.updated, other.name) < (since, run.name)
