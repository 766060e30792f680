"""The split of time: it adds up, costs next to nothing and reads as a table."""

from __future__ import annotations

import time

import pytest

from workbench.training.clock import Clock


class Worker:
    def outer(self) -> int:
        return self.inner() + 1

    def inner(self) -> int:
        time.sleep(0.02)
        return 1


def test_the_parts_add_up_to_the_time_that_passed() -> None:
    started = time.perf_counter()
    clock = Clock()
    with clock.spending("checkpoint"):
        time.sleep(0.02)
    clock.add("collection", 0.005)
    time.sleep(0.01)
    lap = clock.lap()
    passed = time.perf_counter() - started
    assert sum(lap.values()) == pytest.approx(passed, rel=0.05)
    assert lap["time/checkpoint_s"] >= 0.02 and lap["time/collection_s"] == 0.005 and lap["time/update_s"] == 0
    assert clock.lap()["time/checkpoint_s"] == 0


def test_a_watched_method_that_calls_another_counts_once() -> None:
    clock, worker = Clock(is_detailed=True), Worker()
    for method in ("outer", "inner", "missing"):
        clock.watch(worker, method, "collection/environment")
    assert worker.outer() == 2
    assert 0.02 <= clock.lap()["timings/environment_s"] < 0.035


def test_the_table_tells_seconds_shares_and_microseconds() -> None:
    clock = Clock(is_detailed=True)
    clock.add("collection", 3.0)
    clock.add("collection/environment", 2.0)
    clock.add("update", 1.0)
    clock.lap()
    title, *rows = clock.table(1_000_000)
    assert title.split() == ["where", "the", "time", "went", "seconds", "share", "µs", "a", "step"]
    assert rows[0].split() == ["collection", "3.00", "75.0%", "3.0"]
    assert rows[1].split() == ["environment", "2.00", "50.0%", "2.0"]
    assert [row.split()[0] for row in rows[2:]] == ["update", "evaluation", "checkpoint", "idle", "all"]
    assert "–" in clock.table(0)[1]


def test_a_lap_costs_microseconds() -> None:
    clock = Clock(is_detailed=True)
    started = time.perf_counter()
    for _ in range(1000):
        with clock.spending("checkpoint"):
            pass
        clock.lap()
    assert (time.perf_counter() - started) / 1000 < 0.001
