"""What the half-cheetah's own switches do."""

import numpy as np
import pytest

from tests.envs.conftest import SOURCES
from workbench.simulation import make_batch


def test_without_gravity_and_springs_it_hangs_where_it_is() -> None:
    env = make_batch(SOURCES["half_cheetah_test_no_gravity_no_springs"])
    assert env is not None
    env.reset(seed=0)
    env.qpos[:] = 0.0
    env.qvel[:] = 0.0
    env.qpos[0, 3] = 0.3
    for _ in range(50):
        result = env.step_arrays(np.zeros((1, 6)))
    assert result.observations[0] == pytest.approx(np.r_[np.zeros(2), 0.3, np.zeros(14)], abs=1e-9)


def test_its_springs_pull_a_joint_back() -> None:
    env = make_batch(SOURCES["half_cheetah"])
    assert env is not None
    env.reset(seed=0)
    env.qpos[:] = 0.0
    env.qvel[:] = 0.0
    env.qpos[0, 1] = 1.0
    env.qpos[0, 3] = 0.3
    assert abs(env.step_arrays(np.zeros((1, 6))).observations[0, 2]) < 0.25
