"""Where a run comes from: the checkpoint of another one that it started from, and how far that had come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.durable import read_document
from workbench.errors import CheckpointError
from workbench.runs.directory import CheckpointDirectory, RunDirectory
from workbench.runs.references import find_checkpoint

POLICY_NAME = "policy.json"


@dataclass(frozen=True)
class Parent:
    """The checkpoint that a run started from, as its `run.json` has it."""

    reference: str
    """What the run's spec calls it: `RUN:<steps>`, or the path of its folder."""
    run: str
    """The full name of the run that wrote it; empty where its folder is in none."""
    checkpoint: str
    """The name of its folder."""
    steps: int
    """Steps it had been trained for, those of its own parent included."""
    iteration: int
    """Iterations, counted the same way."""

    def to_json(self) -> dict[str, Any]:
        """Return it as `run.json` holds it."""
        return dict(self.__dict__)

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Parent | None:
        """Return what a `run.json` says; None for a run that started untrained."""
        told = record.get("parent")
        if not isinstance(told, Mapping):
            return None
        reference, run, checkpoint = (str(told.get(name) or "") for name in ("reference", "run", "checkpoint"))
        return cls(reference, run, checkpoint, _whole(told.get("steps")), _whole(told.get("iteration")))


def start_of(record: Mapping[str, Any]) -> tuple[int, int]:
    """Return at how many steps and iterations a run began, from its `run.json`: those of its parent, else none."""
    parent = Parent.of_record(record)
    return (0, 0) if parent is None else (parent.steps, parent.iteration)


def reference_to(checkpoint: Path, runs_root: Path) -> str:
    """Return what a run in a runs root calls a checkpoint, so that both may be moved together.

    Args:
        checkpoint: Its folder.
        runs_root: Where the run is that starts from it.
    """
    checkpoint = checkpoint.resolve()
    run, known = run_of(checkpoint), CheckpointDirectory.at(checkpoint)
    if run is None or known is None or run.runs_root != runs_root.expanduser().resolve():
        return str(checkpoint)
    return f"{run.name}:{known.steps}"


def read_parent(runs_root: Path, reference: str) -> Parent:
    """Return what is to be recorded of a parent.

    Args:
        runs_root: Where the run is that starts from it.
        reference: What `reference_to` gave.

    Raises:
        NotFoundError: It is not there any more.
        CheckpointError: It is no checkpoint.
    """
    path = find_checkpoint(runs_root, reference)
    policy = read_policy(path)
    run = run_of(path)
    name = "" if run is None else run.name
    return Parent(reference, name, path.name, _whole(policy.get("steps")), _whole(policy.get("iteration")))


def run_of(checkpoint: Path) -> RunDirectory | None:
    """Return the run whose folder a checkpoint is in; None where it is in none."""
    run = RunDirectory(checkpoint.parent)
    return run if run.is_run() else None


def read_policy(checkpoint: Path) -> dict[str, Any]:
    """Return what a checkpoint's `policy.json` says, unchecked.

    Raises:
        CheckpointError: It cannot be read.
    """
    policy = read_document(checkpoint / POLICY_NAME)
    if not policy:
        hint = "Name a folder called checkpoint_<steps>, or RUN:best, RUN:latest, RUN:<steps>."
        raise CheckpointError(f"{checkpoint} is no checkpoint: it has no {POLICY_NAME} that can be read.", hint=hint)
    return policy


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
