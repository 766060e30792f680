"""Ending a run: asking it to save and end, or killing what does not answer."""

from __future__ import annotations

import contextlib
import signal
import time

from workbench.errors import RequestError, WorkFailedError
from workbench.runs.directory import RunDirectory
from workbench.runs.foreign.origin import require_own
from workbench.runs.launch import ensure_supervisor
from workbench.runs.processes import ProcessIdentity, this_host
from workbench.runs.requests import send
from workbench.runs.state import ObservedState, mark_killed, observe
from workbench.runs.states import RunState

POLL_S = 0.05


def stop_run(run: RunDirectory, *, timeout_s: float = 0.0) -> ObservedState:
    """Ask a run to write a checkpoint and end, and return its state when it did or the time is up.

    Args:
        run: The run; one that has ended is left alone.
        timeout_s: How long to wait for the end; 0 returns at once.

    Raises:
        RequestError: Another tool made the run.
        WorkFailedError: The request cannot be written, or the run is queued and no supervisor can be started to
            answer for it.
    """
    require_own(run)
    seen = observe(run)
    if seen.state.is_ended:
        return seen
    try:
        send(run, "stop")
    except OSError as error:
        raise WorkFailedError(
            f"{run.name} cannot be asked to stop: {error.strerror or error}.",
            hint=f"`workbench stop {run.short_id} --kill` ends it without a checkpoint.",
        ) from error
    if seen.state is RunState.QUEUED:
        ensure_supervisor(run.runs_root)
    return wait_for_end(run, timeout_s)


def kill_run(run: RunDirectory, *, grace_s: float = 5.0) -> ObservedState:
    """End the processes of a run now, without a checkpoint, and return the state that leaves.

    The mark of the kill comes first, so that the run shows as stopped and not as crashed. A queued run has no process
    and is stopped instead.

    Args:
        run: The run.
        grace_s: How long is waited for its processes to be gone, and for a queued run to be taken out.

    Raises:
        RequestError: The run's process is on another host, or another tool made it.
    """
    require_own(run)
    seen = observe(run)
    if seen.state is RunState.QUEUED:
        seen = stop_run(run, timeout_s=grace_s)
    process = seen.process
    if seen.state.is_ended or process is None:
        return seen
    if process.host != this_host():
        raise RequestError(f"{run.name} runs on {process.host}; kill it there.")
    # On a full disk the run will show as crashed; that is no reason not to end it.
    with contextlib.suppress(OSError):
        mark_killed(run, process)
    # Held still, it starts no other while they are counted. SIGTERM it would answer with a checkpoint.
    process.send_signal(signal.SIGSTOP)
    members = process.group()
    for member in members:
        member.send_signal(signal.SIGKILL)
    _wait_for_all(members, grace_s)
    return observe(run)


def wait_for_end(run: RunDirectory, timeout_s: float) -> ObservedState:
    """Return the state of a run once it ended, or as it is when the time is up."""
    deadline = time.monotonic() + timeout_s
    while not (seen := observe(run)).state.is_ended and time.monotonic() < deadline:
        time.sleep(POLL_S)
    return seen


def _wait_for_all(processes: list[ProcessIdentity], timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while any(process.is_alive() for process in processes) and time.monotonic() < deadline:
        time.sleep(POLL_S)
