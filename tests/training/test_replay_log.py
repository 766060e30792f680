"""Rows for replay on disk: what is read back is what was in the buffer, whatever happened to the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from stable_baselines3.common.buffers import NStepReplayBuffer, ReplayBuffer

from workbench.training.fast.replay import RowReplayBuffer
from workbench.training.replay_log import ReplayLog, drop_after, refill

COPIES, CAPACITY = 2, 24
KINDS: tuple[type[ReplayBuffer], ...] = (RowReplayBuffer, ReplayBuffer, NStepReplayBuffer)


def make(kind: type[ReplayBuffer] = RowReplayBuffer) -> Any:
    seen = spaces.Box(-1, 1, (3,), np.float64)
    return kind(CAPACITY * COPIES, seen, spaces.Box(-1, 1, (2,), np.float32), n_envs=COPIES)


def add(buffer: Any, first: int, last: int) -> None:
    for row in range(first, last):
        noise = np.random.default_rng(row)
        seen, after = noise.normal(size=(2, COPIES, 3))
        done = noise.random(COPIES) < 0.3
        infos = [{"TimeLimit.truncated": bool(cut)} for cut in noise.random(COPIES) < 0.5]
        buffer.add(seen, after, noise.normal(size=(COPIES, 2)), noise.normal(size=COPIES), done, infos)


def same(one: Any, other: Any) -> bool:
    names = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")
    arrays = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
    return arrays and (one.pos, one.full) == (other.pos, other.full)


def filled(rows: int, kind: type[ReplayBuffer] = RowReplayBuffer) -> Any:
    buffer = make(kind)
    add(buffer, 0, rows)
    return buffer


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [0, 1, 10, CAPACITY, CAPACITY + 1, 3 * CAPACITY + 5])
def test_what_is_read_back_is_what_was_in_the_buffer(tmp_path: Path, kind: type[ReplayBuffer], rows: int) -> None:
    buffer = make(kind)
    log = ReplayLog(tmp_path / "replay", buffer)
    place = log.place
    for first in range(0, rows, 7):
        add(buffer, first, min(first + 7, rows))
        log.write(log.take(min(first + 7, rows)))
        if first % 2:
            place = log.place
            log.forget()
    place = log.place
    other = make(kind)
    refill(tmp_path / "replay", other, place)
    assert same(buffer, other)


def test_more_rows_than_the_buffer_holds_may_come_at_once(tmp_path: Path) -> None:
    buffer = filled(2 * CAPACITY + 3)
    log = ReplayLog(tmp_path, buffer)
    log.write(log.take(2 * CAPACITY + 3))
    other = make()
    refill(tmp_path, other, log.place)
    assert same(buffer, other)


def test_a_resumed_log_writes_on_beside_what_the_killed_one_wrote_too_much(tmp_path: Path) -> None:
    buffer = filled(10)
    log = ReplayLog(tmp_path, buffer)
    log.write(log.take(10))
    place = log.place
    add(buffer, 100, 108)
    log.write(log.take(18))
    # Killed here, in the middle of a row.
    with max(tmp_path.glob("*.rows")).open("ab") as file:
        file.write(b"torn")
    resumed = make()
    drop_after(tmp_path, place["rows"])
    refill(tmp_path, resumed, place)
    assert same(resumed, filled(10))
    log = ReplayLog(tmp_path, resumed, 10)
    add(resumed, 10, 30)
    log.write(log.take(30))
    other = make()
    refill(tmp_path, other, log.place)
    assert same(other, filled(30))


def test_the_rows_of_the_checkpoint_before_stay_until_the_next_one(tmp_path: Path) -> None:
    buffer = make()
    log = ReplayLog(tmp_path, buffer)
    places, copies = [], []
    for rows in range(20, 200, 20):
        add(buffer, rows - 20, rows)
        log.write(log.take(rows))
        places.append(log.place)
        copies.append(filled(rows))
        log.forget()
        for place, copy in list(zip(places, copies, strict=True))[-2:]:
            other = make()
            refill(tmp_path, other, place)
            assert same(other, copy)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 3 * buffer.rows.nbytes


def test_missing_rows_and_other_buffers_are_refused(tmp_path: Path) -> None:
    buffer = filled(20)
    log = ReplayLog(tmp_path, buffer)
    log.write(log.take(20))
    place = log.place
    with pytest.raises(ValueError, match="another size or shape"):
        refill(tmp_path, make(ReplayBuffer), place)
    torn = sorted(tmp_path.glob("*.rows"))[3]
    torn.write_bytes(torn.read_bytes()[:-1])
    with pytest.raises(ValueError, match="rows for replay are missing from 9 on"):
        refill(tmp_path, make(), place)
