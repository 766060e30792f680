"""What only a critic sees: told to a learner, checked like an observation, and to nobody else."""

from typing import Any

import numpy as np
import pytest

from tests.simulation.toys import SliderEnv, SliderEnvConfig
from workbench.errors import SimulationError
from workbench.simulation.sb3_env import BatchVecEnv


class SeenThrough(SliderEnv):
    """The slider, whose critic also sees the push on it."""

    def critic_observe(self) -> Any:
        return np.concatenate([self.ctrl, 2 * self.qpos], axis=1)

    def name_critic_observations(self) -> Any:
        return ["push", "twice_x"]


def env(kind: type[SliderEnv] = SeenThrough, n_envs: int = 2) -> Any:
    return kind(SliderEnvConfig(), n_envs=n_envs, threads=1, name="slider")


def test_an_environment_without_any_has_none() -> None:
    made = env(SliderEnv)
    venv = BatchVecEnv(made)
    assert made.critic_names == venv.critic_names == ()
    assert venv.observation_space == venv.actor_space == made.observation_space
    assert venv.reset().shape == (2, 2)
    venv.close()


def test_they_follow_the_observations_of_a_step_and_of_a_start() -> None:
    venv = BatchVecEnv(env())
    venv.seed(4)
    whole = venv.reset()
    assert (
        whole.tolist() == np.concatenate([venv.env.qpos, venv.env.qvel, [[0.0], [0.0]], 2 * venv.env.qpos], 1).tolist()
    )
    actions = np.array([[1.5], [-4.0]], np.float32)
    seen = venv.step_arrays(actions).observations
    assert seen[:, 2].tolist() == [1.5, -4.0]
    assert seen[:, 3].tolist() == (2 * seen[:, 0]).tolist()
    for _ in range(4):
        result = venv.step_arrays(actions)
    # Episodes of five steps: the last observations still have the push, the first ones of the next do not.
    assert result.final_observations[:, 2].tolist() == [1.5, -4.0]
    assert result.observations[:, 2].tolist() == [0, 0]
    venv.close()


def test_a_number_of_theirs_that_is_not_finite_is_named() -> None:
    class Broken(SeenThrough):
        def critic_observe(self) -> Any:
            return np.where(self.lengths[:, None] == 2, np.nan, super().critic_observe())

    venv = BatchVecEnv(env(Broken))
    venv.reset()
    venv.step_arrays(np.zeros((2, 1), np.float32))
    with pytest.raises(SimulationError, match="slider, copy 0, step 2: the observation push is nan"):
        venv.step_arrays(np.zeros((2, 1), np.float32))
    venv.close()


def test_numbers_of_another_shape_are_refused_when_it_is_made() -> None:
    class Flat(SeenThrough):
        def critic_observe(self) -> Any:
            return self.qpos[:, 0]

    class Short(SeenThrough):
        def name_critic_observations(self) -> Any:
            return ["push"]

    with pytest.raises(SimulationError, match=r"slider: critic_observe gave \(2,\) where \(2, o\) is due"):
        env(Flat)
    with pytest.raises(SimulationError, match="slider: name_critic_observations gave 1 names for 2 numbers"):
        env(Short)


def test_unnamed_ones_are_numbered() -> None:
    class Unnamed(SeenThrough):
        def name_critic_observations(self) -> Any:
            return ()

    made = env(Unnamed)
    assert made.critic_names == ("privileged_0", "privileged_1")
    made.close()


def test_a_snapshot_goes_on_with_them() -> None:
    one, other = BatchVecEnv(env()), BatchVecEnv(env())
    one.seed(1)
    one.reset()
    other.seed(2)
    other.reset()
    actions = np.ones((2, 1), np.float32)
    one.step_arrays(actions)
    other.restore(one.snapshot())
    for _ in range(7):
        assert one.step_arrays(actions).observations.tobytes() == other.step_arrays(actions).observations.tobytes()
    one.close()
    other.close()
