"""What is the ant's own: contact block, rotation vector, variants."""

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
import pytest

from tests.envs.conftest import SOURCES
from workbench.errors import ProblemsError
from workbench.simulation import BatchEnv, load_class, make_batch

RESTING_STEPS = 400


def ant(name: str = "ant", **config: Any) -> BatchEnv[Any]:
    source = SOURCES[name]
    made = make_batch(replace(source, env_cfg={**source.env_cfg, **config}))
    assert made is not None
    return made


@pytest.fixture(scope="module")
def resting() -> tuple[BatchEnv[Any], Any]:
    """An ant that has come to rest on the floor, and its last step."""
    env = ant(contact_force_range=[-1000, 1000], episode_steps=0, terminate_when_unhealthy=False)
    env.reset(seed=0)
    for _ in range(RESTING_STEPS):
        result = env.step_arrays(np.zeros((1, 8)))
    assert np.abs(result.observations[0, 13:27]).max() < 1e-3
    return env, result


def test_the_floor_carries_a_resting_ant(resting: tuple[BatchEnv[Any], Any]) -> None:
    env, result = resting
    wrenches = result.observations[0, 27:].reshape(13, 6)
    weight = env.model.body_mass.sum() * 9.81
    # Body weight up, nothing sideways, and no turning about the centre of mass.
    assert wrenches.sum(axis=0) == pytest.approx((0, 0, 0, 0, 0, weight), abs=1e-2 * weight)
    assert weight > 5


def test_the_contact_block_is_cfrc_ext_of_a_resting_ant(resting: tuple[BatchEnv[Any], Any]) -> None:
    env, result = resting
    data = env.data(0)
    mujoco.mj_rnePostConstraint(env.model, data)
    np.testing.assert_allclose(result.observations[0, 27:].reshape(13, 6), data.cfrc_ext[1:], atol=1e-3)
    assert np.abs(data.cfrc_ext).max() > 1


def test_the_contact_term_is_the_squared_length_of_what_is_observed(resting: tuple[BatchEnv[Any], Any]) -> None:
    _, result = resting
    expected = -5e-4 * np.square(result.observations[0, 27:]).sum()
    assert result.reward_terms["contact"][0] == pytest.approx(expected, rel=1e-12)


def test_wrenches_are_named_after_their_bodies_in_order() -> None:
    env = ant()
    block = env.observation_names[27:]
    assert block[:6] == tuple(f"torso_{kind}_{axis}" for kind in ("torque", "force") for axis in "xyz")
    assert len(block) == 78
    assert block[12] == "aux_1_torque_x"


def test_a_contact_range_clips_observation_and_cost() -> None:
    env = ant(contact_force_range=[-0.5, 0.5], terminate_when_unhealthy=False)
    env.reset(seed=0)
    worst = 0.0
    for _ in range(40):
        result = env.step_arrays(np.zeros((1, 8)))
        worst = max(worst, float(np.abs(result.observations[0, 27:]).max()))
    assert worst == 0.5


def test_a_rotation_vector_stands_for_the_quaternion() -> None:
    env, plain = ant("ant_rotation_vector"), ant()
    one, other = env.reset(seed=3)[0], plain.reset(seed=3)[0]
    assert len(one) == len(other) - 1
    assert np.array_equal(np.delete(one, [1, 2, 3]), np.delete(other, [1, 2, 3, 4]))
    expected = np.zeros(3)
    unit = other[1:5] / np.linalg.norm(other[1:5])
    mujoco.mju_quat2Vel(expected, unit, 1.0)
    assert one[1:4] == pytest.approx(expected, abs=1e-12)
    assert env.observation_names[:5] == ("z", "rot_x", "rot_y", "rot_z", "hip_1")


def test_rotation_vectors_of_known_turns() -> None:
    module = __import__(load_class(SOURCES["ant"]).__module__)
    half = np.sqrt(0.5)
    quaternions = np.array([[1, 0, 0, 0], [-1, 0, 0, 0], [half, 0, 0, half], [-half, 0, 0, -half], [0, 2, 0, 0]], float)
    turns = [[0, 0, 0], [0, 0, 0], [0, 0, np.pi / 2], [0, 0, np.pi / 2], [np.pi, 0, 0]]
    assert module.rotation_vector(quaternions) == pytest.approx(np.array(turns))


def test_nothing_moves_an_ant_without_dynamics() -> None:
    env = ant("ant_test_no_dynamics", reset_noise_scale=0.0)
    first = env.reset(seed=0)
    for _ in range(20):
        result = env.step_arrays(np.zeros((1, 8)))
    # The ankles start outside their range, so their limits push; the body as a whole stays.
    com = env.data(0).subtree_com[1]
    assert result.observations[0, 0] == pytest.approx(first[0, 0], abs=0.05)
    assert com[:2] == pytest.approx((0, 0), abs=1e-6)


def test_a_range_that_falls_is_refused() -> None:
    with pytest.raises(ProblemsError, match="healthy_z_range must rise"):
        ant(healthy_z_range=[1.0, 0.2])
