import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.runs.fakes import fake_launch, until
from tests.runs.rows import a_row
from workbench.errors import RequestError, WorkFailedError
from workbench.runs.directory import RunDirectory
from workbench.runs.launch import ensure_supervisor
from workbench.runs.lock import supervisor_of
from workbench.runs.queueing import (
    QUEUE_FILE,
    Move,
    move_in_queue,
    places_of,
    queue_places,
    queued_runs,
)
from workbench.runs.several import on_each
from workbench.runs.state import StateFile, observe
from workbench.runs.states import RunState
from workbench.runs.stopping import kill_run, stop_run
from workbench.runs.supervisor import SLOTS_VARIABLE

Queue = Callable[..., list[RunDirectory]]


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[RunDirectory]:
    """Four queued runs that nobody starts."""
    monkeypatch.setattr("workbench.runs.queueing.ensure_supervisor", lambda runs_root: None)
    runs = [RunDirectory.create(tmp_path, "ppo", "ant", files={"run.json": {"spec": {}}}) for _ in range(4)]
    for queued_ns, run in enumerate(runs, start=100):
        StateFile(run.state_path).write_queued(queued_ns=queued_ns)
    return runs


@pytest.mark.parametrize(
    ("chosen", "where", "expected"),
    [
        ("c", Move.FIRST, "cabd"),
        ("db", Move.FIRST, "bdac"),
        ("a", Move.LAST, "bcda"),
        ("ca", Move.LAST, "bdac"),
        ("c", Move.UP, "acbd"),
        ("cd", Move.UP, "acdb"),
        ("ab", Move.UP, "abcd"),
        ("ac", Move.UP, "acbd"),
        ("b", Move.DOWN, "acbd"),
        ("ab", Move.DOWN, "cabd"),
        ("d", Move.DOWN, "abcd"),
    ],
)
def test_queued_runs_are_moved(waiting: list[RunDirectory], chosen: str, where: Move, expected: str) -> None:
    by_letter = dict(zip("abcd", waiting, strict=True))
    assert queued_runs(waiting[0].runs_root) == waiting
    moved = move_in_queue([by_letter[letter] for letter in chosen], where)
    assert moved == [by_letter[letter] for letter in expected]
    # It is on the disk, so whoever looks next sees the same.
    assert queued_runs(waiting[0].runs_root) == moved


def test_what_comes_later_stands_behind_and_what_was_queued_again_too(waiting: list[RunDirectory]) -> None:
    first, second, third, fourth = waiting
    root = first.runs_root
    move_in_queue([fourth], Move.FIRST)
    late = RunDirectory.create(root, "ppo", "ant", files={"run.json": {"spec": {}}})
    StateFile(late.state_path).write_queued(queued_ns=200)
    assert queued_runs(root) == [fourth, first, second, third, late]
    StateFile(fourth.state_path).write_queued(state=RunState.STOPPED, queued_ns=103)
    assert queued_runs(root) == [first, second, third, late]
    StateFile(fourth.state_path).write_queued(queued_ns=300)
    assert queued_runs(root) == [first, second, third, late, fourth]


def test_only_what_waits_is_moved(waiting: list[RunDirectory]) -> None:
    StateFile(waiting[0].state_path).write(RunState.RUNNING)
    StateFile(waiting[1].state_path).write(RunState.FINISHED)
    with pytest.raises(RequestError, match="is running already"):
        move_in_queue([waiting[2], waiting[0]], Move.LAST)
    with pytest.raises(RequestError, match="has ended"):
        move_in_queue([waiting[1]], Move.UP)
    assert move_in_queue([], Move.UP) == []
    assert not (waiting[0].runs_root / QUEUE_FILE).exists()


@pytest.mark.parametrize("content", ["{half", "[]", '{"order": 3}', '{"order": [3, ["a"], ["a", "b"], [1, 2]]}'])
def test_a_damaged_order_is_none(waiting: list[RunDirectory], content: str) -> None:
    (waiting[0].runs_root / QUEUE_FILE).write_text(content)
    assert queued_runs(waiting[0].runs_root) == waiting
    assert move_in_queue(waiting[3:], Move.FIRST)[0] == waiting[3]


def test_a_full_disk_changes_nothing(waiting: list[RunDirectory], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(WorkFailedError, match="No space left"):
        move_in_queue(waiting[3:], Move.FIRST)
    assert queued_runs(waiting[0].runs_root) == waiting


def test_the_supervisor_follows_the_order_and_so_does_the_next_one(
    queue: Queue, runs_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SLOTS_VARIABLE, "1")
    busy, *others = queue(
        fake_launch("iterations=100000"), *(fake_launch("iterations=1", seed=seed) for seed in range(3))
    )
    until(lambda: observe(busy).state is RunState.RUNNING)
    assert until(lambda: places_of(runs_root)) == 1
    assert move_in_queue([others[2]], Move.FIRST) == [others[2], others[0], others[1]]
    supervisor = supervisor_of(runs_root)
    assert supervisor is not None
    supervisor.send_signal(signal.SIGKILL)
    until(lambda: supervisor_of(runs_root) is None)
    ensure_supervisor(runs_root)
    move_in_queue([others[1]], Move.UP)
    stop_run(busy, timeout_s=10)
    until(lambda: all(observe(run).state is RunState.FINISHED for run in others))
    lines = (runs_root / ".supervisor.log").read_text().splitlines()
    started = [line.split("started ")[1].split(",")[0] for line in lines if "started " in line]
    assert started == [run.name for run in (busy, others[2], others[1], others[0])]


def test_the_lock_tells_how_many_run_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SLOTS_VARIABLE, "3")
    assert places_of(tmp_path) == 3
    # What a supervisor that is gone said does not count.
    (tmp_path / ".supervisor.lock").write_text(json.dumps({"pid": 1, "started": -1.0, "host": "", "places": 8}))
    assert places_of(tmp_path) == 3


def queued(number: int, *, total_steps: int = 1000) -> dict[str, object]:
    return {"state": RunState.QUEUED, "queued_ns": number, "total_steps": total_steps}


def starts(monkeypatch: pytest.MonkeyPatch, places: int, *rows: dict[str, object]) -> list[float | None]:
    monkeypatch.setenv(SLOTS_VARIABLE, str(places))
    made = [a_row(f"{number:04d}", **fields) for number, fields in enumerate(rows)]  # type: ignore[arg-type]
    found = queue_places(Path("/nowhere"), made)
    assert [place.position for place in found.values()] == list(range(1, len(found) + 1))
    return [place.starts_in_s for place in found.values()]


RUNNING = {"state": RunState.RUNNING, "steps_per_s": 10.0}


def test_each_start_follows_from_the_ends_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    live = ({**RUNNING, "eta_s": 600.0}, {**RUNNING, "eta_s": 250.0})
    # 1000 steps at 10 a second are 100 s: in at 250, out at 350; in at 350, out at 450; and so on.
    assert starts(monkeypatch, 2, *live, queued(1), queued(2), queued(3, total_steps=5000), queued(4)) == [
        250.0, 350.0, 450.0, 600.0
    ]  # fmt: skip
    # A free place is taken at once.
    assert starts(monkeypatch, 3, *live, queued(1), queued(2)) == [0.0, 100.0]
    # More run than there are places: the first end frees none.
    assert starts(monkeypatch, 1, *live, queued(1)) == [600.0]
    paused = {"state": RunState.PAUSED, "reason": "by hand"}
    assert starts(monkeypatch, 2, live[0], paused, queued(1)) == [0.0]
    assert starts(monkeypatch, 2, live[0], {**paused, "reason": "waits for a place", "total_steps": 0}, queued(1)) == [
        600.0
    ]
    assert starts(monkeypatch, 1, {"state": RunState.STOPPING}, queued(1)) == [0.0]


def test_what_is_not_known_is_not_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = {"state": RunState.RUNNING, "total_steps": 0}
    assert starts(monkeypatch, 1, endless, queued(1)) == [None]
    # One place frees; how long the first takes there is unknown, so nothing is known of the second.
    assert starts(monkeypatch, 1, {**endless, "eta_s": 30.0}, queued(1), queued(2)) == [30.0, None]
    # The speed of one that has ended: 500 steps beyond its parent's 100 in 50 s.
    ended = {"state": RunState.FINISHED, "steps": 600, "start_steps": 100, "active_s": 50.0}
    assert starts(monkeypatch, 1, {**endless, "eta_s": 30.0}, ended, queued(1), queued(2)) == [30.0, 130.0]
    assert starts(monkeypatch, 1) == []


def test_several_runs_are_acted_on_whatever_happens_to_one(queue: Queue) -> None:
    first, second = queue(fake_launch("iterations=100000"), fake_launch("iterations=100000", seed=2))
    until(lambda: observe(first).state is observe(second).state is RunState.RUNNING)

    def end(run: RunDirectory) -> RunState:
        if run == first:
            raise RequestError("not this one")
        return kill_run(run).state

    outcomes = on_each([first, second, first], end)
    assert [(item.run, item.result, str(item.error or "")) for item in outcomes] == [
        (first, None, "not this one"),
        (second, RunState.STOPPED, ""),
    ]
