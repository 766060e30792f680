"""The environment of the process that launched a run: what its trainer is started with, whoever starts it.

A supervisor lives as long as its queue, and so starts runs for terminals that set other variables, or another Python,
than the one it was started from. Variables may hold secrets: the file is for its owner alone, and goes as soon as a
process carries the run.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench import durable
from workbench.runs.directory import RunDirectory

VARIABLES_NAME = "variables.json"
"""In the folder of a run from when it is queued until its trainer was started."""
PRIVATE = 0o600


@dataclass(frozen=True)
class Launcher:
    """What a trainer takes over from the process that launched its run."""

    python: str
    """The interpreter, which decides which libraries are found; empty where it is not known."""
    variables: Mapping[str, str]
    """The whole environment."""


def document(queued_ns: int) -> dict[str, Any]:
    """Return what a run's file says of the calling process, as JSON can hold it.

    Args:
        queued_ns: The moment in the run's state at which it was queued, which tells this launch from those before.
    """
    return {"format": 1, "queued_ns": queued_ns, "python": sys.executable or "", "variables": dict(os.environ)}


def leave(run: RunDirectory, queued_ns: int) -> None:
    """Leave the environment of the calling process to the trainer of a run; before its state says that it is queued.

    Raises:
        OSError: The disk is full or failed, or the folder is gone.
    """
    durable.write_json(run.path / VARIABLES_NAME, document(queued_ns), makes_folder=False, mode=PRIVATE)


def read_launcher(run: RunDirectory, queued_ns: int) -> Launcher | None:
    """Return what was left to a run that was queued at that moment; None where nothing was, or it makes no sense."""
    found = durable.read_document(run.path / VARIABLES_NAME)
    python, variables = found.get("python"), found.get("variables")
    if found.get("queued_ns") != queued_ns or not isinstance(python, str) or not isinstance(variables, dict):
        return None
    return Launcher(python, variables) if all(map(_is_variable, variables, variables.values())) else None


def drop(run: RunDirectory, queued_ns: int) -> None:
    """Take away what was left to a run that was queued at that moment or before; a later launch keeps its own."""
    path = run.path / VARIABLES_NAME
    if not path.exists():
        return
    left_ns = durable.read_document(path).get("queued_ns")
    if not isinstance(left_ns, int) or left_ns <= queued_ns:
        _unlink(path)


def drop_all(run: RunDirectory) -> None:
    """Take away whatever was left to a run that has ended, while nobody can put it back into the queue."""
    _unlink(run.path / VARIABLES_NAME)


def _unlink(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def _is_variable(name: Any, value: Any) -> bool:
    """Return whether a process can be started with a variable."""
    if not isinstance(value, str) or "=" in name or "\0" in name + value:
        return False
    try:
        os.fsencode(name + value)
    except UnicodeEncodeError:
        return False
    return True
