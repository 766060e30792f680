"""Steering a run from outside: pausing it, letting it go on, asking for a checkpoint, a score, other values.

Every function leaves a request and returns its id at once. The run acts on it at the end of its iteration, so the
answer may take a while; `find_answer` looks for it, and how long to wait is the caller's to say.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.durable import parse_json
from workbench.errors import NotFoundError, RequestError, WorkFailedError
from workbench.runs.digest import Digest
from workbench.runs.directory import CheckpointDirectory, RunDirectory
from workbench.runs.events import Event
from workbench.runs.foreign.origin import require_own
from workbench.runs.requests import Answer, new_id, pending, send
from workbench.runs.state import observe
from workbench.runs.states import RunState

if TYPE_CHECKING:
    from workbench.specs import Change, LiveField

_TERM_PREFIX, _TERM_SUFFIX = "reward/", "_mean"
_TAIL_BYTES = 4 * 2**20
"""An answer is looked for in so much of the end of a stream: hours of events."""


def pause_run(run: RunDirectory) -> str:
    """Ask a run to write a checkpoint and wait; it keeps its memory and frees its place in the queue.

    Raises:
        RequestError: It is not there to be paused.
        WorkFailedError: The request cannot be written.
    """
    _require(run, "be paused", RunState.STARTING, RunState.RUNNING, RunState.PAUSED)
    return _send(run, "pause")


def unpause_run(run: RunDirectory) -> str:
    """Ask a paused run to go on, at once or as soon as a place is free.

    Raises:
        RequestError: It is not paused.
        WorkFailedError: The request cannot be written.
    """
    _require(run, "go on", RunState.PAUSED)
    return _send(run, "resume")


def request_checkpoint(run: RunDirectory) -> str:
    """Ask a run to write a checkpoint now.

    Raises:
        RequestError: It is not there to write one.
        WorkFailedError: The request cannot be written.
    """
    _require(run, "write a checkpoint", RunState.STARTING, RunState.RUNNING, RunState.PAUSED)
    return _send(run, "checkpoint")


def request_evaluation(run: RunDirectory, steps: int | None = None) -> str:
    """Ask for scores of a checkpoint: of its run where that is live, else of a process that is started for it.

    One that has no scores yet plays the run's own episodes, one that has them plays new ones. `find_answer` tells
    whether it has begun, `find_scores` what came of it.

    Args:
        run: The run.
        steps: Which checkpoint; the newest where not given.

    Raises:
        RequestError: The run has not started.
        NotFoundError: There is no such checkpoint.
        WorkFailedError: The request cannot be written, or no process started.
    """
    require_own(run)
    seen = observe(run)
    if seen.state is RunState.QUEUED:
        raise RequestError(f"{run.name} waits in the queue: it has no checkpoint yet.")
    checkpoint = find_checkpoint(run, steps)
    if not seen.state.is_ended:
        return _send(run, "evaluate", steps=steps)
    return _start_scoring(run, [str(checkpoint.steps)])


def request_best(run: RunDirectory, count: int, episodes: int | None = None) -> str:
    """Ask for the checkpoints with the best claims to be scored on new episodes, and for the best of them to be best.

    A live run does that by itself at its end. `find_answer` tells whether it has begun, `find_best` what came of it.

    Args:
        run: A run that has ended.
        count: How many.
        episodes: On how many episodes; as many as the run's settings say where not given.

    Raises:
        RequestError: The run goes on, or the numbers make no sense.
        WorkFailedError: No process started.
    """
    require_own(run)
    for what, number in (("checkpoints", count), ("episodes", 1 if episodes is None else episodes)):
        if number < 1:
            raise RequestError(f"the number of {what} is 1 or more, not {number}.")
    if not observe(run).state.is_ended:
        raise RequestError(
            f"{run.name} has not ended: at its end it scores its best checkpoints again by itself.",
            hint="`rescore_best` in its recipe says how many.",
        )
    words = ["--best", str(count)] + ([] if episodes is None else ["--episodes", str(episodes)])
    return _start_scoring(run, words)


def _start_scoring(run: RunDirectory, words: list[str]) -> str:
    """Start a process that scores checkpoints of a run that has ended, and return the id it answers to."""
    request_id = new_id()
    command = [sys.executable, "-m", "workbench.policies.rescoring", str(run.path), request_id, *words]
    try:
        with run.log_path.open("ab") as log:
            process = subprocess.Popen(
                command,
                # A folder whose files are never mistaken for modules.
                cwd=run.path,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=dict(os.environ),
            )
    except OSError as error:
        raise WorkFailedError(f"no evaluation of {run.name} can be started: {error.strerror or error}.") from error
    # It outlives this process, and leaves no zombie where it does not.
    threading.Thread(target=process.wait, name="evaluation", daemon=True).start()
    return request_id


def change_run(run: RunDirectory, values: Mapping[str, Any]) -> str:
    """Ask a run to train on with other values.

    Args:
        run: The run.
        values: New values by dotted key, as plain data or as text; see `workbench.specs.changing`.

    Raises:
        RequestError: It is not there to take them.
        ProblemsError: It cannot have them; all problems are listed.
        WorkFailedError: The request cannot be written.
    """
    _require(run, "be changed", RunState.STARTING, RunState.RUNNING, RunState.PAUSED)
    made = check_change(run, values)
    made.require(f"{run.name} cannot be changed so")
    return _send(run, "set", values=dict(made.values))


def check_change(run: RunDirectory, values: Mapping[str, Any]) -> Change:
    """Return what would come of other values, as far as can be seen from outside; asks the run for nothing.

    Args:
        run: The run.
        values: New values by dotted key, as plain data or as text.
    """
    from workbench.specs import Done, amended, change, weights_in

    told = _digest(run)
    # Until an episode has ended, the terms are not told of.
    terms = reward_terms(told.metrics)
    weights = dict.fromkeys(terms, 1.0) | weights_in(told.changes) if terms else None
    done = Done(told.steps, told.iteration, told.wall_s)
    return change(amended(run.spec(), told.changes), values, weights=weights, done=done)


def live_fields(run: RunDirectory) -> tuple[LiveField, ...]:
    """Return what of a run may be changed while it trains, with its values now.

    Weights of reward terms are among them once an episode has ended, for the run tells of the terms then.
    """
    from workbench.specs import amended, changeable, weights_in

    told = _digest(run)
    weights = dict.fromkeys(reward_terms(told.metrics), 1.0) | weights_in(told.changes)
    return changeable(amended(run.spec(), told.changes), weights)


def reward_terms(metrics: Iterable[str]) -> tuple[str, ...]:
    """Return the reward terms that a run tells of, from the names of its metrics."""
    return tuple(
        name[len(_TERM_PREFIX) : -len(_TERM_SUFFIX)]
        for name in metrics
        if name.startswith(_TERM_PREFIX) and name.endswith(_TERM_SUFFIX)
    )


def find_answer(run: RunDirectory, request_id: str) -> Answer | None:
    """Return the answer to a request, or nothing while there is none; cheap to ask over and over."""
    if any(request.id == request_id for request in pending(run)):
        return None
    for event in _events_about(run, request_id):
        if event["kind"] == "request":
            return Answer(bool(event.get("ok")), str(event.get("reason") or ""))
    return None


def find_scores(run: RunDirectory, request_id: str) -> Event | None:
    """Return the `scores` event that came of a request for an evaluation, or nothing while there is none.

    It has `mean_return`, `std_return`, `returns` and `seed`, or a `failure` instead.
    """
    return next((event for event in _events_about(run, request_id) if event["kind"] == "scores"), None)


def find_best(run: RunDirectory, request_id: str) -> Event | None:
    """Return the `best` event that came of a request for the best checkpoint, or nothing while there is none.

    It has `checkpoint`, `before`, `claimed`, `mean_return`, `std_return`, `lower_bound`, `episodes` and `seed`, or a
    `failure` instead.
    """
    return next((event for event in _events_about(run, request_id) if event["kind"] == "best"), None)


def find_checkpoint(run: RunDirectory, steps: int | None) -> CheckpointDirectory:
    """Return a checkpoint of a run; the newest where no steps are given.

    Raises:
        NotFoundError: There is none.
    """
    written = run.checkpoints()
    if not written:
        raise NotFoundError(f"{run.name} has no checkpoint yet.")
    if steps is None:
        return written[-1]
    for checkpoint in written:
        if checkpoint.steps == steps:
            return checkpoint
    near = sorted(written, key=lambda item: abs(item.steps - steps))[:3]
    listed = ", ".join(str(item.steps) for item in sorted(near, key=lambda item: item.steps))
    raise NotFoundError(f"{run.name} has no checkpoint of {steps} steps; the nearest have {listed}.")


def _require(run: RunDirectory, what: str, *states: RunState) -> None:
    require_own(run)
    seen = observe(run)
    if seen.state in states:
        return
    if seen.state is RunState.QUEUED:
        raise RequestError(f"{run.name} cannot {what}: it has not started yet.")
    if seen.state.is_ended:
        hint = f"`workbench resume {run.short_id}` lets it go on."
        raise RequestError(f"{run.name} cannot {what}: it has ended, {seen.state}.", hint=hint)
    raise RequestError(f"{run.name} cannot {what}: it is {seen.state}.")


def _send(run: RunDirectory, verb: str, **args: Any) -> str:
    try:
        return send(run, verb, **args)
    except OSError as error:
        raise WorkFailedError(f"{run.name} cannot be asked anything: {error.strerror or error}.") from error


def _digest(run: RunDirectory) -> Digest:
    digest = Digest(run)
    digest.refresh()
    return digest


def _events_about(run: RunDirectory, request_id: str) -> Iterator[Event]:
    """Yield the events that name a request, from the end of the stream."""
    for line in reversed(_last_bytes(run.events_path).split(b"\n")):
        if request_id.encode() in line:
            event = parse_json(line)
            if isinstance(event, dict) and event.get("id") == request_id and isinstance(event.get("kind"), str):
                yield event


def _last_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            return os.pread(file.fileno(), _TAIL_BYTES, max(0, size - _TAIL_BYTES))
    except OSError:
        return b""
