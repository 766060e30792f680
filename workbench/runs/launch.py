"""Putting runs into the queue of a runs root, and seeing to it that a supervisor takes them from there."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError, WorkFailedError
from workbench.runs import variables
from workbench.runs.directory import RunDirectory
from workbench.runs.last_words import last_lines
from workbench.runs.lineage import read_parent
from workbench.runs.lock import SupervisorLock, supervisor_of
from workbench.runs.processes import this_host
from workbench.runs.record import run_record, surroundings
from workbench.runs.state import StoredState
from workbench.runs.states import RunState

if TYPE_CHECKING:
    from workbench.specs import RunSpec

WAKE_FILE = ".wake"
"""Grows in a runs root when something was put into its queue, so that the supervisor looks at once."""
SUPERVISOR_LOG = ".supervisor.log"

_START_S = 20.0


@dataclass(frozen=True)
class Launch:
    """One run that is wanted."""

    spec: RunSpec
    """What it shall do, every default filled in."""
    environment: Mapping[str, Any]
    """Where its environment comes from, as plain data."""
    command: Sequence[str]
    """The command line that starts the same run again."""
    short_name: str
    """The environment's short name."""
    group: str | None = None
    """Shared by runs launched together that differ in seed."""


def enqueue(runs_root: Path, launches: Sequence[Launch]) -> list[RunDirectory]:
    """Make the folders of runs, queued in the order given, and wake or start their supervisor.

    All of them are written before the first can be seen: where one cannot be, none is queued. They train with the
    environment of the calling process, whichever process starts them.

    Raises:
        RequestError: The folder of the runs or that of an environment has a name that is not text, or the checkpoint
            that a run starts from is gone.
        WorkFailedError: The folder cannot be written, or no supervisor can be started.
    """
    runs_root = runs_root.expanduser().resolve()
    about = surroundings(runs_root)
    now_ns = time.time_ns()
    prepared: list[Path] = []
    try:
        for index, launch in enumerate(launches):
            queued = StoredState(
                RunState.QUEUED,
                host=this_host(),
                heartbeat=now_ns / 1e9,
                updated=now_ns / 1e9,
                queued_ns=now_ns + index,
            )
            record = _record(launch, about, runs_root)
            files = {"run.json": record, "state.json": queued.to_json()}
            private = {variables.VARIABLES_NAME: variables.document(queued.queued_ns)}
            prepared.append(RunDirectory.prepare(runs_root, launch.spec.algorithm, files, private=private))
        runs = [RunDirectory.publish(aside, item.short_name) for aside, item in zip(prepared, launches, strict=True)]
    except WorkbenchError:
        for aside in prepared:
            shutil.rmtree(aside, ignore_errors=True)
        raise
    ensure_supervisor(runs_root)
    return runs


def _record(launch: Launch, about: Mapping[str, Any], runs_root: Path) -> dict[str, Any]:
    reference = launch.spec.model_dump(mode="json").get("parent")
    parent = None if reference is None else read_parent(runs_root, reference).to_json()
    return run_record(launch.spec, launch.environment, launch.command, about, group=launch.group, parent=parent)


def ensure_supervisor(runs_root: Path) -> None:
    """See to it that the queue of a runs root is taken up, by the supervisor there is or by a new one.

    Returns once one has the lock. It outlives the caller, its terminal and its process group.

    Raises:
        WorkFailedError: It could not be started; its last words are the reason.
    """
    runs_root = runs_root.expanduser().resolve()
    log_path = runs_root / SUPERVISOR_LOG
    lock = SupervisorLock(runs_root)
    try:
        with (runs_root / WAKE_FILE).open("ab") as file:
            file.write(b".")
        if not _is_free(lock, runs_root):
            return  # Its holder looks once more after it gives the lock up, so it sees what was queued before now.
        lock.release()
        with log_path.open("ab") as log:
            done = subprocess.run(
                [sys.executable, "-m", "workbench.runs.supervisor", str(runs_root), "--detach"],
                # A folder whose files are never mistaken for modules.
                cwd=runs_root,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                timeout=_START_S,
                check=False,
            )
    except OSError as error:
        raise WorkFailedError(f"no supervisor can be started in {runs_root}: {error.strerror or error}.") from error
    except subprocess.TimeoutExpired as error:
        raise WorkFailedError(f"the supervisor did not start within {_START_S:.0f} s; see {log_path}.") from error
    if done.returncode:
        words = last_lines(log_path, 1)
        raise WorkFailedError(f"the supervisor could not start: {words[0] if words else 'it said nothing'}.")


def _is_free(lock: SupervisorLock, runs_root: Path) -> bool:
    """Take the lock and return whether nobody living holds it.

    A supervisor that was killed may have left it to a trainer it had just forked, until that one runs its program; and
    one that has just begun has yet to sign.
    """
    deadline = time.monotonic() + _START_S
    while not lock.acquire():
        if supervisor_of(runs_root) is not None or time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
