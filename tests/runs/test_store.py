import json
import time
from pathlib import Path
from typing import Any

import pytest

from workbench.runs.annotations import pin_run
from workbench.runs.digest import TREND_POINTS
from workbench.runs.directory import RunDirectory
from workbench.runs.events import EventWriter
from workbench.runs.state import StateFile
from workbench.runs.states import RunState
from workbench.runs.store import RunStore

NOW = 1_800_000_000.0


def make(root: Path, *, created: float = NOW - 900, seed: int = 1, **spec: Any) -> RunDirectory:
    algorithm = spec.setdefault("algorithm", "ppo")
    spec = {"env_id": "workbench/AntNoContact-v0", "seed": seed, **spec}
    record = {"format": 1, "spec": spec, "environment": {"name": "ant_no_contact"}, "created": created}
    return RunDirectory.create(root, algorithm, "ant_no_contact", files={"run.json": record})


def running(run: RunDirectory) -> None:
    StateFile(run.state_path, clock=lambda: NOW).write(RunState.RUNNING)


def metrics(writer: EventWriter, *, at: float, steps: int, value: float | None = None, iteration: int = 0) -> None:
    values = {} if value is None else {"rollout/ep_rew_mean": value}
    writer.append(
        "metrics", time=at, steps=steps, wall_s=at - NOW + 900, iteration=iteration, episodes=1, values=values
    )


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path, clock=lambda: NOW)


def test_no_runs_is_an_empty_list(tmp_path: Path) -> None:
    assert RunStore(tmp_path / "nowhere").list() == []


def test_a_row_tells_what_and_how_far(tmp_path: Path, store: RunStore) -> None:
    run = make(tmp_path, seed=7, total_steps=1000, tags=["baseline"], group="g1")
    run.annotations_path.write_text('{"tags": ["mine"], "note": "look"}')
    running(run)
    with EventWriter(run.events_path) as writer:
        metrics(writer, at=NOW - 40, steps=100, value=1.0)
        metrics(writer, at=NOW, steps=500, value=2.0)
        writer.append("evaluation", steps=500, mean_return=5.0, std_return=1.0)
        writer.append("evaluation", steps=500, mean_return=4.0, std_return=1.0)
        writer.append("anomaly", steps=500)
    [row] = store.list()
    assert (row.state, row.algorithm, row.env_name, row.seed) == (RunState.RUNNING, "ppo", "ant_no_contact", 7)
    assert (row.steps, row.total_steps, row.progress) == (500, 1000, 0.5)
    assert (row.tags, row.note, row.group, row.age_s) == (("baseline", "mine"), "look", "g1", 900.0)
    assert (row.last_return, row.trend, row.anomalies) == (2.0, (1.0, 2.0), 1)
    assert row.best is not None
    assert row.best.mean_return == 5.0
    assert row.steps_per_s == pytest.approx(10.0)
    assert row.eta_s == pytest.approx(50.0)
    json.dumps(row.to_json(), allow_nan=False)


def test_speed_is_that_of_the_last_minute_not_since_the_start(tmp_path: Path, store: RunStore) -> None:
    run = make(tmp_path, total_steps=10_000)
    running(run)
    with EventWriter(run.events_path) as writer:
        for second in range(600):
            fast = second < 500
            steps = 10 * second if fast else 5000 + (second - 500)
            metrics(writer, at=NOW - 600 + second, steps=steps)
    [row] = store.list()
    assert row.steps_per_s == pytest.approx(1.0, rel=0.02)


def test_a_remaining_time_needs_half_a_minute_of_data(tmp_path: Path, store: RunStore) -> None:
    run = make(tmp_path, total_steps=1000)
    running(run)
    with EventWriter(run.events_path) as writer:
        metrics(writer, at=NOW - 20, steps=100)
        metrics(writer, at=NOW, steps=200)
        assert store.list()[0].eta_s is None
        metrics(writer, at=NOW + 10, steps=250)
        assert store.list()[0].eta_s == pytest.approx(150.0)


def test_a_pause_or_a_new_start_is_not_counted_as_slow_work(tmp_path: Path, store: RunStore) -> None:
    run = make(tmp_path, total_steps=1000)
    running(run)
    with EventWriter(run.events_path) as writer:
        metrics(writer, at=NOW - 55, steps=100)
        writer.append("state", time=NOW - 50, state="paused")
        writer.append("state", time=NOW - 10, state="running")
        metrics(writer, at=NOW - 9, steps=110)
        metrics(writer, at=NOW, steps=200)
    assert store.list()[0].steps_per_s == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"total_steps": 1000}, 0.2),
        ({"stop_criteria": {"training_iteration": 10}}, 0.4),
        ({"stop_criteria": {"wall_time_s": 1000}}, 0.9),
        ({"total_steps": 1000, "stop_criteria": {"training_iteration": 10, "wall_time_s": 1500}}, 0.6),
        ({"total_steps": 1000, "stop_criteria": {"num_env_steps_sampled_lifetime": 250}}, 0.8),
        ({"stop_criteria": {"episode_return_mean": 3.0}}, None),
        ({"total_steps": 100}, 1.0),
    ],
)
def test_progress_is_the_largest_share_and_a_goal_never_fills_it(
    tmp_path: Path, store: RunStore, spec: dict[str, Any], expected: float | None
) -> None:
    run = make(tmp_path, **spec)
    running(run)
    with EventWriter(run.events_path) as writer:
        metrics(writer, at=NOW, steps=200, iteration=4, value=2.9)
    row = store.list()[0]
    assert row.progress == (None if expected is None else pytest.approx(expected))
    assert row.eta_is_bound is ("episode_return_mean" in spec.get("stop_criteria", {}))


def test_a_goal_in_the_way_makes_the_remaining_time_a_bound(tmp_path: Path, store: RunStore) -> None:
    make(tmp_path, total_steps=10, stop_criteria={"evaluation_return_mean": 990.0})
    assert store.list()[0].eta_is_bound


def test_a_resumed_run_forgets_what_lies_beyond(tmp_path: Path, store: RunStore) -> None:
    run = make(tmp_path, total_steps=1000)
    running(run)
    with EventWriter(run.events_path) as writer:
        for steps in (100, 200, 300):
            metrics(writer, at=NOW - 300 + steps, steps=steps, value=float(steps))
            writer.append("evaluation", steps=steps, mean_return=float(steps), std_return=0.0)
        writer.append("resumed", from_steps=200, steps=200)
    row = store.list()[0]
    assert (row.steps, row.last_return, row.trend) == (200, 200.0, (100.0, 200.0))
    assert row.best is not None
    assert row.best.steps == 200


def test_a_long_run_keeps_its_shape_in_a_bounded_trend(tmp_path: Path, store: RunStore) -> None:
    run = make(tmp_path)
    with EventWriter(run.events_path) as writer:
        for index in range(3000):
            metrics(writer, at=NOW - 3000 + index, steps=index, value=float(index))
    row = store.list()[0]
    assert 16 <= len(row.trend) <= TREND_POINTS
    assert list(row.trend) == sorted(row.trend)
    assert row.trend[0] < 100
    assert (row.steps, row.last_return) == (2999, 2999.0)


def test_live_runs_come_first_then_queued_then_ended(tmp_path: Path, store: RunStore) -> None:
    runs = [make(tmp_path, created=NOW - age, seed=age) for age in (1, 2, 3, 4)]
    StateFile(runs[0].state_path).write_queued(state=RunState.STOPPED, queued_ns=0)
    StateFile(runs[1].state_path).write_queued(queued_ns=0)
    running(runs[2])
    running(runs[3])
    assert [row.seed for row in store.list()] == [3, 4, 2, 1]


def test_a_broken_folder_is_a_row_that_says_so(tmp_path: Path, store: RunStore) -> None:
    run = make(tmp_path)
    run.spec_path.write_text("{")
    run.events_path.write_bytes(b"\xff\xfe\n{}\n")
    [row] = store.list()
    assert row.state is RunState.CRASHED
    assert "state.json" in row.reason
    assert "run.json" in row.problem
    assert row.env_name == "ant_no_contact"


def test_what_changed_is_seen_and_a_deleted_run_is_gone(tmp_path: Path, store: RunStore) -> None:
    run = make(tmp_path, total_steps=10)
    running(run)
    assert store.list()[0].steps == 0
    with EventWriter(run.events_path) as writer:
        metrics(writer, at=NOW, steps=5)
    assert store.list()[0].steps == 5
    StateFile(run.state_path).write(RunState.FINISHED, reason="steps")
    assert (store.list()[0].state, store.list()[0].reason) == (RunState.FINISHED, "steps")
    run.path.rename(tmp_path / "PPO" / ".trash")
    assert store.list() == []


def test_a_kill_marked_after_the_death_was_seen_still_shows(tmp_path: Path, store: RunStore) -> None:
    run = make(tmp_path)
    run.state_path.write_text('{"state": "running", "pid": 99999999, "pid_started": 1.0, "host": ""}')
    data = json.loads(run.state_path.read_text())
    from workbench.runs.processes import this_host

    run.state_path.write_text(json.dumps({**data, "host": this_host()}))
    assert store.list()[0].state is RunState.CRASHED
    run.kill_path.write_text('{"pid": 99999999, "pid_started": 1.0}')
    assert store.list()[0].state is RunState.STOPPED


def test_polling_fifty_runs_reads_only_what_is_new(tmp_path: Path, store: RunStore) -> None:
    for seed in range(50):
        run = make(tmp_path, seed=seed, total_steps=1000)
        with EventWriter(run.events_path) as writer:
            for index in range(20):
                metrics(writer, at=NOW - 20 + index, steps=index, value=1.0)
        StateFile(run.state_path).write(RunState.RUNNING)
    store.list()
    began = time.process_time()
    for _ in range(5):
        assert len(store.list()) == 50
    # Two polls a second would then take a fifth of a core at the very most; it is a few milliseconds.
    assert (time.process_time() - began) / 5 < 0.1


def test_the_smoothed_return_is_the_debiased_mean_that_curves_show(tmp_path: Path, store: RunStore) -> None:
    run = make(tmp_path)
    with EventWriter(run.events_path) as writer:
        assert store.list()[0].smoothed_return is None
        expected = {
            1.0: 1.0,  # 0.1 / (1 - 0.9)
            2.0: 0.29 / 0.19,  # (0.9 * 0.1 + 0.1 * 2) / (1 - 0.81)
            3.0: 0.561 / 0.271,  # (0.9 * 0.29 + 0.1 * 3) / (1 - 0.729)
        }
        for steps, (value, smoothed) in enumerate(expected.items(), start=1):
            metrics(writer, at=NOW, steps=steps, value=value)
            assert store.list()[0].smoothed_return == pytest.approx(smoothed, rel=1e-12)
        # Metrics without a return are no gap; one that is not finite is, and the mean starts anew behind it.
        writer.append("metrics", time=NOW, steps=4, iteration=4, values={"train/loss": 1.0})
        assert store.list()[0].smoothed_return == pytest.approx(0.561 / 0.271, rel=1e-12)
        metrics(writer, at=NOW, steps=5, value=float("nan"))
        assert store.list()[0].smoothed_return is None
        metrics(writer, at=NOW, steps=6, value=40.0)
        assert store.list()[0].smoothed_return == pytest.approx(40.0, rel=1e-12)
        writer.append("resumed", from_steps=2, steps=2)
        assert store.list()[0].smoothed_return == pytest.approx(0.29 / 0.19, rel=1e-12)


def test_the_smoothed_return_of_a_long_backlog_is_that_of_all_its_points(tmp_path: Path, store: RunStore) -> None:
    run = make(tmp_path)
    mean, bias = 0.0, 1.0
    with EventWriter(run.events_path) as writer:
        for index in range(3000):
            value = float(index % 97)
            metrics(writer, at=NOW - 3000 + index, steps=index, value=value)
            mean, bias = 0.9 * mean + 0.1 * value, 0.9 * bias
    assert store.list()[0].smoothed_return == pytest.approx(mean / (1 - bias), rel=1e-7)


def test_a_pinned_run_stands_on_top(tmp_path: Path, store: RunStore) -> None:
    ended, live = make(tmp_path, created=NOW - 9), make(tmp_path)
    StateFile(ended.state_path).write_queued(state=RunState.STOPPED, queued_ns=5)
    running(live)
    assert [row.is_pinned for row in store.list()] == [False, False]
    assert store.list()[0].name == live.name
    pin_run(ended)
    assert [(row.name, row.is_pinned) for row in store.list()] == [(ended.name, True), (live.name, False)]
    assert store.list()[0].queued_ns == 5
    pin_run(ended, is_pinned=False)
    assert store.list()[0].name == live.name


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
def test_a_clock_that_is_set_changes_neither_speed_nor_remaining_time(
    tmp_path: Path, store: RunStore, jump: float
) -> None:
    run = make(tmp_path, total_steps=10_000)
    running(run)
    with EventWriter(run.events_path) as writer:
        for second in range(61):
            at = NOW + second + (jump if second > 30 else 0.0)
            writer.append("metrics", time=at, steps=10 * second, wall_s=float(second), iteration=second, values={})
    [row] = store.list()
    assert row.steps_per_s == pytest.approx(10.0)
    assert row.eta_s == pytest.approx((10_000 - 600) / 10.0)


@pytest.mark.parametrize("between", [b"", b'{"kind":"anomaly","time":1,"steps":1}\n'], ids=["metrics alone", "others"])
def test_a_stream_of_many_parts_is_read_like_one_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, between: bytes
) -> None:
    run = make(tmp_path)
    count = 30_000
    lines = b"".join(
        b'{"kind":"metrics","time":%d,"steps":%d,"wall_s":%d,"values":{"rollout/ep_rew_mean":%d}}\n'
        % (place, place, place, place % 1000)
        + (between if place % 1000 == 0 else b"")
        for place in range(count)
    )
    run.events_path.write_bytes(lines)
    mean, bias = 0.0, 1.0
    for place in range(count):
        mean, bias = 0.9 * mean + 0.1 * (place % 1000), 0.9 * bias
    for size in (2**20, 2**16):
        monkeypatch.setattr("workbench.runs.digest._READ_BYTES", size)
        [row] = RunStore(tmp_path, clock=lambda: NOW).list()
        assert row.steps == count - 1 and row.last_return == 999.0
        assert row.smoothed_return == pytest.approx(mean / (1 - bias), rel=1e-6)
        assert row.anomalies == (count // 1000 if between else 0)
        assert 16 <= len(row.trend) <= TREND_POINTS
