import json
import os
import shlex
import signal
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runs.fakes import FAKE, fake_launch, until
from workbench.runs.directory import RunDirectory
from workbench.runs.launch import ensure_supervisor
from workbench.runs.lock import supervisor_of
from workbench.runs.resuming import resume_run
from workbench.runs.state import StateFile, observe
from workbench.runs.states import RunState
from workbench.runs.stopping import stop_run, wait_for_end
from workbench.runs.supervisor import SLOTS_VARIABLE, TRAINER_VARIABLE
from workbench.runs.trash import delete_runs
from workbench.runs.variables import VARIABLES_NAME, Launcher, document, drop, leave, read_launcher

Queue = Callable[..., list[RunDirectory]]

TOLD = "WORKBENCH_TEST_WORD"


@pytest.fixture
def one_place(runs_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SLOTS_VARIABLE, "1")


@pytest.fixture
def telling(runs_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each trainer write its environment into its log, and end at once."""
    script = tmp_path / "telling.py"
    script.write_text(
        "import json, os, sys\n"
        "print(json.dumps(dict(os.environ)), flush=True)\n"
        f"sys.path.insert(0, {str(Path.cwd())!r})\n"
        "import runpy\n"
        f"runpy.run_path({str(FAKE)!r}, run_name='__main__')\n"
    )
    monkeypatch.setenv(TRAINER_VARIABLE, shlex.join([sys.executable, str(script)]))


def environment_of(run: RunDirectory) -> dict[str, str]:
    """The variables that the last trainer of a run had, as `telling` wrote them."""
    assert wait_for_end(run, 15).state is RunState.FINISHED, run.log_path.read_text()
    lines = [line for line in run.log_path.read_text().splitlines() if line.startswith("{")]
    told: dict[str, str] = json.loads(lines[-1])
    return told


def file_of(run: RunDirectory) -> Path:
    return run.path / VARIABLES_NAME


@pytest.mark.usefixtures("telling", "one_place")
def test_each_run_trains_with_the_variables_of_its_own_launch(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOLD, "first\nof two")
    monkeypatch.setenv("WORKBENCH_TEST_ONLY_FIRST", "yes")
    [first] = queue(fake_launch("iterations=40", "pause_s=0.05"))
    until(lambda: observe(first).state is RunState.RUNNING)
    monkeypatch.setenv(TOLD, os.fsdecode(b"second \xff"))
    # How many run at once is for the supervisor that is there to say.
    monkeypatch.setenv(SLOTS_VARIABLE, "7")
    monkeypatch.delenv("WORKBENCH_TEST_ONLY_FIRST")
    [second] = queue(fake_launch())
    # What the launcher does after it has queued the run is no longer its run's.
    monkeypatch.setenv(TOLD, "third")
    seen, later = environment_of(first), environment_of(second)
    assert (seen[TOLD], seen["WORKBENCH_TEST_ONLY_FIRST"]) == ("first\nof two", "yes")
    assert later[TOLD] == os.fsdecode(b"second \xff")
    assert "WORKBENCH_TEST_ONLY_FIRST" not in later
    for told in (seen, later):
        assert (told["PYTHONUNBUFFERED"], told["PYTHONFAULTHANDLER"], told[SLOTS_VARIABLE]) == ("1", "1", "1")


@pytest.mark.usefixtures("telling", "one_place")
def test_a_resumed_run_goes_on_with_the_variables_of_who_resumed_it(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOLD, "of the launch")
    busy, run = queue(fake_launch("iterations=1000"), fake_launch())
    stop_run(run, timeout_s=10)
    assert not file_of(run).exists()
    monkeypatch.setenv(TOLD, "of the resume")
    resume_run(run)
    assert stat.S_IMODE(file_of(run).stat().st_mode) == 0o600
    stop_run(busy, timeout_s=10)
    assert environment_of(run)[TOLD] == "of the resume"
    assert not file_of(run).exists()


@pytest.mark.usefixtures("one_place")
def test_the_file_is_for_its_owner_alone_and_gone_once_the_trainer_was_started(queue: Queue) -> None:
    before = os.umask(0)
    try:
        first, second = queue(fake_launch("iterations=1000"), fake_launch("iterations=1000"))
    finally:
        os.umask(before)
    until(lambda: observe(first).state is RunState.RUNNING)
    until(lambda: not file_of(first).exists())
    assert observe(second).state is RunState.QUEUED
    assert stat.S_IMODE(file_of(second).stat().st_mode) == 0o600
    stop_run(first, timeout_s=10)
    until(lambda: observe(second).state is RunState.RUNNING)
    until(lambda: not file_of(second).exists())
    assert not list(second.path.glob(f"*{VARIABLES_NAME}*"))


def test_it_is_private_from_its_first_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    real = os.fsync

    def noting(handle: int) -> None:
        seen.append(stat.S_IMODE(os.fstat(handle).st_mode))
        real(handle)

    monkeypatch.setattr(os, "fsync", noting)
    before = os.umask(0)
    try:
        leave(RunDirectory(tmp_path), 1)
    finally:
        os.umask(before)
    assert seen == [0o600]
    assert stat.S_IMODE((tmp_path / VARIABLES_NAME).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "torn",
    [
        b"",
        b'{"format": 1, "queued_ns": ',
        b'{"format": 1, "python": "/no/such/python", "variables": {"WORKBENCH_TEST_WORD": "stale"}, "queued_ns": 7}',
    ],
)
@pytest.mark.usefixtures("telling", "one_place")
def test_without_a_whole_file_of_this_launch_the_supervisors_variables_hold(
    queue: Queue, monkeypatch: pytest.MonkeyPatch, torn: bytes
) -> None:
    monkeypatch.setenv(TOLD, "of the supervisor")
    [busy] = queue(fake_launch("iterations=1000"))
    until(lambda: observe(busy).state is RunState.RUNNING)
    monkeypatch.setenv(TOLD, "of the launch")
    [run] = queue(fake_launch())
    file_of(run).write_bytes(torn)
    stop_run(busy, timeout_s=10)
    assert environment_of(run)[TOLD] == "of the supervisor"
    assert not file_of(run).exists()


@pytest.mark.parametrize(
    "variables",
    [[], {"A": 1}, {"A": None}, {"A=B": "c"}, {"A\0": "b"}, {"A": "b\0c"}, {"A": "\ud800"}],
)
def test_what_no_process_can_be_started_with_is_not_taken(tmp_path: Path, variables: object) -> None:
    run = RunDirectory(tmp_path)
    (tmp_path / VARIABLES_NAME).write_text(json.dumps({**document(7), "variables": variables}))
    assert read_launcher(run, 7) is None
    (tmp_path / VARIABLES_NAME).write_text(json.dumps({**document(7), "variables": {"A": "b\udcff="}}))
    assert read_launcher(run, 7) == Launcher(sys.executable, {"A": "b\udcff="})


@pytest.mark.usefixtures("one_place")
def test_the_python_of_the_launch_trains(queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [busy] = queue(fake_launch("iterations=1000"))
    until(lambda: observe(busy).state is RunState.RUNNING)
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho asked for: $1 $2\nexec {shlex.quote(sys.executable)} {FAKE} $3\n")
    python.chmod(0o755)
    monkeypatch.delenv(TRAINER_VARIABLE)
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    monkeypatch.setattr(sys, "executable", str(python))
    [run] = queue(fake_launch())
    stop_run(busy, timeout_s=10)
    assert wait_for_end(run, 15).state is RunState.FINISHED
    assert run.log_path.read_text().startswith("asked for: -m workbench.training\n")


@pytest.mark.parametrize("trainer", ["/no/such/program", "an 'open quote"])
@pytest.mark.usefixtures("one_place")
def test_nothing_is_left_of_a_run_that_cannot_be_started_and_the_next_one_is(
    queue: Queue, monkeypatch: pytest.MonkeyPatch, trainer: str
) -> None:
    fake = os.environ[TRAINER_VARIABLE]
    [busy] = queue(fake_launch("iterations=1000"))
    until(lambda: observe(busy).state is RunState.RUNNING)
    monkeypatch.setenv(TRAINER_VARIABLE, trainer)
    [broken] = queue(fake_launch())
    monkeypatch.setenv(TRAINER_VARIABLE, fake)
    [sound] = queue(fake_launch())
    stop_run(busy, timeout_s=10)
    assert wait_for_end(broken, 10).state is RunState.FAILED
    assert wait_for_end(sound, 10).state is RunState.FINISHED
    until(lambda: not file_of(broken).exists())


@pytest.mark.usefixtures("one_place")
def test_the_next_supervisor_takes_away_what_one_that_was_killed_left(queue: Queue, runs_root: Path) -> None:
    [run] = queue(fake_launch("iterations=1000"))
    until(lambda: observe(run).state is RunState.RUNNING)
    until(lambda: not file_of(run).exists())
    stored = StateFile(run.state_path).read()
    supervisor = supervisor_of(runs_root)
    assert stored is not None and supervisor is not None
    supervisor.send_signal(signal.SIGKILL)
    until(lambda: supervisor_of(runs_root) is None)
    leave(run, stored.queued_ns)
    ensure_supervisor(runs_root)
    until(lambda: not file_of(run).exists())
    assert observe(run).state is RunState.RUNNING


def test_what_a_later_launch_left_stays(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    leave(run, 8)
    drop(run, 7)
    assert file_of(run).exists()
    drop(run, 8)
    assert not file_of(run).exists()


def test_none_goes_into_the_trash(runs_root: Path) -> None:
    run = RunDirectory.create(runs_root, "ppo", "a", files={"run.json": {}})
    StateFile(run.state_path).write_queued(state=RunState.STOPPED, queued_ns=1)
    leave(run, 1)
    [moved] = delete_runs([run])
    assert not (moved.path / VARIABLES_NAME).exists()
