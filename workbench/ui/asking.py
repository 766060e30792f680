"""Requests that were left for runs: shown at once, taken back when the run answers, complained of when it does not."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench import formatting
from workbench.durable import parse_json
from workbench.runs.directory import RunDirectory
from workbench.runs.events import Event
from workbench.runs.requests import Answer, pending
from workbench.runs.states import RunState
from workbench.runs.steering import find_answer, find_scores
from workbench.runs.summary import RunSummary

PATIENCE_S = 10.0
SAVING_PATIENCE_S = 30.0
"""A run that ends writes a checkpoint and may score it before it says so."""
STARTING_PATIENCE_S = 60.0
"""A process that scores an ended run has to be started first."""
_TAIL_BYTES = 2**16

WORDS = {
    "stop": "stopping",
    "pause": "pausing",
    "resume": "going on",
    "checkpoint": "writing",
    "evaluate": "scoring",
    "set": "changing",
}
"""What a run is doing about a request, by its verb."""
TURNING = frozenset({"stopping", "pausing", "going on"})
"""Those that end in another state."""


@dataclass(frozen=True)
class Said:
    """Something to tell a person of a run."""

    text: str
    is_bad: bool = False


@dataclass
class _Wait:
    """One request without an answer."""

    run: RunDirectory
    verb: str
    id: str
    asked: float
    """When, in seconds of the watch's clock."""
    patience_s: float
    is_answered: bool = False
    """Whether it was agreed to; only scores are waited for longer than that."""
    complained: bool = False
    stamp: tuple[int, int] = (-1, -1)


@dataclass
class Requests:
    """The requests of this app that wait for an answer."""

    _waits: list[_Wait] = field(default_factory=list)

    def add(self, run: RunDirectory, verb: str, request_id: str, now: float, *, is_ended: bool = False) -> None:
        """Wait for the answer to a request.

        Args:
            run: Whom it was left for.
            verb: Its verb; `stop` has no id to look for, its answer is the end.
            request_id: What the answer names.
            now: Seconds of the clock that `look` is given.
            is_ended: Whether the run has ended, so that a process is started to answer for it.
        """
        patience = STARTING_PATIENCE_S if is_ended else SAVING_PATIENCE_S if verb == "stop" else PATIENCE_S
        self._waits = [wait for wait in self._waits if wait.run != run or wait.verb != verb]
        self._waits.append(_Wait(run, verb, request_id, now, patience))

    def words(self) -> dict[Path, str]:
        """Return what each run that was asked for something is doing about it."""
        return {wait.run.path: WORDS[wait.verb] for wait in self._waits}

    def look(self, rows: Mapping[Path, RunSummary], now: float) -> list[Said]:
        """Take back what was answered and return what is worth a word.

        Args:
            rows: All runs, by their folder.
            now: Seconds.
        """
        said: list[Said] = []
        self._waits = [wait for wait in self._waits if self._goes_on(wait, rows.get(wait.run.path), now, said)]
        return said

    def _goes_on(self, wait: _Wait, row: RunSummary | None, now: float, said: list[Said]) -> bool:
        if row is None:
            return False
        name = f"{row.env_name} {row.short_id}"
        if wait.verb == "stop":
            if row.state.is_ended or row.state is RunState.STOPPING:
                return False
        elif not wait.is_answered and (answer := self._answer(wait)) is not None:
            if not answer.ok:
                said.append(Said(f"{name} did not do it ({wait.verb}): {answer.reason or 'refused'}.", is_bad=True))
            if not answer.ok or wait.verb != "evaluate":
                return False
            wait.is_answered = True
            return not self._scored(wait, name, said)
        if wait.is_answered:
            return not (self._has_grown(wait) and self._scored(wait, name, said))
        if row.state.is_ended and wait.verb != "evaluate":
            return False
        if now - wait.asked >= wait.patience_s and not wait.complained:
            wait.complained = True
            waited = formatting.duration(wait.patience_s)
            kill = " K ends it at once." if row.state.is_live else ""
            said.append(Said(f"{name} has not answered ({wait.verb}) for {waited}.{kill}", is_bad=True))
        return True

    def _answer(self, wait: _Wait) -> Answer | None:
        # While the request lies there the stream says nothing of it, and what it has grown by is looked at later.
        if any(request.id == wait.id for request in pending(wait.run)) or not self._has_grown(wait):
            return None
        return find_answer(wait.run, wait.id)

    def _scored(self, wait: _Wait, name: str, said: list[Said]) -> bool:
        scores = find_scores(wait.run, wait.id)
        if scores is None:
            return False
        failure = scores.get("failure")
        if failure:
            said.append(Said(f"{name} could not be scored: {failure}", is_bad=True))
        else:
            mean, std = (scores.get(key) for key in ("mean_return", "std_return"))
            at = formatting.amount(float(scores.get("steps") or 0))
            said.append(Said(f"{name} scores {formatting.spread(mean, std)} at ◇ {at}. w lists the checkpoints."))
        return True

    @staticmethod
    def _has_grown(wait: _Wait) -> bool:
        """Whether the stream says more than at the last look; reading its end twice a second is not free."""
        try:
            status = wait.run.events_path.stat()
        except OSError:
            return False
        stamp = (status.st_size, status.st_mtime_ns)
        grown, wait.stamp = stamp != wait.stamp, stamp
        return grown


def newest_event(run: RunDirectory, kind: str) -> Event | None:
    """Return the newest event of a kind from the end of a run's stream; nothing where none is near it."""
    try:
        with run.events_path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = os.pread(file.fileno(), _TAIL_BYTES, max(0, size - _TAIL_BYTES))
    except OSError:
        return None
    wanted = f'"{kind}"'.encode()
    for line in reversed(data.split(b"\n")):
        if wanted in line:
            event = parse_json(line)
            if isinstance(event, dict) and event.get("kind") == kind:
                return event
    return None
