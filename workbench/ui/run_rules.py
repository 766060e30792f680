"""What can be done with a run in which state: one table for keys, footer, palette and confirmations."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.runs.states import RunState
from workbench.ui.watch import RunRow

_ENDED = frozenset(state for state in RunState if state.is_ended)
_STARTED = frozenset(RunState) - {RunState.QUEUED}

POSSIBLE: dict[str, frozenset[RunState]] = {
    "run.pause": frozenset({RunState.STARTING, RunState.RUNNING, RunState.PAUSED}),
    "run.stop": frozenset({RunState.QUEUED, RunState.STARTING, RunState.RUNNING, RunState.PAUSED}),
    "run.kill": frozenset(state for state in RunState if state.is_live),
    "run.change": frozenset({RunState.RUNNING}),
    "run.write": frozenset({RunState.RUNNING}),
    "run.evaluate": frozenset({RunState.RUNNING, RunState.PAUSED}) | _ENDED,
    "run.resume": _ENDED,
    "run.again": _ENDED,
    # A run that trains on is not touched by one that begins from a checkpoint of it.
    "run.fork": _STARTED,
    "run.prune": _STARTED,
    "run.delete": _ENDED,
    "run.annotate": frozenset(RunState),
    "run.pin": frozenset(RunState),
    "queue.first": frozenset({RunState.QUEUED}),
    "queue.up": frozenset({RunState.QUEUED}),
    "queue.down": frozenset({RunState.QUEUED}),
    "queue.last": frozenset({RunState.QUEUED}),
}
"""The states in which each command may be given; a run in another one is left out of it."""


FOR_FOREIGN = frozenset({"run.annotate", "run.pin", "run.evaluate"})
"""Commands for runs that other tools made: what a person adds lies beside them, and their policies can be opened."""


_ALTHOUGH_DAMAGED = frozenset({"run.delete", "run.pin"})


def able(command_id: str, rows: Iterable[RunRow]) -> list[RunRow]:
    """Return the runs to which a command may be given now.

    A damaged folder can only be kept on top or deleted; of a run that another tool made nothing is changed.
    """
    states = POSSIBLE[command_id]
    return [
        row
        for row in rows
        if row.state in states
        and (not row.problem or command_id in _ALTHOUGH_DAMAGED)
        and (not row.is_foreign or command_id in FOR_FOREIGN)
    ]


def why_not(command_id: str, row: RunRow) -> str:
    """Return why a command may not be given to a run now, as the end of a sentence; empty where it may."""
    if able(command_id, [row]):
        return ""
    if row.problem and command_id not in _ALTHOUGH_DAMAGED:
        return "its folder is damaged"
    if row.is_foreign and command_id not in FOR_FOREIGN:
        return "another tool made it"
    goes_on = "; P lets it go on" if command_id == "run.resume" and row.state is RunState.PAUSED else ""
    return f"it is {row.state.value}{goes_on}"
