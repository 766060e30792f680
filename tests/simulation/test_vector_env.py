"""The Gymnasium vector environment, against Gymnasium's own over the plain environment."""

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from workbench.simulation import EnvSource, make_single, make_vector


def assert_same(one: Any, other: Any, where: str = "infos") -> None:
    if isinstance(one, dict):
        assert set(one) == set(other), where
        for key in one:
            assert_same(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, np.ndarray) and one.dtype == object:
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            assert_same(left, right, f"{where}[{index}]")
    else:
        assert np.array_equal(one, other), where


def test_it_declares_how_it_restarts(slide: EnvSource) -> None:
    env = make_vector(slide, 3)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert env.observation_space.shape == (3, 2)
    assert env.single_action_space.shape == (1,)


def test_it_equals_gymnasiums_loop_over_plain_environments(slide: EnvSource) -> None:
    ours = make_vector(slide, 3)
    theirs = SyncVectorEnv([lambda: make_single(slide)] * 3, autoreset_mode=AutoresetMode.SAME_STEP)
    assert_same(ours.reset(seed=5)[0], theirs.reset(seed=5)[0])
    generator = np.random.default_rng(0)
    ends = 0
    for _ in range(40):
        actions = generator.uniform(-4, 4, (3, 1)).astype(np.float32)
        mine, other = ours.step(actions), theirs.step(actions)
        for left, right in zip(mine[:4], other[:4], strict=True):
            assert_same(left, right)
        assert_same(mine[4], other[4])
        ends += int((mine[2] | mine[3]).sum())
    assert ends > 10
    ours.close()
    theirs.close()


def test_it_draws_every_copy(cart_pole: EnvSource) -> None:
    env = make_vector(cart_pole, 2, render_mode="rgb_array")
    env.reset(seed=0)
    try:
        pictures = env.render()
    finally:
        env.close()
    assert pictures is not None
    assert [picture.shape for picture in pictures] == [(480, 480, 3)] * 2
    assert not np.array_equal(*pictures)


def test_a_list_seeds_each_copy(slide: EnvSource) -> None:
    env = make_vector(slide, 2)
    seen, _ = env.reset(seed=[8, 3])  # type: ignore[arg-type]
    assert (seen[1] == make_single(slide).reset(seed=3)[0]).all()
