"""Replay rows beside the replay buffer of Stable-Baselines3."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from stable_baselines3.common.buffers import ReplayBuffer

from workbench.training.fast.batch import Batch
from workbench.training.fast.replay import RowReplayBuffer

SPACES = (gymnasium.spaces.Box(-9, 9, (2, 3), np.float32), gymnasium.spaces.Box(-1, 1, (2,), np.float32))


def make(cls: type[ReplayBuffer], steps: int, **keywords: Any) -> Any:
    buffer = cls(60, *SPACES, device="cpu", n_envs=3, **keywords)
    random = np.random.default_rng(4)
    for _ in range(steps):
        seen, then = random.normal(size=(2, 3, 2, 3))
        done, cut = random.random((2, 3)) < 0.4
        infos: list[dict[str, Any]] = [{"TimeLimit.truncated": bool(each)} if each else {} for each in done & cut]
        buffer.add(seen, then, random.uniform(-1, 1, (3, 2)), random.normal(size=3), done, infos)
    return buffer


@pytest.mark.parametrize("keywords", [{}, {"handle_timeout_termination": False}])
@pytest.mark.parametrize("steps", [7, 33])
def test_the_same_seed_draws_the_same_transitions(steps: int, keywords: dict[str, Any]) -> None:
    theirs, ours = make(ReplayBuffer, steps, **keywords), make(RowReplayBuffer, steps, **keywords)
    assert (ours.pos, ours.full) == (theirs.pos, theirs.full)
    np.random.seed(1)
    expected = theirs.sample(16)
    np.random.seed(1)
    for one, other in zip(expected, ours.sample(16), strict=True):
        assert one is other is None or torch.equal(one, other)
    batch = Batch(16, 6, 2)
    np.random.seed(1)
    batch.draw(ours, gamma=0.5)
    assert torch.equal(batch.observations[:16], expected.observations.flatten(1))
    assert torch.equal(batch.observations[16:], expected.next_observations.flatten(1))
    assert torch.equal(batch.actions, expected.actions)
    assert torch.equal(batch.rewards, expected.rewards[:, 0])
    assert torch.equal(batch.discounts, 0.5 * (1 - expected.dones[:, 0]))
    assert 0 < expected.dones.sum() < 16
    np.random.seed(1)
    other_way = Batch(16, 6, 2)
    other_way.draw(theirs, gamma=0.5)
    assert torch.equal(batch.rows[:16], other_way.rows[:16])
    assert torch.equal(batch.observations, other_way.observations)


def test_arrays_are_views_of_the_rows() -> None:
    buffer = make(RowReplayBuffer, 5)
    for name in ("observations", "next_observations", "actions", "rewards", "dones", "timeouts"):
        assert np.shares_memory(getattr(buffer, name), buffer.rows)
        np.testing.assert_array_equal(getattr(buffer, name), getattr(make(ReplayBuffer, 5), name).astype(np.float32))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda buffer: pickle.loads(pickle.dumps(buffer))])
def test_a_copy_has_rows_of_its_own(duplicate: Any) -> None:
    buffer = make(RowReplayBuffer, 5)
    twin = duplicate(buffer)
    assert len(pickle.dumps(buffer)) < 2 * buffer.rows.nbytes
    assert not np.shares_memory(twin.rows, buffer.rows)
    assert np.shares_memory(twin.rewards, twin.rows)
    np.random.seed(1)
    expected = buffer.sample(8)
    np.random.seed(1)
    assert torch.equal(twin.sample(8).observations, expected.observations)


def test_there_is_no_room_to_save_memory() -> None:
    with pytest.raises(ValueError, match="optimize_memory_usage"):
        make(RowReplayBuffer, 0, optimize_memory_usage=True, handle_timeout_termination=False)
