"""Putting a run that ended back into the queue, to go on in its own folder from its newest checkpoint."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from workbench import durable
from workbench.errors import RequestError, WorkFailedError
from workbench.runs import variables
from workbench.runs.directory import CheckpointDirectory, RunDirectory
from workbench.runs.foreign.origin import require_own
from workbench.runs.holding import held
from workbench.runs.launch import ensure_supervisor
from workbench.runs.processes import this_host
from workbench.runs.state import StateFile, observe
from workbench.runs.states import RunState

RESUME_NAME = "resume.pt"
"""What a checkpoint has besides its policy, for a run to go on from it."""
ORDER_NAME = "resume.json"
"""What the next process of a run shall do otherwise than the one before; that process takes it away."""


@dataclass(frozen=True)
class Resumption:
    """A run that was put back into the queue."""

    run: RunDirectory
    checkpoint: CheckpointDirectory | None
    """What it goes on from; None where it ended before its first checkpoint and begins anew."""
    notes: tuple[str, ...]
    """What may differ from a run that was never interrupted."""


def resume_run(run: RunDirectory, *, max_steps: int | None = None) -> Resumption:
    """Put a run back into the queue and see to it that a supervisor takes it up.

    It goes on with the environment of the calling process.

    Args:
        run: A run that has ended, whichever way.
        max_steps: Its new budget; a run that has finished needs one. It then ends at that and at nothing else.

    Raises:
        RequestError: It has not ended, is done, or has nothing to go on from.
        WorkFailedError: The folder cannot be written, or no supervisor can be started.
    """
    require_own(run)
    try:
        with held(run.path):
            checkpoint, order = _check(run, max_steps)
            # The order and the variables first: whoever finds the run in the queue finds them there.
            if order:
                durable.write_json(run.path / ORDER_NAME, {"format": 1, "values": order}, makes_folder=False)
            else:
                (run.path / ORDER_NAME).unlink(missing_ok=True)
            queued_ns = time.time_ns()
            variables.leave(run, queued_ns)
            StateFile(run.state_path).write_queued(queued_ns=queued_ns)
    except OSError as error:
        raise WorkFailedError(f"{run.name} cannot be resumed: {error.strerror or error}.") from error
    ensure_supervisor(run.runs_root)
    return Resumption(run, checkpoint, tuple(_notes(run.record())))


def take_order(run: RunDirectory) -> dict[str, Any]:
    """Return the fields of the spec that shall have other values from now on, by dotted name; for the child."""
    document = durable.read_json(run.path / ORDER_NAME)
    values = document.get("values") if isinstance(document, dict) else None
    return values if isinstance(values, dict) else {}


def drop_order(run: RunDirectory) -> None:
    """Take the order away, once an event tells of it; for the child."""
    (run.path / ORDER_NAME).unlink(missing_ok=True)


def _check(run: RunDirectory, max_steps: int | None) -> tuple[CheckpointDirectory | None, dict[str, Any]]:
    """Return where the run goes on from, and what is to be different.

    Raises:
        RequestError: It cannot go on.
    """
    seen = observe(run)
    if not seen.state.is_ended:
        what = "waits in the queue" if seen.state is RunState.QUEUED else f"is {seen.state}"
        raise RequestError(f"{run.name} {what}; there is nothing to resume.")
    written = run.checkpoints()
    latest = written[-1] if written else None
    if latest is not None and not any((item.path / RESUME_NAME).is_file() for item in written):
        raise RequestError(f"{run.name} cannot go on: none of its checkpoints has a {RESUME_NAME}.")
    steps = 0 if latest is None else latest.steps
    if max_steps is not None and max_steps <= steps:
        raise RequestError(f"{run.name} has done {steps} steps already; --max-steps must be more.")
    if seen.state is not RunState.FINISHED:
        return latest, {} if max_steps is None else {"total_steps": max_steps}
    if max_steps is None:
        reason = f": {seen.reason}" if seen.reason else ""
        hint = f"`workbench resume {run.short_id} --max-steps N` trains it on to N steps in all."
        raise RequestError(f"{run.name} is finished{reason}.", hint=hint)
    # What has ended it would end it again at once.
    return latest, {"total_steps": max_steps, "stop_criteria": {}}


def differing(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is not as it was when a run began, and what that may change, one sentence each.

    Args:
        record: Its `run.json`.
    """
    versions = record.get("versions")
    for name, then in versions.items() if isinstance(versions, dict) else ():
        now = _version_of(name)
        if now != then:
            yield f"{name} {then} is now {now or 'missing'}: from here on its numbers may differ in their last digits."
    host = record.get("host")
    if host and host != this_host():
        yield f"it began on {host}: on another processor its numbers may differ in their last digits."


def _notes(record: Mapping[str, Any]) -> Iterator[str]:
    yield from differing(record)
    environment = record.get("environment")
    if isinstance(environment, dict) and environment.get("module") is None:
        yield "a plain Gymnasium environment cannot be put back where it was: its episodes begin anew."


def _version_of(name: str) -> str | None:
    if name == "python":
        import platform

        return platform.python_version()
    try:
        return version(name)
    except PackageNotFoundError:
        return None
