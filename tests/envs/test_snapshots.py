"""Every shipped environment goes on from a snapshot, in another object, bit for bit."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.envs.conftest import SOURCES
from workbench.errors import SimulationError
from workbench.simulation import BatchEnv, EnvSource, make_batch

COPIES = 3


def make(source: EnvSource, n_envs: int = COPIES) -> BatchEnv[Any]:
    # Episodes end while it runs on, so that start states are drawn too.
    env = make_batch(replace(source, env_cfg={**source.env_cfg, "episode_steps": 17}), n_envs, 1)
    assert env is not None
    return env


def actions(env: BatchEnv[Any], steps: int, seed: int) -> Any:
    low, high = env.action_space.low, env.action_space.high
    return np.random.default_rng(seed).uniform(low, high, (steps, COPIES, len(low))).astype(np.float32)


def run(env: BatchEnv[Any], steps: int, seed: int) -> list[Any]:
    told = []
    for action in actions(env, steps, seed):
        result = env.step_arrays(action)
        told += [result.observations.tobytes(), result.rewards.tobytes(), result.ended.tolist(), result.episodes]
    return told


@pytest.mark.parametrize("name", SOURCES)
def test_another_object_goes_on_from_a_snapshot(name: str) -> None:
    one = make(SOURCES[name])
    one.reset(seed=5)
    run(one, 25, seed=1)
    snapshot = one.snapshot()
    expected = run(one, 40, seed=2)
    other = make(SOURCES[name])
    other.reset(seed=99)
    run(other, 3, seed=3)
    other.restore(snapshot)
    assert run(other, 40, seed=2) == expected


def test_a_snapshot_is_not_changed_by_what_follows() -> None:
    env = make(SOURCES["ant"])
    env.reset(seed=5)
    snapshot = env.snapshot()
    first = run(env, 30, seed=2)
    env.restore(snapshot)
    assert run(env, 30, seed=2) == first


def test_a_snapshot_of_other_copies_is_refused() -> None:
    env = make(SOURCES["cart_pole"], 2)
    env.reset(seed=5)
    with pytest.raises(SimulationError, match="the saved state is that of another environment"):
        make(SOURCES["cart_pole"]).restore(env.snapshot())
