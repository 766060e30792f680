"""Our own tasks, solved by controllers that nobody trained: what they reward and count as success can be reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.envs.conftest import SOURCES
from workbench.simulation import BatchEnv, load_class, make_batch

Array = NDArray[Any]


def make(name: str, copies: int = 8, **config: Any) -> BatchEnv[Any]:
    source = SOURCES[name]
    made = make_batch(replace(source, env_cfg={**source.env_cfg, **config}), copies)
    assert made is not None
    return made


def play(env: BatchEnv[Any], act: Callable[[Array], Array]) -> tuple[Counter[str], float]:
    """Return how the first episodes of all copies ended, and their mean return."""
    observations = env.reset(seed=0)
    ended: dict[int, Any] = {}
    while len(ended) < env.n_envs:
        result = env.step_arrays(act(observations))
        observations = result.observations
        for episode in result.episodes:
            ended.setdefault(episode.copy, episode)
    return Counter(episode.reason for episode in ended.values()), float(np.mean([one.ret for one in ended.values()]))


def test_tilting_against_place_and_speed_settles_the_ball() -> None:
    def act(seen: Array) -> Array:
        speed, way = seen[:, 6:8], seen[:, 8:10]
        pull = np.clip(4 * way - 2 * speed, -1, 1)
        return np.stack([-pull[:, 1], pull[:, 0]], axis=1)

    endings, mean = play(make("ball_plate"), act)
    assert endings == {"settled": 8}
    assert mean > 230


def test_the_mark_stays_where_it_is_on_a_plate_that_tilts() -> None:
    env = make("ball_plate", 1)
    env.reset(seed=3)
    before = env.qpos[0, 2:4].copy()
    for step in range(20):
        env.step_arrays(np.full((1, 2), 1.0 if step % 2 else -1.0))
    assert env.qpos[0, 2:4] == pytest.approx(before, abs=1e-4)


def test_a_ball_that_is_let_roll_is_dropped() -> None:
    endings, _ = play(make("ball_plate"), lambda seen: np.ones((len(seen), 2)))
    assert endings == {"dropped": 8}


def test_pushing_under_the_pole_keeps_it_balanced() -> None:
    def act(seen: Array) -> Array:
        place, _, sine, speed, spin = seen.T
        return np.clip(4 * sine + 0.8 * spin + 0.15 * place + 0.3 * speed, -1, 1)[:, None]

    endings, mean = play(make("swing_up_start_upright", reset_noise_scale=0.05), act)
    assert endings == {"balanced": 8}
    assert mean > 470


def test_a_cart_that_is_only_pushed_runs_off_the_rail() -> None:
    endings, _ = play(make("swing_up"), lambda seen: np.ones((len(seen), 1)))
    assert endings == {"off_rail": 8}


def test_holding_the_goal_brings_every_joint_there() -> None:
    # What gravity pulls a servo off by, it must be told to hold beyond.
    held = np.zeros((8, 6))

    def act(seen: Array) -> Array:
        nonlocal held
        held = np.clip(held + 0.1 * (seen[:, 12:18] - seen[:, :6]), -0.3, 0.3)
        return seen[:, 12:18] + held

    endings, _ = play(make("arm_joints"), act)
    assert endings["in_place"] >= 7


def test_an_arm_that_folds_down_strikes_the_floor() -> None:
    down = np.array([0.0, 1.5, 0.6, 0.5, 0.0, 0.0])
    for name in ("arm_reach", "arm_joints"):
        endings, _ = play(make(name), lambda seen: np.tile(down, (len(seen), 1)))
        assert endings == {"struck_floor": 8}, name


def test_following_the_jacobian_reaches_the_target() -> None:
    env = make("arm_reach", 4)
    held = np.zeros((4, 6))

    def act(seen: Array) -> Array:
        nonlocal held
        for copy in range(len(seen)):
            data, jacobian = env.data(copy), np.zeros((3, env.model.nv))
            mujoco.mj_jacSite(env.model, data, jacobian, None, env.model.site("tip").id)
            arm = jacobian[:, :5]
            pull = arm.T @ np.linalg.solve(arm @ arm.T + 1e-3 * np.eye(3), seen[copy, 18:21])
            held[copy, :5] += 0.15 * pull
        low, high = env.action_space.low, env.action_space.high
        held = np.clip(held, low, high)
        return held

    endings, _ = play(env, act)
    assert endings["reached"] >= 3


def test_a_quadruped_that_holds_still_stands() -> None:
    endings, mean = play(
        make("quadruped", 4, forward=[0, 0], sideways=[0, 0], turning=[0, 0]), lambda seen: np.zeros((4, 12))
    )
    assert endings == {"followed": 4}
    # Two and a quarter a step is the most that tracking gives.
    assert 0.9 * 2.25 * 500 < mean <= 2.25 * 500


def test_a_quadruped_that_stands_does_not_follow_a_command_to_walk() -> None:
    endings, _ = play(make("quadruped_forward", 4, forward=[0.8, 1.0]), lambda seen: np.zeros((4, 12)))
    assert endings == {"time_limit": 4}


def test_only_the_critic_of_a_blind_quadruped_sees_its_velocity() -> None:
    assert make("quadruped_blind", 1).critic_names == ("velocity_x", "velocity_y", "velocity_z")
    assert make("quadruped", 1).critic_names == ()


def test_vectors_are_turned_into_the_bodys_axes() -> None:
    to_body = __import__(load_class(SOURCES["quadruped"]).__module__).to_body
    generator = np.random.default_rng(0)
    quaternions, vectors = generator.normal(size=(5, 4)), generator.normal(size=(5, 3))
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    expected, inverse = np.zeros((5, 3)), np.zeros(4)
    for row in range(5):
        mujoco.mju_negQuat(inverse, quaternions[row])
        mujoco.mju_rotVecQuat(expected[row], vectors[row], inverse)
    assert to_body(quaternions, vectors) == pytest.approx(expected, abs=1e-12)
