"""The state of a run: what its one writer stored, and what a reader makes of it.

The supervisor writes `state.json` while a run is queued, then only the child does. That a child crashed is never
stored: a reader sees that the process is gone without having written how it ended.
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench import durable
from workbench.durable import parse_json, read_document
from workbench.runs.directory import RunDirectory
from workbench.runs.last_words import last_lines
from workbench.runs.processes import ProcessIdentity, this_host
from workbench.runs.states import RunState

FORMAT = 1
BEAT_S = 10.0
"""How often a child that has nothing to say shows that it lives."""
FOREIGN_SILENCE_S = 60.0
"""On another host a process cannot be looked at; after this long without a heartbeat it counts as gone."""
STALL_S = 120.0
"""After this long without heartbeat or event a living process counts as stalled."""

OTHERS_STALL_S = 60.0
"""A run of another tool has no process that we know; after this long without a write it counts as stalled."""
OTHERS_END_S = 3600.0
"""After this long without a write it counts as ended."""
OTHERS_END = "nothing was written for an hour"

FOLDER_GONE = "its folder was moved or deleted"

_TAIL_BYTES = 65536


@dataclass(frozen=True)
class StoredState:
    """The content of `state.json`."""

    state: RunState
    reason: str = ""
    """Why it is in this state: `goal`, `steps`, `by hand`, or what failed."""
    pid: int | None = None
    pid_started: float | None = None
    """See `ProcessIdentity.started`."""
    host: str = ""
    heartbeat: float = 0.0
    """When the child last showed that it lives, unix seconds."""
    updated: float = 0.0
    """When the state last changed, unix seconds."""
    queued_ns: int = 0
    """When the run was last put into the queue, unix nanoseconds; the queue's order."""
    exit: int | None = None
    """The exit code the child announced with its ending."""

    @property
    def process(self) -> ProcessIdentity | None:
        """The process that carries the run, where one does."""
        if self.pid is None or self.pid_started is None:
            return None
        return ProcessIdentity(self.pid, self.pid_started, self.host)

    def to_json(self) -> dict[str, Any]:
        """Return the document `state.json` holds."""
        return {"format": FORMAT, **self.__dict__}

    @classmethod
    def from_json(cls, data: Any) -> StoredState | None:
        """Return what a document says, or nothing where it is no state."""
        try:
            pid, pid_started, code = data.get("pid"), data.get("pid_started"), data.get("exit")
            return cls(
                RunState(data["state"]),
                str(data.get("reason") or ""),
                None if pid is None else int(pid),
                None if pid_started is None else float(pid_started),
                str(data.get("host") or ""),
                float(data.get("heartbeat") or 0.0),
                float(data.get("updated") or 0.0),
                int(data.get("queued_ns") or 0),
                None if code is None else int(code),
            )
        except (AttributeError, KeyError, TypeError, ValueError):
            return None


class StateFile:
    """`state.json` of one run.

    Args:
        path: The file.
        clock: Unix seconds.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self.path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._written: StoredState | None = None

    def read(self) -> StoredState | None:
        """Return what is stored, or nothing where the file is missing or damaged."""
        return StoredState.from_json(read_document(self.path))

    def write(self, state: RunState, *, reason: str = "", exit_code: int | None = None) -> StoredState:
        """Store a new state of the run that the calling process carries.

        Raises:
            OSError: The disk is full or failed.
        """
        me = ProcessIdentity.current()
        now = self._clock()
        with self._lock:
            before = self._written or self.read()
            stored = StoredState(
                RunState(state),
                reason,
                me.pid,
                me.started,
                me.host,
                heartbeat=now,
                updated=now,
                queued_ns=before.queued_ns if before else 0,
                exit=exit_code,
            )
            self._put(stored)
        return stored

    def write_queued(self, *, state: RunState = RunState.QUEUED, reason: str = "", queued_ns: int) -> StoredState:
        """Store a state in which no process carries the run: queued, or ended before it began.

        Raises:
            OSError: The disk is full or failed.
        """
        now = self._clock()
        return self.store(StoredState(state, reason, host=this_host(), heartbeat=now, updated=now, queued_ns=queued_ns))

    def store(self, stored: StoredState) -> StoredState:
        """Replace what is stored.

        Raises:
            OSError: The disk is full or failed.
        """
        with self._lock:
            self._put(stored)
        return stored

    def beat(self) -> None:
        """Show that the child lives, at most every `BEAT_S`; call it as often as you like, from any thread.

        A full disk does not end a run here: the next write of a checkpoint or event will say so.
        """
        with self._lock:
            written, now = self._written, self._clock()
            if written is None or written.state.is_ended or now - written.heartbeat < BEAT_S:
                return
            # Noted first: a disk that fails is not tried again at once.
            self._written = replace(written, heartbeat=now)
            with contextlib.suppress(OSError):
                self._put(self._written)

    def _put(self, stored: StoredState) -> None:
        if not self.path.parent.is_dir():
            # Making the folder anew would leave a second run that holds nothing but a state.
            raise FileNotFoundError(errno.ENOENT, FOLDER_GONE, str(self.path.parent))
        durable.write_json(self.path, stored.to_json(), makes_folder=False)
        self._written = stored


@dataclass(frozen=True)
class ObservedState:
    """The state of a run as a reader sees it now."""

    state: RunState
    reason: str
    stored: StoredState | None
    """What the file says."""
    silent_s: float | None = None
    """For how long a living process has shown nothing."""
    last_words: tuple[str, ...] = ()
    """The last lines of a crashed run's log."""
    stalls_after_s: float = STALL_S

    @property
    def is_stalled(self) -> bool:
        """Whether the process lives but has long shown nothing."""
        return self.silent_s is not None and self.silent_s >= self.stalls_after_s

    @property
    def process(self) -> ProcessIdentity | None:
        """The process that carries the run, where one does or did."""
        return self.stored.process if self.stored else None

    @property
    def pid(self) -> int | None:
        """Its pid."""
        return self.stored.pid if self.stored else None


def observe(run: RunDirectory, *, now: float | None = None, stored: StoredState | None = None) -> ObservedState:
    """Return the state of a run as it is, not as it was last written.

    Args:
        run: The run.
        now: Unix seconds; the clock's where not given.
        stored: What `state.json` holds, where the caller has just read it.
    """
    now = time.time() if now is None else now
    stored = stored or StateFile(run.state_path).read()
    if run.is_foreign and stored is not None:
        return _observe_foreign(stored, now)
    if stored is not None and _is_carried(stored) and not _seems_alive(stored, now):
        # It may have written its ending after we read and before we looked at the process.
        stored = StateFile(run.state_path).read() or stored
    if stored is None:
        return ObservedState(RunState.CRASHED, _why_unreadable(run), None)
    if not _is_carried(stored):
        return ObservedState(stored.state, stored.reason, stored)
    if _seems_alive(stored, now):
        return ObservedState(stored.state, stored.reason, stored, silent_s=_silence(run, stored, now))
    return _post_mortem(run, stored)


def _observe_foreign(stored: StoredState, now: float) -> ObservedState:
    """Tell from when its files last grew how a run is that another tool carries."""
    if not _is_carried(stored):
        return ObservedState(stored.state, stored.reason, stored)
    silent_s = max(0.0, now - stored.heartbeat)
    if silent_s >= OTHERS_END_S:
        return ObservedState(RunState.STOPPED, OTHERS_END, stored)
    return ObservedState(stored.state, stored.reason, stored, silent_s, stalls_after_s=OTHERS_STALL_S)


def mark_killed(run: RunDirectory, process: ProcessIdentity) -> None:
    """Leave the mark by which the end of this process shows as `stopped`, not as a crash.

    Raises:
        OSError: The disk is full or failed.
    """
    mark = {"pid": process.pid, "pid_started": process.started, "time": time.time()}
    durable.write_json(run.kill_path, mark, makes_folder=False)


def mark_exit(run: RunDirectory, process: ProcessIdentity, code: int) -> None:
    """Record how the process ended; for its parent, with the code of `subprocess` (negative for a signal).

    Raises:
        OSError: The disk is full or failed.
    """
    ending = {"pid": process.pid, "pid_started": process.started, "code": code}
    durable.write_json(run.exit_path, ending, makes_folder=False)


def _why_unreadable(run: RunDirectory) -> str:
    try:
        run.state_path.read_bytes()
    except FileNotFoundError:
        # A folder that a trainer still writes into after it was moved has not even this.
        return "state.json is missing" if run.control.is_dir() else FOLDER_GONE
    except OSError as error:
        return f"state.json cannot be read: {error.strerror}"
    return "state.json is damaged"


def _is_carried(stored: StoredState) -> bool:
    return stored.state.is_live


def _seems_alive(stored: StoredState, now: float) -> bool:
    if stored.host != this_host():
        return now - stored.heartbeat <= FOREIGN_SILENCE_S
    return stored.process is not None and stored.process.is_alive()


def _silence(run: RunDirectory, stored: StoredState, now: float) -> float:
    try:
        heard = run.events_path.stat().st_mtime
    except OSError:
        heard = 0.0
    return max(0.0, now - max(heard, stored.heartbeat))


def _post_mortem(run: RunDirectory, stored: StoredState) -> ObservedState:
    closing = _closing_event(run.events_path)
    if closing is not None:
        return ObservedState(RunState(closing["state"]), str(closing.get("reason") or ""), stored)
    if _is_about(read_document(run.kill_path), stored):
        return ObservedState(RunState.STOPPED, "killed by hand", stored)
    words = last_lines(run.log_path)
    how = ""
    if stored.host != this_host():
        how = f"no heartbeat from {stored.host}"
    else:
        ending = read_document(run.exit_path)
        code = ending.get("code") if _is_about(ending, stored) else None
        if isinstance(code, int):
            how = f"killed, signal {-code}" if code < 0 else f"ended with code {code}"
    reason = ": ".join(part for part in (how, words[-1] if words else "") if part)
    return ObservedState(RunState.CRASHED, reason or "its process is gone", stored, last_words=words)


def _is_about(mark: dict[str, Any], stored: StoredState) -> bool:
    return mark.get("pid") == stored.pid and mark.get("pid_started") == stored.pid_started


def _closing_event(path: Path) -> dict[str, Any] | None:
    """Return the stream's last state event where it tells an ending: the file of the state may not have got there."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = os.pread(file.fileno(), _TAIL_BYTES, max(0, size - _TAIL_BYTES))
    except OSError:
        return None
    for line in reversed(data.split(b"\n")):
        if b'"state"' not in line and b'"resumed"' not in line:
            continue
        event = parse_json(line)
        if not isinstance(event, dict) or event.get("kind") not in ("state", "resumed"):
            continue
        endings = (RunState.FINISHED, RunState.STOPPED, RunState.FAILED)
        return event if event.get("state") in endings else None
    return None
