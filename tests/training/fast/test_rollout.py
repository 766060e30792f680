"""Rollouts of our PPO, as arrays, beside those of Stable-Baselines3, step by step with infos."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import stable_baselines3
import torch
from stable_baselines3.common.callbacks import CallbackList
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from tests.simulation.toys import SliderEnv, SliderEnvConfig
from workbench.simulation.sb3_env import BatchVecEnv
from workbench.specs import PPOSpec, RunSpec
from workbench.training import blas
from workbench.training.fast.noise import draw_noise
from workbench.training.fast.normalize import Normalizer
from workbench.training.fast.ppo import PPO
from workbench.training.fast.threads import Pace, one_thread, run_pieces
from workbench.training.learner import Learner

# Some of its episodes end at the goal and some at the limit of five steps.
ENDS_BOTH_WAYS = SliderEnvConfig(goal=0.7)

ARRAYS = ("observations", "actions", "rewards", "episode_starts", "values", "log_probs", "advantages", "returns")


def slider(n_envs: int = 4, config: SliderEnvConfig = ENDS_BOTH_WAYS) -> BatchVecEnv:
    venv = BatchVecEnv(SliderEnv(config, n_envs=n_envs))
    venv.seed(5)
    return venv


def make(cls: type[stable_baselines3.PPO], env: VecEnv, **keywords: Any) -> stable_baselines3.PPO:
    keywords = {"n_steps": 24, "batch_size": 24, "n_epochs": 2, "seed": 1, "device": "cpu"} | keywords
    model = cls("MlpPolicy", env, **keywords)
    model.set_logger(Logger(folder=None, output_formats=[]))
    return model


def start(model: stable_baselines3.PPO) -> CallbackList:
    return model._setup_learn(10**6, None, True, "", False)[1]  # type: ignore[return-value]


def collect(model: stable_baselines3.PPO, callback: Any) -> None:
    assert model.env is not None
    assert model.collect_rollouts(model.env, callback, model.rollout_buffer, model.n_steps)


def act_as(model: stable_baselines3.PPO, actions: np.ndarray) -> None:
    """Let a policy take these actions (steps, n, a), and say of them what it thinks."""
    left = iter(actions)

    def forward(observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        taken = torch.as_tensor(next(left))
        values, log_probs, _ = model.policy.evaluate_actions(observations, taken)
        return taken, values, log_probs

    model.policy.forward = forward  # type: ignore[method-assign]


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("n_envs", [1, 4])
def test_rollouts_equal_those_of_stable_baselines3(normalized: bool, n_envs: int) -> None:
    ours = make(PPO, Normalizer(slider(n_envs)) if normalized else slider(n_envs))
    theirs = make(stable_baselines3.PPO, VecNormalize(slider(n_envs)) if normalized else slider(n_envs))
    callbacks = start(ours), start(theirs)
    cut = 0
    for _ in range(3):
        collect(ours, callbacks[0])
        act_as(theirs, ours.rollout_buffer.actions)
        collect(theirs, callbacks[1])
        for name in ARRAYS:
            np.testing.assert_allclose(
                getattr(ours.rollout_buffer, name), getattr(theirs.rollout_buffer, name), rtol=1e-5, atol=2e-6
            )
        np.testing.assert_allclose(ours._last_obs, theirs._last_obs, rtol=1e-6)
        np.testing.assert_array_equal(ours._last_episode_starts, theirs._last_episode_starts)
        assert ours.num_timesteps == theirs.num_timesteps == callbacks[0].num_timesteps
        assert callbacks[0].n_calls == callbacks[1].n_calls
        one, other = ([(info["r"], info["l"]) for info in model.ep_info_buffer or ()] for model in (ours, theirs))
        assert one == other and one
        assert list(ours.ep_success_buffer or ()) == list(theirs.ep_success_buffer or ())
        episodes = ours.env.drain_episodes()  # type: ignore[union-attr]
        assert [(round(episode.ret, 6), episode.length) for episode in episodes] == one[-len(episodes) :]
        cut += sum(not episode.terminated for episode in episodes)
    assert 0 < cut < len(one)


def test_advantages_are_those_of_the_buffers_own_method() -> None:
    model = make(PPO, slider())
    collect(model, start(model))
    buffer = model.rollout_buffer
    ours = buffer.advantages.copy(), buffer.returns.copy()
    last_values = model.policy.predict_values(torch.as_tensor(model._last_obs).float()).detach()
    buffer.compute_returns_and_advantage(last_values, np.asarray(model._last_episode_starts))
    np.testing.assert_allclose(ours[0], buffer.advantages, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ours[1], buffer.returns, rtol=1e-6, atol=1e-6)


class Constant(SliderEnv):
    """One for every step."""

    def reward_terms(self, actions: Any) -> Mapping[str, Any]:
        return {"one": np.ones(self.n_envs)}


class Ending(Constant):
    """An episode ends by itself after its fourth step."""

    def terminations(self) -> Mapping[str, Any]:
        return {"over": self.lengths >= 4}


@pytest.mark.parametrize(("cls", "least", "most"), [(Constant, 4.8, 5.2), (Ending, 1.0, 3.0)])
def test_only_time_limits_are_bootstrapped(cls: type[SliderEnv], least: float, most: float) -> None:
    env = BatchVecEnv(cls(SliderEnvConfig(), n_envs=8))
    model = make(PPO, env, gamma=0.8, learning_rate=1e-2, n_steps=18, n_epochs=10, max_grad_norm=10.0)
    model.learn(18 * 8 * 15)
    # 1 / (1 - 0.8) where an episode is only cut; at most 1 + 0.8 + 0.64 + 0.512 where it ends.
    mean = model.rollout_buffer.values.mean()
    assert least < mean < most


def test_the_trainer_needs_no_loop_of_stable_baselines3(caplog: pytest.LogCaptureFixture) -> None:
    block = PPOSpec(n_steps=24, batch_size=24, n_epochs=2)
    spec = RunSpec(env_id="workbench/Slider-v0", n_envs=4, normalize_observations=True, total_steps=192, ppo=block)
    learner = Learner(spec, slider(), seed=1)
    learner.start([])
    for _ in range(2):
        learner.iterate()
    learner.record_progress()
    assert learner.steps == 192
    assert learner.mean_return is not None
    assert learner.model.num_timesteps == 192
    assert [record.message for record in caplog.records] == []
    learner.close()


def run(n_steps: int = 48, workers: int = 0, threads: int = 1, n_envs: int = 4, **keywords: Any) -> np.ndarray:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        model = make(PPO, Normalizer(slider(n_envs)), n_steps=n_steps, **keywords)
        model.workers = workers  # type: ignore[attr-defined]
        model.learn(2 * n_steps * n_envs)
    finally:
        torch.set_num_threads(before)
    return torch.nn.utils.parameters_to_vector(model.policy.parameters()).detach().numpy()


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads() -> None:
    # Large enough for more than one piece a minibatch.
    large = {"n_steps": 256, "batch_size": 512, "policy_kwargs": {"net_arch": [128, 128]}}
    one = run(workers=1, **large)
    assert np.array_equal(one, run(workers=2, **large))
    assert np.array_equal(one, run(workers=3, threads=2, **large))
    assert not np.array_equal(one, run(workers=1, seed=2, **large))


def test_products_of_arrays_and_tensors_have_one_thread_within_a_rollout() -> None:
    before = torch.get_num_threads()
    blas.set_threads(2)
    torch.set_num_threads(2)
    try:
        with one_thread():
            assert (torch.get_num_threads(), blas.threads() or 1) == (1, 1)
        assert (torch.get_num_threads(), blas.threads() or 2) == (2, 2)
    finally:
        blas.set_threads(1)
        torch.set_num_threads(before)


def test_threads_are_used_where_they_pay() -> None:
    pace, seconds = Pace(), {1: 2.0, 4: 1.0}

    def rounds(count: int) -> list[int]:
        chosen = []
        for _ in range(count):
            chosen.append(pace.choose(4))
            pace.note(chosen[-1], seconds[chosen[-1]])
        return chosen

    assert rounds(150).count(1) == 8, "a trial at first, and one more"
    # A pause changes nothing, and work that stays slow does.
    for _ in range(4):
        pace.note(4, 100.0)
    assert rounds(50).count(1) == 0
    seconds[4] = 3.0
    assert rounds(300).count(4) <= 16
    assert Pace().choose(1) == 1


def test_noise_of_a_copy_does_not_depend_on_the_others() -> None:
    few, many = draw_noise(7, 0, 10, 2, 3), draw_noise(7, 0, 10, 5, 3)
    np.testing.assert_array_equal(few, many[:, :2])
    later, other = draw_noise(7, 10, 10, 2, 3), draw_noise(8, 0, 10, 2, 3)
    draws = np.concatenate([few.ravel(), later.ravel(), other.ravel()])
    assert len(np.unique(draws)) == len(draws)
    normal = draw_noise(7, 0, 20_000, 2, 3)
    assert normal.dtype == np.float32
    assert abs(normal.mean()) < 0.01 and abs(normal.std() - 1) < 0.01


def test_a_failure_comes_when_nobody_works_any_more() -> None:
    done, late = [], threading.Event()

    def fail() -> None:
        threading.Timer(0.1, late.set).start()
        raise FloatingPointError("of the first piece")

    def finish() -> None:
        done.append(late.wait(10))

    with pytest.raises(FloatingPointError, match="of the first piece"):
        run_pieces([fail, finish], workers=2)
    assert done == [True]
