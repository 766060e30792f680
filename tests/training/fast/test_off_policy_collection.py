"""What SAC and TD3 collect as arrays beside what Stable-Baselines3 collects from the same environment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.noise import NormalActionNoise, OrnsteinUhlenbeckActionNoise
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from tests.simulation.toys import SliderEnv, SliderEnvConfig
from tests.training.fast.learners import OURS, THEIRS, parameters
from workbench.simulation.sb3_env import BatchVecEnv
from workbench.training.fast.noise import Kind, StepNoise, add_noise
from workbench.training.fast.normalize import Normalizer
from workbench.training.fast.off_policy import OffPolicy
from workbench.training.fast.replay import RowReplayBuffer

BOTH = pytest.mark.parametrize("algorithm", ["sac", "td3"])


def slider(n_envs: int, *, goal: float = 0.6) -> BatchVecEnv:
    return BatchVecEnv(SliderEnv(SliderEnvConfig(episode_steps=6, goal=goal), n_envs=n_envs, threads=1))


def learn(cls: Any, env: VecEnv, steps: int = 60, callback: Any = None, **keywords: Any) -> Any:
    keywords = {
        "policy_kwargs": {"net_arch": [16, 16]},
        "learning_starts": 20,
        "batch_size": 16,
        "buffer_size": 300,
    } | keywords
    model = cls("MlpPolicy", env, seed=3, device="cpu", **keywords)
    return model.learn(steps, callback=callback)


class GlobalNoise(StepNoise):
    """Noise from the same draws of the same global generators as Stable-Baselines3's."""

    space: Any

    def draw(self, step: int, kind: Kind) -> np.ndarray:
        if kind is Kind.WARM_UP:
            actions = np.array([self.space.sample() for _ in range(self.n_envs)])
            return 2 * (actions - self.space.low) / (self.space.high - self.space.low) - 1
        if kind is Kind.ACTION:
            return np.random.normal(size=(self.n_envs, self.size))
        return torch.zeros(self.n_envs, self.size).normal_().numpy()


@pytest.fixture
def fed_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ours explore with the noise that Stable-Baselines3 draws."""
    GlobalNoise.space = slider(1).action_space
    GlobalNoise.space.seed(3)
    monkeypatch.setattr("workbench.training.fast.off_policy.StepNoise", GlobalNoise)


def same_replay(theirs: Any, ours: Any) -> None:
    assert type(ours.replay_buffer) is RowReplayBuffer
    assert (ours.replay_buffer.pos, ours.num_timesteps) == (theirs.replay_buffer.pos, theirs.num_timesteps)
    for name in ("observations", "next_observations", "actions", "rewards", "dones", "timeouts"):
        expected, found = (getattr(model.replay_buffer, name) for model in (theirs, ours))
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-5, err_msg=name)


@pytest.mark.usefixtures("fed_alike")
@BOTH
@pytest.mark.parametrize("n_envs", [1, 4])
@pytest.mark.parametrize("noisy", [False, True])
def test_the_same_seed_collects_the_same_transitions(algorithm: str, n_envs: int, noisy: bool) -> None:
    noise = NormalActionNoise(np.zeros(1), np.full(1, 0.3)) if noisy else None
    theirs, ours = (learn(classes[algorithm], slider(n_envs), action_noise=noise) for classes in (THEIRS, OURS))
    same_replay(theirs, ours)
    buffer = ours.replay_buffer
    # Both endings happened, and where one did the next observation is the last of the episode.
    assert 0 < buffer.timeouts.sum() < buffer.dones.sum()
    terminated = (buffer.dones > buffer.timeouts).nonzero()
    assert (buffer.next_observations[terminated][:, 0] >= 0.6).all()
    assert [(each["r"], each["l"]) for each in ours.ep_info_buffer] == [
        (pytest.approx(each["r"], abs=1e-4), each["l"]) for each in theirs.ep_info_buffer
    ]
    assert list(ours.ep_success_buffer) == list(theirs.ep_success_buffer)
    assert len(ours.env.drain_episodes()) == len(theirs.env.drain_episodes()) > 0
    np.testing.assert_allclose(parameters(ours), parameters(theirs), atol=1e-4)


@pytest.mark.usefixtures("fed_alike")
@BOTH
def test_replay_keeps_what_the_environment_gave_and_learns_from_what_is_normalised(algorithm: str) -> None:
    envs = (VecNormalize(slider(2), gamma=0.9), Normalizer(slider(2), gamma=0.9))
    theirs, ours = (learn(classes[algorithm], env) for classes, env in zip((THEIRS, OURS), envs, strict=True))
    same_replay(theirs, ours)
    np.testing.assert_allclose(ours.env.obs_rms.mean, theirs.env.obs_rms.mean, atol=1e-5)
    np.testing.assert_allclose(ours.env.ret_rms.var, theirs.env.ret_rms.var, rtol=1e-4)
    np.testing.assert_allclose(parameters(ours), parameters(theirs), atol=1e-4)


@pytest.mark.usefixtures("fed_alike")
@BOTH
def test_three_step_returns_are_collected_alike(algorithm: str) -> None:
    theirs, ours = (learn(classes[algorithm], slider(2), n_steps=3) for classes in (THEIRS, OURS))
    np.testing.assert_allclose(ours.replay_buffer.timeouts, theirs.replay_buffer.timeouts)
    np.testing.assert_allclose(ours.replay_buffer.rewards, theirs.replay_buffer.rewards, atol=2e-5)


class Witness(BaseCallback):
    """Writes down what it finds at each step."""

    def __init__(self, stop_at: int = 10**9) -> None:
        super().__init__()
        self.seen: list[Any] = []
        self.stop_at = stop_at

    def _on_step(self) -> bool:
        infos = self.locals["infos"]
        ended = [index for index, info in enumerate(infos) if "episode" in info]
        self.seen.append((self.num_timesteps, ended, self.locals["dones"].tolist(), self.training_env.num_envs))
        for index in ended:
            info = infos[index]
            self.seen.append(
                (info["episode"]["l"], info["TimeLimit.truncated"], info["terminal_observation"].round(3)[0])
            )
        return self.num_timesteps < self.stop_at


@pytest.mark.usefixtures("fed_alike")
@BOTH
def test_a_callback_finds_the_infos_it_would_find_in_stable_baselines3(algorithm: str) -> None:
    witnesses = Witness(), Witness()
    for classes, witness in zip((THEIRS, OURS), witnesses, strict=True):
        learn(classes[algorithm], slider(3), callback=witness)
    assert witnesses[0].seen == witnesses[1].seen
    assert any(len(row) == 3 for row in witnesses[1].seen)


@BOTH
def test_a_callback_stops_the_training(algorithm: str) -> None:
    stopped = [learn(classes[algorithm], slider(2), callback=Witness(stop_at=30)) for classes in (THEIRS, OURS)]
    assert [model.num_timesteps for model in stopped] == [30, 30]


@pytest.mark.usefixtures("fed_alike")
def test_whole_episodes_between_updates() -> None:
    theirs, ours = (
        learn(classes["td3"], slider(1), train_freq=(2, "episode"), gradient_steps=-1) for classes in (THEIRS, OURS)
    )
    same_replay(theirs, ours)
    assert ours._episode_num == theirs._episode_num
    with pytest.raises(ValueError, match="only one env"):
        learn(OURS["td3"], slider(2), train_freq=(2, "episode"))


def test_no_info_is_made_where_nobody_reads_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("an info was asked for")

    monkeypatch.setattr(BatchVecEnv, "step_wait", refuse)
    monkeypatch.setattr("workbench.training.fast.off_policy.Infos.__getitem__", refuse)
    assert learn(OURS["sac"], slider(4)).num_timesteps == 60


@BOTH
def test_an_unknown_policy_still_collects_arrays(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OffPolicy, "_updates", lambda *_: None)
    theirs, ours = (learn(classes[algorithm], slider(2)) for classes in (THEIRS, OURS))
    same_replay(theirs, ours)
    assert torch.allclose(parameters(theirs), parameters(ours), atol=1e-5)


def explore(algorithm: str, n_envs: int, *, steps: int = 80, noise: Any = None) -> Any:
    """Return a learner that explored and learnt nothing, the first half of its steps at random."""
    return learn(
        OURS[algorithm],
        slider(n_envs),
        steps * n_envs,
        learning_starts=steps // 2 * n_envs,
        gradient_steps=0,
        action_noise=noise,
        buffer_size=steps * n_envs,
    )


@BOTH
@pytest.mark.parametrize("noisy", [False, True])
def test_what_a_copy_does_does_not_depend_on_how_many_there_are(algorithm: str, noisy: bool) -> None:
    noise = NormalActionNoise(np.zeros(1), np.full(1, 0.3)) if noisy else None
    one, four, eight = (explore(algorithm, n_envs, noise=noise).replay_buffer for n_envs in (1, 4, 8))
    for few, many, copies in ((one, eight, [0]), (four, eight, [0, 3])):
        np.testing.assert_array_equal(few.observations[0][copies], many.observations[0][copies])
        np.testing.assert_array_equal(few.actions[:40][:, copies], many.actions[:40][:, copies])
        # Products of matrices of other sizes round otherwise.
        np.testing.assert_allclose(few.actions[:, copies], many.actions[:, copies], atol=1e-4)
    assert len(np.unique(eight.observations[0])) == eight.observations[0].size
    assert len(np.unique(eight.actions[:40])) > 250 - 150 * noisy


@BOTH
def test_noise_goes_on_from_its_seed_and_step_alone(algorithm: str) -> None:
    noise = NormalActionNoise(np.zeros(1), np.full(1, 0.3))
    straight = explore(algorithm, 2, steps=100, noise=noise)
    began, went_on = explore(algorithm, 2, steps=100, noise=noise), explore(algorithm, 2, steps=2, noise=noise)
    assert (began.noise_seed, began.noise_steps) == (3, 100)
    for model, step in ((straight, 100), (went_on, 100)):
        model.noise_steps = step
        model.num_timesteps = 200
        model._last_obs = np.ones((2, 2), np.float32)
    expected, found = (model._sample_action(0, model.action_noise, 2)[0] for model in (straight, went_on))
    np.testing.assert_array_equal(expected, found)
    assert not np.array_equal(expected, straight._sample_action(0, straight.action_noise, 2)[0])


@pytest.mark.parametrize(
    ("kind", "mean", "deviation"), [(Kind.POLICY, 0, 1), (Kind.ACTION, 0, 1), (Kind.WARM_UP, 0, 3**-0.5)]
)
def test_noise_is_spread_as_its_kind_says(kind: Kind, mean: float, deviation: float) -> None:
    noise = StepNoise(9, 3, 2)
    draws = np.array([noise.draw(step, kind) for step in range(4000)])
    assert draws.dtype == np.float32
    assert draws.mean() == pytest.approx(mean, abs=0.02)
    assert draws.std() == pytest.approx(deviation, abs=0.02)
    assert abs(np.corrcoef(draws.reshape(4000, 6).T) - np.eye(6)).max() < 0.06
    assert len(np.unique(draws)) > 0.99 * draws.size
    if kind is Kind.WARM_UP:
        assert -1 <= draws.min() < -0.999 and 0.999 < draws.max() <= 1


def test_other_action_noise_draws_by_itself() -> None:
    noise = OrnsteinUhlenbeckActionNoise(np.full(2, 0.1), np.zeros(2))
    normal = np.ones((1, 2), np.float32)
    # theta 0.15 and a step of 0.01 towards the mean.
    np.testing.assert_allclose(add_noise(np.zeros((1, 2)), noise, normal), [[0.00015, 0.00015]])
    for mean, deviation in ((np.full(1, 0.1), np.full(1, 0.2)), (0.1, 0.2)):
        alike = NormalActionNoise(mean, deviation)
        np.testing.assert_allclose(add_noise(np.array([[0.0, 0.9]]), alike, normal), [[0.3, 1.0]])
