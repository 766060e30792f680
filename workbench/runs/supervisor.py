"""The process that starts every run of a runs root: `python -m workbench.runs.supervisor RUNS_ROOT`.

It takes queued runs first in first out unless somebody changed the order, as many at once as there are processor
cores, each trainer in a session of its own with its output in a log and the environment of whoever launched its run.
It answers for runs that have no process yet, records how its children ended, lives on when the app is gone, and ends
with the queue and the last trainer. Trainers that an earlier supervisor started keep their place: nothing is started
twice.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench.runs import variables
from workbench.runs.directory import RunDirectory, run_directories
from workbench.runs.events import EventWriter
from workbench.runs.launch import WAKE_FILE
from workbench.runs.lock import SupervisorLock
from workbench.runs.places import takes_place
from workbench.runs.processes import ProcessIdentity
from workbench.runs.queueing import in_order
from workbench.runs.requests import EXPIRED, Request, answer, pending
from workbench.runs.state import StateFile, StoredState, mark_exit
from workbench.runs.states import RunState

TRAINER_VARIABLE = "WORKBENCH_TRAINER"
"""The command that trains, a run directory appended; for tests and for other trainers."""
SLOTS_VARIABLE = "WORKBENCH_SLOTS"
"""How many trainers run at once, where the number of cores is not wanted."""
POLL_S = 0.1
RESCAN_S = 5.0
"""Between looks at every run, beside those that the wake file calls for."""


@dataclass
class _Trainer:
    """A trainer that lives, or did a moment ago."""

    run: RunDirectory
    process: ProcessIdentity
    child: subprocess.Popen[bytes] | None = None
    """None for one that another supervisor started."""


@dataclass
class Supervisor:
    """Takes care of the runs below one folder until there is nothing left to do."""

    runs_root: Path
    slots: int
    """Trainers at once."""
    _trainers: list[_Trainer] = field(default_factory=list)
    _queue: list[tuple[int, RunDirectory]] = field(default_factory=list)
    _stamps: dict[Path, tuple[int, int, int]] = field(default_factory=dict)
    _woken: tuple[int, int] = (-1, -1)
    _scanned: float = float("-inf")

    def serve(self) -> None:
        """Start what is queued and return when nothing is queued and no trainer lives."""
        self._scan()
        while self._queue or self._trainers:
            self._answer_for_queued()
            self._reap()
            self._start()
            time.sleep(POLL_S)
            if self._is_time_to_scan():
                self._scan()

    def has_work(self) -> bool:
        """Look at every run again and return whether one is queued."""
        self._scan()
        return bool(self._queue)

    def _is_time_to_scan(self) -> bool:
        return self._wake_stamp() != self._woken or time.monotonic() - self._scanned > RESCAN_S

    def _wake_stamp(self) -> tuple[int, int]:
        try:
            status = (self.runs_root / WAKE_FILE).stat()
        except OSError:
            return (0, 0)
        # Each call adds a byte: the clock of a file system is too coarse to tell two calls apart.
        return (status.st_mtime_ns, status.st_size)

    def _scan(self) -> None:
        """Find runs that came into the queue, and trainers that someone else started."""
        # The stamp first: what is queued while we look changes it again.
        self._woken, self._scanned = self._wake_stamp(), time.monotonic()
        known = {trainer.run for trainer in self._trainers} | {run for _, run in self._queue}
        for run in run_directories(self.runs_root):
            if run in known or not self._has_changed(run):
                continue
            stored = StateFile(run.state_path).read()
            if stored is None:
                continue
            if stored.state is RunState.QUEUED:
                self._queue.append((stored.queued_ns, run))
                continue
            # A supervisor that was killed may have left it behind.
            variables.drop(run, stored.queued_ns)
            if stored.state.is_live and stored.process is not None and stored.process.is_alive():
                self._trainers.append(_Trainer(run, stored.process))
                say(f"adopted {run.name}, pid {stored.pid}")

    def _has_changed(self, run: RunDirectory) -> bool:
        try:
            status = run.state_path.stat()
        except OSError:
            return False
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        if self._stamps.get(run.path) == stamp:
            return False
        self._stamps[run.path] = stamp
        return True

    def _answer_for_queued(self) -> None:
        """Answer requests to runs that no process carries yet; a stop takes effect at once."""
        for queued_ns, run in list(self._queue):
            requests = pending(run)
            if not requests:
                continue
            try:
                with EventWriter(run.events_path) as writer:
                    for request in requests:
                        self._answer(request, run, queued_ns, writer)
            except OSError as error:
                say(f"{run.name} cannot be answered: {error}")

    def _answer(self, request: Request, run: RunDirectory, queued_ns: int, writer: EventWriter) -> None:
        if request.time_ns < queued_ns:
            answer(request, writer, ok=False, reason=EXPIRED)
        elif request.verb == "stop":
            if (queued_ns, run) in self._queue:
                self._end(run, queued_ns, RunState.STOPPED, "stopped before it started", writer)
            answer(request, writer, ok=True)
        else:
            answer(request, writer, ok=False, reason="the run has not started yet")

    def _end(self, run: RunDirectory, queued_ns: int, state: RunState, reason: str, writer: EventWriter) -> None:
        StateFile(run.state_path).write_queued(state=state, reason=reason, queued_ns=queued_ns)
        variables.drop(run, queued_ns)
        self._queue = [item for item in self._queue if item[1] != run]
        writer.append("state", state=str(state), reason=reason)
        say(f"{state} {run.name}: {reason}")

    def _reap(self) -> None:
        for trainer in list(self._trainers):
            if trainer.child is None:
                if trainer.process.is_alive():
                    continue
            else:
                code = trainer.child.poll()
                if code is None:
                    continue
                with contextlib.suppress(OSError):
                    mark_exit(trainer.run, trainer.process, code)
                say(f"ended {trainer.run.name} with code {code}")
            self._trainers.remove(trainer)

    def _start(self) -> None:
        while self._queue and self._busy() < self.slots:
            # Somebody may have changed the order since the last one started.
            self._queue = in_order(self.runs_root, self._queue)
            queued_ns, run = self._queue.pop(0)
            stored = StateFile(run.state_path).read()
            if stored is None or stored.state is not RunState.QUEUED:
                continue  # Deleted while it waited, or taken by another supervisor while we held no lock.
            try:
                self._trainers.append(self._start_trainer(run, queued_ns))
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                self._give_up(run, queued_ns, error)

    def _busy(self) -> int:
        """Return how many trainers take a place; a paused one takes none until it wants to go on."""
        return sum(takes_place(StateFile(trainer.run.state_path).read()) for trainer in self._trainers)

    def _start_trainer(self, run: RunDirectory, queued_ns: int) -> _Trainer:
        def announce() -> None:
            # In the child, before it becomes the trainer: whoever looks from now on sees which process carries the
            # run, even if the supervisor or the trainer dies this moment.
            me, now = ProcessIdentity.current(), time.time()
            starting = StoredState(RunState.STARTING, "", me.pid, me.started, me.host, now, now, queued_ns)
            StateFile(run.state_path).store(starting)

        launcher = variables.read_launcher(run, queued_ns) or variables.Launcher(sys.executable, os.environ)
        with run.log_path.open("ab") as log:
            child = subprocess.Popen(
                [*trainer_command(launcher), str(run.path)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=announce,
                env={**launcher.variables, **self._own_variables()},
            )
        variables.drop(run, queued_ns)
        stored = StateFile(run.state_path).read()
        process = stored.process if stored and stored.pid == child.pid else ProcessIdentity.of(child.pid)
        say(f"started {run.name}, pid {child.pid}")
        return _Trainer(run, process or ProcessIdentity(child.pid, 0.0, ""), child)

    def _own_variables(self) -> dict[str, str]:
        """Return what every trainer is told, whoever launched its run."""
        # Last words shall be in the log when the process is gone; and trainers share what there are of places.
        return {"PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1", SLOTS_VARIABLE: str(self.slots)}

    def _give_up(self, run: RunDirectory, queued_ns: int, error: Exception) -> None:
        reason = f"the trainer could not be started: {error}"
        try:
            with EventWriter(run.events_path) as writer:
                self._end(run, queued_ns, RunState.FAILED, reason, writer)
        except OSError:
            # Still queued, then; the next supervisor tries again.
            say(f"{run.name}: {reason}")


def say(message: str) -> None:
    """Write a line to the supervisor's log."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {message}\n")
        sys.stderr.flush()


def trainer_command(launcher: variables.Launcher) -> list[str]:
    """Return what trains: what `$WORKBENCH_TRAINER` names for whoever launched a run, else our own with its Python.

    Raises:
        ValueError: The variable cannot be split into words.
    """
    chosen = launcher.variables.get(TRAINER_VARIABLE)
    if not chosen:
        return [launcher.python or sys.executable, "-m", "workbench.training"]
    try:
        return shlex.split(chosen)
    except ValueError as error:
        raise ValueError(f"${TRAINER_VARIABLE} is {chosen!r}: {error}") from error


def slot_count() -> int:
    """Return how many trainers run at once: `$WORKBENCH_SLOTS`, else one a core that this process may use."""
    chosen = os.environ.get(SLOTS_VARIABLE, "")
    if chosen.isdigit() and int(chosen) > 0:
        return int(chosen)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, cores or 1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Supervise a runs root; where another process already does, return at once."""
    parser = argparse.ArgumentParser(prog="python -m workbench.runs.supervisor", description=__doc__)
    parser.add_argument("runs_root", type=Path, metavar="RUNS_ROOT")
    parser.add_argument("--detach", action="store_true", help="return as soon as one supervises, and go on apart")
    options = parser.parse_args(arguments)
    runs_root: Path = options.runs_root.resolve()
    lock = SupervisorLock(runs_root)
    try:
        if not lock.acquire():
            return 0
        if options.detach and os.fork():
            # The lock stays with the child. Flushing nothing twice: leave without cleaning up.
            os._exit(0)
    except OSError as error:
        say(str(error))
        return 1
    # A handler, not "ignore", which the trainers would inherit.
    signal.signal(signal.SIGHUP, lambda *_: None)
    _supervise(Supervisor(runs_root, slot_count()), lock)
    return 0


def _supervise(supervisor: Supervisor, lock: SupervisorLock) -> None:
    lock.sign(places=supervisor.slots)
    say(f"supervising, {supervisor.slots} at once, pid {os.getpid()}")
    while True:
        supervisor.serve()
        # Whoever put a run into the queue while we held the lock relied on us to see it. So look once more after
        # giving it up: either the run was there before, and is seen now, or its maker finds the lock free.
        lock.release()
        if not supervisor.has_work() or not _acquired_again(lock):
            break
        lock.sign(places=supervisor.slots)
    say("nothing left to do")


def _acquired_again(lock: SupervisorLock) -> bool:
    """Return whether the lock could be had once more: another may hold it for the moment in which it looks for one."""
    for _ in range(10):
        if lock.acquire():
            return True
        time.sleep(0.05)
    return False


if __name__ == "__main__":
    sys.exit(main())
