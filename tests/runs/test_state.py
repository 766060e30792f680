import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.runs.directory import RunDirectory
from workbench.runs.events import EventWriter
from workbench.runs.last_words import clean
from workbench.runs.processes import ProcessIdentity, this_host
from workbench.runs.state import BEAT_S, StateFile, StoredState, mark_exit, mark_killed, observe
from workbench.runs.states import RunState


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "ppo", "cart_pole")


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


def identity(process: "subprocess.Popen[bytes]") -> ProcessIdentity:
    found = ProcessIdentity.of(process.pid)
    assert found is not None
    return found


def store(run: RunDirectory, **fields: object) -> None:
    run.state_path.write_text(json.dumps({"state": "running", "host": this_host(), **fields}))


def test_what_is_stored_names_the_writing_process(run: RunDirectory) -> None:
    file = StateFile(run.state_path, clock=lambda: 1000.0)
    file.write_queued(queued_ns=77)
    file.write(RunState.RUNNING)
    stored = file.read()
    assert stored is not None
    assert stored.process == ProcessIdentity.current()
    assert (stored.heartbeat, stored.updated, stored.queued_ns) == (1000.0, 1000.0, 77)
    assert observe(run, now=1000.0).state is RunState.RUNNING


def test_a_heartbeat_is_written_now_and_then(run: RunDirectory) -> None:
    now = 1000.0
    file = StateFile(run.state_path, clock=lambda: now)
    file.write(RunState.RUNNING)
    now += BEAT_S / 2
    file.beat()
    assert StateFile(run.state_path).read().heartbeat == 1000.0  # type: ignore[union-attr]
    now += BEAT_S
    file.beat()
    assert StateFile(run.state_path).read().heartbeat == now  # type: ignore[union-attr]
    assert StateFile(run.state_path).read().updated == 1000.0  # type: ignore[union-attr]


def test_a_process_that_is_gone_crashed_with_its_last_words(
    run: RunDirectory, sleeper: "subprocess.Popen[bytes]"
) -> None:
    process = identity(sleeper)
    store(run, pid=process.pid, pid_started=process.started)
    assert observe(run).state is RunState.RUNNING
    run.log_path.write_text("step 1\n\x1b[31mOSError: the arm fell off\x1b[0m\n\n")
    sleeper.kill()
    # Not reaped yet: a zombie counts as gone.
    deadline = time.monotonic() + 5
    while observe(run).state is RunState.RUNNING and time.monotonic() < deadline:
        time.sleep(0.01)
    seen = observe(run)
    assert seen.state is RunState.CRASHED
    assert seen.reason == "OSError: the arm fell off"
    assert seen.last_words == ("step 1", "OSError: the arm fell off")
    mark_exit(run, process, -9)
    assert observe(run).reason == "killed, signal 9: OSError: the arm fell off"


def test_a_reused_pid_is_told_by_its_start(run: RunDirectory, sleeper: "subprocess.Popen[bytes]") -> None:
    process = identity(sleeper)
    store(run, pid=process.pid, pid_started=process.started - 100)
    assert observe(run).state is RunState.CRASHED


def test_on_another_host_the_heartbeat_decides(run: RunDirectory) -> None:
    store(run, pid=1, pid_started=1.0, host="elsewhere", heartbeat=1000.0)
    assert observe(run, now=1059.0).state is RunState.RUNNING
    seen = observe(run, now=1061.0)
    assert (seen.state, seen.reason) == (RunState.CRASHED, "no heartbeat from elsewhere")


@pytest.mark.parametrize("state", ["finished", "stopped", "failed"])
def test_a_run_that_ended_never_crashed(run: RunDirectory, state: str) -> None:
    store(run, state=state, reason="goal", pid=2**22 + 1, pid_started=0.0)
    seen = observe(run)
    assert (seen.state, seen.reason) == (state, "goal")


def test_an_ending_in_the_stream_counts_where_the_file_did_not_get_that_far(run: RunDirectory) -> None:
    store(run, pid=2**22 + 1, pid_started=0.0)
    with EventWriter(run.events_path) as writer:
        writer.append("state", state="running")
        assert observe(run).state is RunState.CRASHED
        writer.append("state", state="finished", reason="goal")
        assert observe(run).state is RunState.FINISHED
        writer.append("resumed", from_steps=5)
        assert observe(run).state is RunState.CRASHED


def test_a_kill_by_hand_shows_as_stopped_for_that_process_only(run: RunDirectory) -> None:
    store(run, pid=2**22 + 1, pid_started=5.0)
    mark_killed(run, ProcessIdentity(2**22 + 1, 5.0, this_host()))
    assert (observe(run).state, observe(run).reason) == (RunState.STOPPED, "killed by hand")
    store(run, pid=2**22 + 1, pid_started=6.0)
    assert observe(run).state is RunState.CRASHED


def test_an_ending_written_between_the_two_looks_is_seen(run: RunDirectory) -> None:
    """The reader holds `running`, the child writes `finished` and goes."""
    stale = StoredState(RunState.RUNNING, pid=2**22 + 1, pid_started=0.0, host=this_host())
    store(run, state="finished", reason="steps")
    assert observe(run, stored=stale).state is RunState.FINISHED


def test_a_living_process_that_shows_nothing_is_stalled(run: RunDirectory, sleeper: "subprocess.Popen[bytes]") -> None:
    process = identity(sleeper)
    store(run, pid=process.pid, pid_started=process.started, heartbeat=1000.0)
    assert observe(run, now=1030.0).is_stalled is False
    assert observe(run, now=1121.0).is_stalled is True
    assert observe(run, now=1121.0).silent_s == pytest.approx(121.0)


@pytest.mark.parametrize("content", [None, "", "{", "[]", '{"state": "dancing"}', '{"pid": 3}'])
def test_a_state_that_cannot_be_read_is_a_crash_with_a_reason(run: RunDirectory, content: str | None) -> None:
    if content is not None:
        run.state_path.write_text(content)
    assert observe(run).state is RunState.CRASHED
    assert "state.json" in observe(run).reason


def test_a_log_line_is_fit_to_be_shown() -> None:
    assert clean("\x1b]0;title\x07 10%\r 20%\r\x1b[1m done\x1b[0m\x00") == " done"
