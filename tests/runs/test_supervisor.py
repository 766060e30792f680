import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.runs.fakes import fake_launch, until
from workbench import durable
from workbench.durable import read_json
from workbench.errors import WorkFailedError
from workbench.runs.directory import RunDirectory, run_directories
from workbench.runs.events import EventTail, EventWriter
from workbench.runs.history import History
from workbench.runs.launch import ensure_supervisor
from workbench.runs.lock import SupervisorLock, supervisor_of
from workbench.runs.places import WAITING, has_place
from workbench.runs.requests import await_answer, send
from workbench.runs.state import StateFile, observe
from workbench.runs.states import RunState
from workbench.runs.stopping import kill_run, stop_run, wait_for_end
from workbench.runs.supervisor import SLOTS_VARIABLE, TRAINER_VARIABLE, Supervisor

Queue = Callable[..., list[RunDirectory]]


def state_of(run: RunDirectory) -> RunState:
    return observe(run).state


def starts(runs_root: Path) -> list[str]:
    lines = (runs_root / ".supervisor.log").read_text().splitlines()
    return [line.split("started ")[1].split(",")[0] for line in lines if "started " in line]


def test_a_queued_run_is_trained_to_its_end_and_the_supervisor_goes(queue: Queue, runs_root: Path) -> None:
    [run] = queue(fake_launch())
    assert run.record()["command"] == ["workbench", "train", "cart_pole"]
    assert run.record()["versions"]["python"] == sys.version.split()[0]
    seen = wait_for_end(run, 15)
    assert (seen.state, seen.reason) == (RunState.FINISHED, "steps")
    assert run.log_path.read_text().startswith("begun\n")
    assert until(lambda: read_json(run.exit_path))["code"] == 0
    until(lambda: supervisor_of(runs_root) is None)
    assert SupervisorLock(runs_root).acquire()


def test_trainers_run_side_by_side_first_in_first_out(
    queue: Queue, runs_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SLOTS_VARIABLE, "2")
    runs = queue(*(fake_launch("iterations=8", "pause_s=0.05", seed=seed) for seed in range(5)))
    most = 0

    def all_ended() -> bool:
        nonlocal most
        states = [state_of(run) for run in runs]
        most = max(most, sum(state.is_live for state in states))
        return all(state is RunState.FINISHED for state in states)

    until(all_ended, 30)
    assert most == 2
    assert starts(runs_root) == [run.name for run in runs]


def test_a_trainer_has_a_session_of_its_own(queue: Queue) -> None:
    [run] = queue(fake_launch("iterations=1000"))
    until(lambda: state_of(run) is RunState.RUNNING)
    pid = observe(run).pid
    assert pid is not None
    assert os.getsid(pid) == pid


def test_one_that_dies_before_its_first_word_crashed_with_its_last(queue: Queue) -> None:
    began = time.monotonic()
    [run] = queue(fake_launch("import-error"))
    seen = wait_for_end(run, 10)
    assert time.monotonic() - began < 5
    assert seen.state is RunState.CRASHED
    assert "ModuleNotFoundError: No module named 'torch_of_tomorrow'" in seen.reason
    assert until(lambda: observe(run).reason.startswith("ended with code 1"))


@pytest.mark.parametrize("trainer", ["/no/such/program", "an 'open quote"])
def test_one_that_cannot_be_started_failed(queue: Queue, monkeypatch: pytest.MonkeyPatch, trainer: str) -> None:
    monkeypatch.setenv(TRAINER_VARIABLE, trainer)
    [run] = queue(fake_launch())
    seen = wait_for_end(run, 10)
    assert seen.state is RunState.FAILED
    assert trainer in seen.reason


def test_a_killed_trainer_crashed_within_five_seconds(queue: Queue) -> None:
    [run] = queue(fake_launch("iterations=1000"))
    until(lambda: state_of(run) is RunState.RUNNING and "iteration" in run.log_path.read_text())
    process = observe(run).process
    assert process is not None
    began = time.monotonic()
    process.send_signal(signal.SIGKILL)
    seen = wait_for_end(run, 5)
    assert time.monotonic() - began < 5
    assert seen.state is RunState.CRASHED
    assert until(lambda: observe(run).reason.startswith("killed, signal 9: iteration"))


def test_trainers_outlive_the_supervisor_and_the_next_one_adopts_them(queue: Queue, runs_root: Path) -> None:
    runs = queue(*(fake_launch("iterations=40", "pause_s=0.05") for _ in range(3)))
    until(lambda: [state_of(run) for run in runs] == ["running", "running", "queued"])
    pids = [observe(run).pid for run in runs[:2]]
    supervisor = supervisor_of(runs_root)
    assert supervisor is not None
    supervisor.send_signal(signal.SIGKILL)
    until(lambda: supervisor_of(runs_root) is None)
    assert [state_of(run) for run in runs] == ["running", "running", "queued"]
    ensure_supervisor(runs_root)
    ensure_supervisor(runs_root)
    until(lambda: all(state_of(run) is RunState.FINISHED for run in runs), 30)
    assert starts(runs_root) == [run.name for run in runs]
    assert [observe(run).pid for run in runs[:2]] == pids


def test_the_supervisor_ignores_a_hangup_that_its_trainers_do_not(queue: Queue, runs_root: Path) -> None:
    [run] = queue(fake_launch("iterations=1000"))
    until(lambda: state_of(run) is RunState.RUNNING)
    supervisor = supervisor_of(runs_root)
    assert supervisor is not None
    supervisor.send_signal(signal.SIGHUP)
    stop_run(run, timeout_s=10)
    assert state_of(run) is RunState.STOPPED
    assert until(lambda: "nothing left to do" in (runs_root / ".supervisor.log").read_text())


def test_it_outlives_the_process_that_asked_for_it(queue: Queue, runs_root: Path) -> None:
    script = f"""
import sys, os, signal
sys.path.insert(0, {str(Path.cwd())!r})
from tests.runs.fakes import fake_launch
from workbench.runs.launch import enqueue
from pathlib import Path
enqueue(Path({str(runs_root)!r}), [fake_launch("iterations=20", "pause_s=0.05")])
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", script], check=False, start_new_session=True)
    assert done.returncode == -signal.SIGKILL
    [run] = run_directories(runs_root)
    assert wait_for_end(run, 15).state is RunState.FINISHED


def test_a_queued_run_that_is_stopped_never_starts(queue: Queue, runs_root: Path) -> None:
    first, second, third = queue(*(fake_launch("iterations=1000") for _ in range(3)))
    until(lambda: state_of(second) is RunState.RUNNING)
    refused = await_answer(third, send(third, "pause"), timeout_s=5)
    assert refused is not None
    assert (refused.ok, refused.reason) == (False, "the run has not started yet")
    seen = stop_run(third, timeout_s=5)
    assert (seen.state, seen.reason) == (RunState.STOPPED, "stopped before it started")
    history = History(third)
    # The answer comes after the state it tells of.
    until(lambda: history.refresh() and len(history.answers) == 2)
    assert [answer.ok for answer in history.answers.values()] == [False, True]
    assert not third.log_path.exists()
    for run in (first, second):
        assert stop_run(run, timeout_s=10).state is RunState.STOPPED
    assert third.name not in starts(runs_root)


def test_a_stop_reaches_a_queued_run_whose_supervisor_died(queue: Queue, runs_root: Path) -> None:
    *_, third = queue(*(fake_launch("iterations=1000") for _ in range(3)))
    supervisor = until(lambda: supervisor_of(runs_root))
    supervisor.send_signal(signal.SIGKILL)
    until(lambda: supervisor_of(runs_root) is None)
    assert stop_run(third, timeout_s=30).state is RunState.STOPPED


def test_a_kill_shows_as_stopped_by_hand(queue: Queue) -> None:
    [run] = queue(fake_launch("iterations=1000"))
    until(lambda: state_of(run) is RunState.RUNNING)
    seen = kill_run(run, grace_s=5)
    assert (seen.state, seen.reason) == (RunState.STOPPED, "killed by hand")


def test_a_kill_takes_what_the_trainer_started_and_what_will_not_listen(
    queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "deaf.py"
    script.write_text(
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "if len(sys.argv) == 2:\n"
        "    child = subprocess.Popen([sys.executable, __file__])\n"
        "    print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    monkeypatch.setenv(TRAINER_VARIABLE, f"{sys.executable} {script}")
    [run] = queue(fake_launch())
    until(lambda: run.log_path.exists() and run.log_path.read_text().endswith("\n"))
    grandchild = int(run.log_path.read_text())
    time.sleep(0.2)  # It too must have begun to ignore SIGTERM.
    assert kill_run(run, grace_s=0.3).state is RunState.STOPPED
    from workbench.runs.processes import ProcessIdentity

    until(lambda: ProcessIdentity.of(grandchild) is None)


def test_a_kill_leaves_a_trainer_no_time_to_save(queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved, script = tmp_path / "saved", tmp_path / "saving.py"
    script.write_text(
        "import pathlib, signal, sys, time\n"
        f"signal.signal(signal.SIGTERM, lambda *_: (pathlib.Path({str(saved)!r}).touch(), sys.exit()))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    monkeypatch.setenv(TRAINER_VARIABLE, f"{sys.executable} {script}")
    [run] = queue(fake_launch())
    until(lambda: run.log_path.exists() and "ready" in run.log_path.read_text())
    seen = kill_run(run)
    assert (seen.state, seen.reason) == (RunState.STOPPED, "killed by hand")
    assert not saved.exists()


def test_a_kill_never_signals_a_process_that_has_the_pid_now(runs_root: Path) -> None:
    run = RunDirectory.create(runs_root, "ppo", "a")
    bystander = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    stale = {"state": "running", "pid": bystander.pid, "pid_started": 1.0, "host": os.uname().nodename}
    run.state_path.write_text(json.dumps(stale))
    assert kill_run(run).state is RunState.CRASHED
    assert bystander.poll() is None
    bystander.communicate(b"\n")


def test_what_is_queued_while_the_supervisor_ends_is_not_forgotten(runs_root: Path) -> None:
    """The supervisor has looked for the last time and still holds the lock, when something comes into the queue."""
    runs_root.mkdir()
    lock = SupervisorLock(runs_root)
    assert lock.acquire()
    supervisor = Supervisor(runs_root, 1)
    supervisor.serve()
    late = RunDirectory.create(runs_root, "ppo", "a", files={"run.json": {}})
    StateFile(late.state_path).write_queued(queued_ns=1)
    ensure_supervisor(runs_root)
    assert supervisor_of(runs_root) is None  # None was started: the one that holds the lock is relied on.
    lock.release()
    assert supervisor.has_work()


def test_queueing_over_and_over_as_it_ends_loses_no_run(queue: Queue, runs_root: Path) -> None:
    made = []
    for _ in range(12):
        made += queue(fake_launch("iterations=1", "pause_s=0"))
        assert wait_for_end(made[-1], 15).state is RunState.FINISHED
        # Now the supervisor is about to reap its child and leave.
    assert sorted(starts(runs_root)) == sorted(run.name for run in made)


def test_a_run_taken_by_another_supervisor_meanwhile_is_not_started_again(
    runs_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TRAINER_VARIABLE, "/no/such/program")
    run = RunDirectory.create(runs_root, "ppo", "a", files={"run.json": {}})
    file = StateFile(run.state_path)
    file.write_queued(queued_ns=1)
    supervisor = Supervisor(runs_root, 1)
    assert supervisor.has_work()
    file.write_queued(state=RunState.FINISHED, reason="goal", queued_ns=1)
    supervisor.serve()
    assert state_of(run) is RunState.FINISHED


def test_a_paused_trainer_frees_its_place(queue: Queue, runs_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SLOTS_VARIABLE, "1")
    first, second = queue(fake_launch("iterations=1000"), fake_launch("iterations=2"))
    until(lambda: state_of(first) is RunState.RUNNING)
    stored = StateFile(first.state_path).read()
    assert stored is not None
    data = {**stored.to_json(), "state": "paused"}
    first.state_path.write_text(json.dumps(data))
    assert wait_for_end(second, 10).state is RunState.FINISHED
    assert state_of(first) is RunState.PAUSED


def test_a_paused_trainer_that_waits_to_go_on_gets_the_next_place(
    queue: Queue, runs_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SLOTS_VARIABLE, "1")
    first, second, third = queue(fake_launch("iterations=1000"), *(fake_launch("iterations=2") for _ in range(2)))
    until(lambda: state_of(first) is RunState.RUNNING)
    stored = StateFile(first.state_path).read()
    assert stored is not None
    waiting = replace(stored, state=RunState.PAUSED, reason=WAITING)
    StateFile(first.state_path).store(waiting)
    assert has_place(first, since=waiting.updated, places=1)
    # One that was asked to go on before it goes first, one that is just paused does not count.
    other = RunDirectory.create(runs_root, "ppo", "b", files={"run.json": {}})
    StateFile(other.state_path).write(RunState.PAUSED)
    assert has_place(first, since=waiting.updated, places=1)
    me = StateFile(other.state_path).write(RunState.PAUSED, reason=WAITING)
    StateFile(other.state_path).store(replace(me, updated=waiting.updated - 1))
    assert not has_place(first, since=waiting.updated, places=1) and has_place(first, since=0.0, places=1)
    # This process is no trainer to be ended.
    shutil.rmtree(other.path)
    assert [state_of(run) for run in (second, third)] == ["queued", "queued"]
    StateFile(first.state_path).store(replace(stored, state=RunState.PAUSED))
    assert wait_for_end(second, 10).state is RunState.FINISHED


def test_a_supervisor_that_cannot_start_says_why(runs_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs_root.mkdir()
    (runs_root / ".supervisor.lock").mkdir()
    with pytest.raises(WorkFailedError, match="Is a directory"):
        ensure_supervisor(runs_root)


def test_the_stream_of_a_crashed_run_is_whole(queue: Queue) -> None:
    [run] = queue(fake_launch("crash"))
    seen = wait_for_end(run, 10)
    assert (seen.state, seen.last_words[-1]) == (RunState.CRASHED, "RuntimeError: loss is not finite")
    assert [event["kind"] for event in EventTail(run.events_path).poll()] == ["state", "metrics", "metrics"]
    with EventWriter(run.events_path):
        pass


def test_where_one_cannot_be_written_none_is_queued(
    queue: Queue, runs_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = durable.write_json, 0

    def full_disk(path: Path, value: object, **options: object) -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise OSError(28, "No space left on device")
        real(path, value)

    monkeypatch.setattr(durable, "write_json", full_disk)
    with pytest.raises(WorkFailedError, match="No space left on device"):
        queue(fake_launch(), fake_launch())
    assert list(run_directories(runs_root)) == []
    assert list((runs_root / "PPO").iterdir()) == []
