"""Our normaliser beside `VecNormalize`, fed the same steps."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from stable_baselines3.common.vec_env import VecEnvWrapper, VecNormalize

from tests.training.fast.test_rollout import slider
from workbench.training.fast.normalize import Normalizer, steps_arrays


@pytest.mark.parametrize("n_envs", [1, 3])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"norm_obs": False},
        {"norm_reward": False},
        {"training": False},
        {"clip_obs": 0.7, "clip_reward": 0.4, "gamma": 0.5, "epsilon": 0.1},
    ],
    ids=str,
)
def test_arrays_and_statistics_are_those_of_vec_normalize(n_envs: int, settings: dict[str, float]) -> None:
    ours, theirs = Normalizer(slider(n_envs), **settings), VecNormalize(slider(n_envs), **settings)
    np.testing.assert_array_equal(ours.reset(), theirs.reset())
    random = np.random.default_rng(0)
    ended = 0
    for _ in range(40):
        actions = random.normal(size=(n_envs, 1)).astype(np.float32)
        result = ours.step_arrays(actions)
        observations, rewards, dones, infos = theirs.step(actions)
        assert result.observations.dtype == observations.dtype
        assert result.rewards.dtype == rewards.dtype
        np.testing.assert_allclose(result.observations, observations, rtol=1e-6)
        np.testing.assert_allclose(result.rewards, rewards, rtol=1e-6)
        np.testing.assert_array_equal(result.terminated | result.truncated, dones)
        for row, copy in enumerate(result.ended):
            np.testing.assert_allclose(result.final_observations[row], infos[copy]["terminal_observation"], rtol=1e-6)
        np.testing.assert_allclose(ours.returns, theirs.returns, rtol=1e-12)
        np.testing.assert_array_equal(ours.get_original_obs(), theirs.get_original_obs())
        np.testing.assert_array_equal(ours.get_original_reward(), theirs.get_original_reward())
        ended += len(result.ended)
    assert ended
    for name in ("obs_rms", "ret_rms"):
        if hasattr(theirs, name):
            one, other = getattr(ours, name), getattr(theirs, name)
            np.testing.assert_allclose(one.mean, other.mean, rtol=1e-12)
            np.testing.assert_allclose(one.var, other.var, rtol=1e-12)
            assert one.count == other.count


def test_what_it_saves_is_a_plain_vec_normalize(tmp_path: Path) -> None:
    ours = Normalizer(slider())
    ours.reset()
    ours.step_arrays(np.ones((4, 1), np.float32))
    ours.save(str(tmp_path / "vecnormalize.pkl"))
    assert b"workbench.training" not in (tmp_path / "vecnormalize.pkl").read_bytes()
    loaded = VecNormalize.load(str(tmp_path / "vecnormalize.pkl"), slider())
    assert type(loaded) is VecNormalize
    seen = np.array([[0.3, -0.2]])
    np.testing.assert_array_equal(loaded.normalize_obs(seen), ours.normalize_obs(seen))
    again = pickle.loads(pickle.dumps(ours))
    again.set_venv(slider())
    np.testing.assert_array_equal(again.obs_rms.mean, ours.obs_rms.mean)


def test_only_the_environment_itself_counts_as_stepping_arrays() -> None:
    class Wrapper(VecEnvWrapper):
        def reset(self) -> None: ...

        def step_wait(self) -> None: ...

    assert steps_arrays(slider())
    assert steps_arrays(Normalizer(slider()))
    # These would answer with the arrays of what they wrap.
    assert hasattr(VecNormalize(slider()), "step_arrays")
    assert not steps_arrays(VecNormalize(slider()))
    assert not steps_arrays(Wrapper(slider()))
    assert not steps_arrays(Normalizer(Wrapper(slider())))
