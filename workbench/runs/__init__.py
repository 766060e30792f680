"""One run seen from outside: its folder, state, events, requests, and the supervisor that starts it.

A live run and a run from last month are read by the same code, and the child that trains writes through it. Imports
only what is light: never torch, mujoco, gymnasium, stable_baselines3, polyscope or textual. The names below are
loaded when first used, so that the supervisor and `--help` carry no arrays.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.runs.annotations import Annotations
    from workbench.runs.directory import CheckpointDirectory, RunDirectory
    from workbench.runs.events import EventTail, EventWriter
    from workbench.runs.history import CheckpointWritten, Evaluation, History, StateChange
    from workbench.runs.launch import Launch, enqueue, ensure_supervisor
    from workbench.runs.processes import ProcessIdentity
    from workbench.runs.references import find_run, resolve_checkpoint
    from workbench.runs.requests import Request, RequestInbox, answer, await_answer, pending, send
    from workbench.runs.series import Series
    from workbench.runs.state import ObservedState, StateFile, StoredState, observe
    from workbench.runs.states import RunState
    from workbench.runs.stopping import kill_run, stop_run
    from workbench.runs.store import RunStore
    from workbench.runs.summary import RunSummary

_HOMES = {
    "Annotations": "annotations",
    "CheckpointDirectory": "directory",
    "CheckpointWritten": "history",
    "Evaluation": "history",
    "EventTail": "events",
    "EventWriter": "events",
    "History": "history",
    "Launch": "launch",
    "ObservedState": "state",
    "ProcessIdentity": "processes",
    "Request": "requests",
    "RequestInbox": "requests",
    "RunDirectory": "directory",
    "RunState": "states",
    "RunStore": "store",
    "RunSummary": "summary",
    "Series": "series",
    "StateChange": "history",
    "StateFile": "state",
    "StoredState": "state",
    "answer": "requests",
    "await_answer": "requests",
    "enqueue": "launch",
    "ensure_supervisor": "launch",
    "find_run": "references",
    "kill_run": "stopping",
    "observe": "state",
    "pending": "requests",
    "resolve_checkpoint": "references",
    "send": "requests",
    "stop_run": "stopping",
}

__all__ = [
    "Annotations",
    "CheckpointDirectory",
    "CheckpointWritten",
    "Evaluation",
    "EventTail",
    "EventWriter",
    "History",
    "Launch",
    "ObservedState",
    "ProcessIdentity",
    "Request",
    "RequestInbox",
    "RunDirectory",
    "RunState",
    "RunStore",
    "RunSummary",
    "Series",
    "StateChange",
    "StateFile",
    "StoredState",
    "answer",
    "await_answer",
    "enqueue",
    "ensure_supervisor",
    "find_run",
    "kill_run",
    "observe",
    "pending",
    "resolve_checkpoint",
    "send",
    "stop_run",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
