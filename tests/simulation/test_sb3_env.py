"""The Stable-Baselines3 vector environments."""

import warnings
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from workbench.errors import RequestError, SimulationError
from workbench.simulation import EnvSource, Episode, make_sb3, make_single
from workbench.simulation.sb3_env import BatchVecEnv, GymVecEnv


def pushes(n_envs: int, steps: int) -> Any:
    return np.random.default_rng(0).uniform(-4, 4, (steps, n_envs, 1)).astype(np.float32)


def test_it_steps_as_dummy_vec_env_over_monitored_plain_environments(slide: EnvSource) -> None:
    ours, theirs = make_sb3(slide, 3, seed=5), DummyVecEnv([lambda: Monitor(make_single(slide))] * 3)
    theirs.seed(5)
    assert np.array_equal(ours.reset(), theirs.reset())
    ends = 0
    for actions in pushes(3, 30):
        seen, rewards, dones, infos = ours.step(actions)
        other, other_rewards, other_dones, other_infos = theirs.step(actions)
        assert np.array_equal(seen, other)
        assert seen.dtype == other.dtype
        assert np.array_equal(rewards, other_rewards)
        assert rewards.dtype == other_rewards.dtype
        assert np.array_equal(dones, other_dones)
        for copy in np.flatnonzero(dones):
            info, expected = infos[copy], other_infos[copy]
            assert np.array_equal(info["terminal_observation"], expected["terminal_observation"])
            assert info["TimeLimit.truncated"] == expected["TimeLimit.truncated"]
            assert info["episode"]["r"] == pytest.approx(expected["episode"]["r"], abs=1e-5)
            assert info["episode"]["l"] == expected["episode"]["l"]
            assert set(expected) <= set(info)
            ends += 1
    assert ends > 5


def test_infos_of_copies_that_go_on_are_empty_dicts_of_their_own(slide: EnvSource) -> None:
    env = make_sb3(replace(slide, env_cfg={}), 3)
    env.reset()
    infos = env.step(np.zeros((3, 1)))[3]
    assert infos == [{}, {}, {}]
    infos[0]["mine"] = 1
    assert infos[1] == {}


def test_every_info_on_request(slide: EnvSource) -> None:
    env = make_sb3(replace(slide, env_cfg={}), 2)
    assert isinstance(env, BatchVecEnv)
    env.every_info = True
    env.reset()
    infos = env.step(np.ones((2, 1)))[3]
    assert set(infos[1]) == {"reward_speed", "reward_effort", "position", "pair"}


def test_arrays_and_records_agree_with_the_infos(slide: EnvSource) -> None:
    by_infos, by_arrays = make_sb3(slide, 3, seed=1), make_sb3(slide, 3, seed=1)
    by_infos.reset()
    by_arrays.reset()
    for actions in pushes(3, 20):
        seen, rewards, dones, infos = by_infos.step(actions)
        result = by_arrays.step_arrays(actions)
        assert np.array_equal(seen, result.observations)
        assert np.array_equal(rewards, result.rewards.astype(np.float32))
        assert np.array_equal(np.flatnonzero(dones), result.ended)
        for row, copy in enumerate(result.ended):
            assert np.array_equal(infos[copy]["terminal_observation"], result.final_observations[row])
            assert infos[copy]["TimeLimit.truncated"] == result.truncated[copy]
    one, other = by_infos.drain_episodes(), by_arrays.drain_episodes()
    assert one == other
    assert len(one) > 3
    assert by_infos.drain_episodes() == []


def test_a_seed_holds_for_one_reset(slide: EnvSource) -> None:
    env = make_sb3(slide, 2, seed=3)
    first = env.reset()
    assert not np.array_equal(env.reset(), first)
    assert env.seed(3) == [3, 4]
    assert np.array_equal(env.reset(), first)


def test_attributes_and_methods_reach_the_environment(slide: EnvSource) -> None:
    env = make_sb3(slide, 3)
    assert env.get_attr("name") == ["slide"] * 3
    assert env.get_attr("name", [0, 2]) == ["slide"] * 2
    assert env.has_attr("control_hz")
    assert not env.has_attr("no_such_thing")
    env.set_attr("name", "other")
    assert env.get_attr("name", 1) == ["other"]
    with pytest.raises(RequestError, match="cannot differ"):
        env.set_attr("name", "third", indices=[0])
    env.reset()
    assert len(env.env_method("returns", indices=[0, 1])) == 2
    assert env.env_is_wrapped(Monitor) == [True] * 3
    assert env.env_is_wrapped(gymnasium.Wrapper) == [False] * 3


def test_vec_normalize_wraps_it(slide: EnvSource) -> None:
    env = VecNormalize(make_sb3(slide, 2, seed=0))
    env.reset()
    for actions in pushes(2, 6):
        infos = env.step(actions)[3]
    assert all(np.abs(info["terminal_observation"]).max() <= 10 for info in infos if info)


def test_stable_baselines_learns_and_evaluates_on_it(slide: EnvSource) -> None:
    env = make_sb3(slide, 4, seed=0)
    model = PPO("MlpPolicy", env, n_steps=16, batch_size=32, n_epochs=1, seed=0, device="cpu")
    model.learn(128)
    assert model.ep_info_buffer is not None
    assert len(model.ep_info_buffer) > 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        returns, lengths = evaluate_policy(model, env, 5, return_episode_rewards=True)
    assert len(returns) == len(lengths) == 5


def test_a_gymnasium_id_keeps_the_same_records() -> None:
    source = EnvSource("InvertedPendulum-v5", "InvertedPendulum-v5")
    env, plain = make_sb3(source, 2, seed=0), gymnasium.make("InvertedPendulum-v5")
    assert isinstance(env, GymVecEnv)
    seen = env.reset()
    first, _ = plain.reset(seed=1)
    assert np.array_equal(seen[1], first)
    generator = np.random.default_rng(0)
    ret, length, records = 0.0, 0, []
    while not records:
        actions = generator.uniform(-3, 3, (2, 1)).astype(np.float32)
        result = env.step_arrays(actions)
        ret += float(plain.step(actions[1])[1])
        length += 1
        records = [episode for episode in result.episodes if episode.copy == 1]
        assert set(result.reward_terms) == {"survive"}
    assert (records[0].ret, records[0].length, records[0].reason) == (ret, length, "terminated")
    assert records[0].term_sums == {"survive": ret}
    assert records[0] in env.drain_episodes()


def test_a_gymnasium_time_limit_is_a_truncation() -> None:
    env = make_sb3(EnvSource("Pendulum-v1", "Pendulum-v1"), 1, seed=0)
    env.reset()
    for _ in range(200):
        _, _, dones, infos = env.step(np.zeros((1, 1), np.float32))
    assert dones[0]
    assert infos[0]["TimeLimit.truncated"]
    assert infos[0]["episode"]["l"] == 200
    episode: Episode = env.drain_episodes()[0]
    assert (episode.terminated, episode.reason) == (False, "time_limit")


class NotFiniteEnv(gymnasium.Env[Any, Any]):
    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    action_space = gymnasium.spaces.Discrete(3)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        if action == 2:
            raise ValueError("no")
        seen = np.array([0.0, np.nan if action else 0.0], np.float32)
        return seen, 0.0 if action else float("inf"), False, False, {}


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (0, "odd, copy 0, step 1: the reward is inf"),
        (1, r"odd, copy 0, step 1: the observation \[1\] is nan"),
        (2, "odd, copy 0, step 1: it raised ValueError: no"),
    ],
)
def test_a_plain_environment_that_fails_is_named(action: int, message: str) -> None:
    env = GymVecEnv([NotFiniteEnv], name="odd")
    env.reset()
    with pytest.raises(SimulationError, match=message):
        env.step(np.array([action]))
