"""Updates of our SAC and TD3 beside Stable-Baselines3's: the same weights, the same rows, the same noise."""

from __future__ import annotations

import copy
import logging
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import stable_baselines3
import torch
from stable_baselines3.common.buffers import NStepReplayBuffer
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize
from stable_baselines3.sac.policies import SACPolicy
from torch import nn

from tests.training.fast.learners import (
    ACTIONS,
    OBSERVATIONS,
    OURS,
    THEIRS,
    Empty,
    distance,
    make,
    network,
    parameters,
    update,
)
from workbench.training.fast.normalize import Normalizer
from workbench.training.fast.replay import RowReplayBuffer

BOTH = pytest.mark.parametrize("algorithm", ["sac", "td3"])


def with_relu(*layers: int, **keywords: Any) -> dict[str, Any]:
    """Return keywords with ReLU, and steps so small that a row that counts in one code only is no matter."""
    return {**network(*layers, activation=nn.ReLU), "learning_rate": 3e-5, **keywords}


TANH: dict[str, Any] = {"activation_fn": nn.Tanh, "net_arch": [32, 32]}
OTHER_CRITICS: dict[str, Any] = {"net_arch": {"pi": [16], "qf": [32, 24]}}

SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "sac": ("sac", {}),
    "sac, relu": ("sac", with_relu(32, 32)),
    "sac, elu": ("sac", network(24, 24, activation=nn.ELU)),
    "sac, three layers": ("sac", network(32, 16, 24)),
    "sac, one layer": ("sac", network(48)),
    "sac, other critics": ("sac", {"policy_kwargs": network()["policy_kwargs"] | OTHER_CRITICS}),
    "sac, fixed entropy": ("sac", {"ent_coef": 0.2}),
    "sac, entropy from 0.1": ("sac", {"ent_coef": "auto_0.1", "target_entropy": -4.0}),
    "sac, targets seldom": ("sac", {"target_update_interval": 3, "tau": 0.02}),
    "sac, schedule": ("sac", {"learning_rate": lambda remaining: 1e-3 * remaining}),
    "sac, its own Adam": ("sac", {"policy_kwargs": {"optimizer_kwargs": {"betas": (0.5, 0.9), "eps": 1e-2}} | TANH}),
    "sac, odd batch": ("sac", {"batch_size": 7}),
    "sac, large, relu": ("sac", with_relu(256, 256, batch_size=256)),
    "sac, large, tanh": ("sac", network(256, 256) | {"batch_size": 256}),
    "sac, large, elu": ("sac", network(400, 200, activation=nn.ELU) | {"batch_size": 128}),
    "sac, several copies": ("sac", {"n_envs": 3}),
    "sac, three-step returns": ("sac", {"n_steps": 3}),
    "td3": ("td3", {}),
    "td3, relu": ("td3", with_relu(32, 32)),
    "td3, elu": ("td3", network(24, 24, activation=nn.ELU)),
    "td3, three layers": ("td3", network(32, 16, 24)),
    "td3, other critics": ("td3", {"policy_kwargs": network()["policy_kwargs"] | OTHER_CRITICS}),
    "td3, several copies": ("td3", {"n_envs": 3}),
    "td3, odd batch": ("td3", {"batch_size": 7}),
    "td3, one layer": ("td3", network(48)),
    "td3, large, relu": ("td3", with_relu(256, 256, batch_size=256)),
    "td3, large, tanh": ("td3", network(256, 256) | {"batch_size": 256, "learning_rate": 3e-4}),
    "td3, seldom": ("td3", {"policy_delay": 3, "tau": 0.02, "gamma": 0.9}),
    "td3, always": ("td3", {"policy_delay": 1}),
    "td3, noise": ("td3", {"target_policy_noise": 0.5, "target_noise_clip": 0.3}),
    "td3, three-step returns": ("td3", {"n_steps": 3}),
}
SEED = 17


@pytest.mark.parametrize(
    ("name", "gradient_steps"),
    [*((name, 5) for name in SETTINGS), *((name, 1) for name in ("sac", "sac, targets seldom", "td3", "td3, seldom"))],
)
def test_fifty_updates_give_the_same_weights_and_losses(name: str, gradient_steps: int) -> None:
    algorithm, keywords = SETTINGS[name]
    theirs, ours = (make(classes[algorithm], **copy.deepcopy(keywords)) for classes in (THEIRS, OURS))
    start = parameters(theirs)
    expected, told = (update(model, 50 // gradient_steps, SEED, gradient_steps) for model in (theirs, ours))
    assert ours._made is not None
    assert [list(each) for each in expected] == [list(each) for each in told]
    for one, other in zip(expected, told, strict=True):
        assert other == pytest.approx(one, rel=1e-6, abs=1e-6)
    assert distance(theirs, ours) < 1e-5
    assert (parameters(ours) - start).abs().max() > 5e-4


@BOTH
def test_as_it_comes_rounding_parts_a_few_weights_at_most(algorithm: str) -> None:
    theirs, ours = (make(classes[algorithm], policy_kwargs={"net_arch": [32, 32]}) for classes in (THEIRS, OURS))
    for model in (theirs, ours):
        update(model, 10, SEED, 5)
    apart = (parameters(ours) - parameters(theirs)).abs()
    # A row that counts in one code only moves the weights of one unit, of which there are hundreds.
    assert (apart < 1e-5).float().mean() > 0.98
    assert ours._made is not None


def test_a_critic_that_is_never_the_lower_one_is_not_followed() -> None:
    models = [make(classes["sac"], **network(256, 256), batch_size=256) for classes in (THEIRS, OURS)]
    for model in models:
        with torch.no_grad():
            model.critic.q_networks[0][-1].bias.fill_(100.0)
        update(model, 5, SEED)
    assert models[1]._made._critics.is_large
    assert distance(*models) < 1e-5


@BOTH
def test_threads_do_not_change_a_bit(algorithm: str) -> None:
    settings = network(256, 256, activation=nn.ReLU) | {"batch_size": 256}
    results = []
    for workers, threads in ((1, 1), (2, 1), (2, 2)):
        model = make(OURS[algorithm], **copy.deepcopy(settings))
        model.workers = workers
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        update(model, 3, gradient_steps=2)
        seen = np.random.default_rng(0).normal(size=(1, OBSERVATIONS))
        results.append(
            (parameters(model), torch.as_tensor(model._made.act(seen, lambda _: np.ones((1, ACTIONS), np.float32))))
        )
        assert torch.get_num_threads() == threads
        torch.set_num_threads(before)
        assert model._made._critics.is_large
    for result in results[1:]:
        assert all(torch.equal(one, other) for one, other in zip(result, results[0], strict=True))


@BOTH
def test_updates_normalise_rows_with_the_statistics_of_now(algorithm: str) -> None:
    models = []
    for classes, wrapper in ((THEIRS, VecNormalize), (OURS, Normalizer)):
        env = wrapper(DummyVecEnv([Empty]), clip_obs=1.5, clip_reward=0.8)
        env.obs_rms.mean, env.obs_rms.var = np.full(OBSERVATIONS, 0.3), np.full(OBSERVATIONS, 2.0)
        env.ret_rms.var = np.float64(3.0)
        models.append(make(classes[algorithm], env))
    theirs, ours = models
    for seed in (1, 2):
        assert update(ours, 10, seed)[-1] == pytest.approx(update(theirs, 10, seed)[-1], rel=1e-6, abs=1e-6)
        for model in models:
            model.env.obs_rms.mean = np.full(OBSERVATIONS, -0.4)
    assert distance(theirs, ours) < 1e-5


@BOTH
def test_the_two_codes_take_turns(algorithm: str) -> None:
    theirs, ours = make(THEIRS[algorithm]), make(OURS[algorithm])
    for turn in range(4):
        update(theirs, 5, seed=turn)
        if turn % 2:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(OURS[algorithm], "_updates", lambda *_: None)
                update(ours, 5, seed=turn)
        else:
            update(ours, 5, seed=turn)
    assert distance(theirs, ours) < 1e-5


@BOTH
def test_stable_baselines3_loads_what_ours_saved(algorithm: str, tmp_path: Path) -> None:
    ours = make(OURS[algorithm])
    update(ours, 10)
    ours.save(tmp_path / "model.zip")
    theirs = THEIRS[algorithm].load(tmp_path / "model.zip", env=DummyVecEnv([Empty]), device="cpu")
    seen = np.random.default_rng(0).normal(size=(20, OBSERVATIONS))
    np.testing.assert_array_equal(
        ours.predict(seen, deterministic=True)[0], theirs.predict(seen, deterministic=True)[0]
    )
    # Optimisers and entropy coefficient too: both go on alike.
    theirs.set_logger(ours.logger)
    theirs.replay_buffer = copy.deepcopy(ours.replay_buffer)
    update(ours, 10, seed=2), update(theirs, 10, seed=2)
    assert distance(theirs, ours) < 1e-5
    assert type(theirs.replay_buffer) is RowReplayBuffer


@BOTH
def test_ours_go_on_after_loading(algorithm: str, tmp_path: Path) -> None:
    ours = make(OURS[algorithm])
    update(ours, 10)
    ours.save(tmp_path / "model.zip")
    ours.save_replay_buffer(tmp_path / "replay.pkl")
    again = OURS[algorithm].load(tmp_path / "model.zip", env=DummyVecEnv([Empty]), device="cpu")
    again.load_replay_buffer(tmp_path / "replay.pkl")
    again.set_logger(Logger(folder=None, output_formats=[]))
    ours.set_logger(Logger(folder=None, output_formats=[]))
    assert update(ours, 10, seed=2) == update(again, 10, seed=2)
    assert torch.equal(parameters(ours), parameters(again))


@BOTH
def test_ours_go_on_with_parameters_set_from_outside(algorithm: str) -> None:
    keywords: dict[str, Any] = {"ent_coef": 0.2} if algorithm == "sac" else {}
    one, other = make(OURS[algorithm], **keywords), make(OURS[algorithm], **keywords)
    update(one, 4, seed=1), update(other, 4, seed=2)
    assert distance(one, other) > 1e-4
    other.set_parameters(copy.deepcopy(one.get_parameters()))
    update(one, 10, seed=3), update(other, 10, seed=3)
    assert distance(one, other) == 0.0


class OwnPolicy(SACPolicy):
    """What a user might write."""


class Pictures(Empty):
    observation_space = gymnasium.spaces.Box(0, 255, (OBSERVATIONS,), np.uint8)

    def reset(self, **_: Any) -> tuple[np.ndarray, dict[str, Any]]:
        return np.ones(OBSERVATIONS, np.uint8), {}


UNKNOWN: dict[str, tuple[str, dict[str, Any]]] = {
    "the policy is a OwnPolicy": ("sac", {"policy": OwnPolicy}),
    "exploration is state-dependent": ("sac", {"use_sde": True}),
    "there are 3 critics, not 2": ("td3", {"policy_kwargs": {"n_critics": 3}}),
    "actor and critic share their features extractor": ("sac", {"policy_kwargs": {"share_features_extractor": True}}),
    "the actor is no plain perceptron": ("sac", {"policy_kwargs": {"activation_fn": nn.LeakyReLU}}),
    "the critics are no plain perceptrons": ("td3", {"policy_kwargs": {"net_arch": {"pi": [16], "qf": []}}}),
    "the optimizer is not Adam": ("td3", {"policy_kwargs": {"optimizer_class": torch.optim.AdamW}}),
    "the optimizer has settings of its own": ("sac", {"policy_kwargs": {"optimizer_kwargs": {"weight_decay": 0.1}}}),
    "observations are not plain vectors": ("td3", {"env": Pictures}),
}


@pytest.mark.parametrize("reason", UNKNOWN)
def test_what_is_not_recognised_runs_in_their_code_and_is_said_once(
    reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    algorithm, given = UNKNOWN[reason]
    learned = []
    for classes in (THEIRS, OURS):
        keywords = {"batch_size": 16, "buffer_size": 500, "learning_starts": 20, "device": "cpu"} | copy.deepcopy(given)
        policy, env = keywords.pop("policy", "MlpPolicy"), DummyVecEnv([keywords.pop("env", Empty)])
        with caplog.at_level(logging.WARNING, "workbench"):
            learned.append(parameters(classes[algorithm](policy, env, seed=5, **keywords).learn(40)))
    assert torch.equal(*learned)
    assert [record.message for record in caplog.records if "updates" in record.message] == [
        f"{algorithm.upper()} updates in Stable-Baselines3's own code: {reason}."
    ]


@BOTH
def test_terminals_end_a_value_and_time_limits_do_not(algorithm: str) -> None:
    keywords: dict[str, Any] = {"gamma": 0.5, "learning_rate": 1e-2, "tau": 0.1, "filled": 0, **network(16, 16)}
    if algorithm == "sac":
        keywords["ent_coef"] = 0.0
    model = make(OURS[algorithm], **keywords)
    random = np.random.default_rng(0)
    # The sign of the first number tells whether the state is one in which episodes end by themselves, or are cut.
    for step in range(400):
        seen = np.full((1, OBSERVATIONS), 1.0 if step % 2 else -1.0)
        ends = np.array([True])
        actions = random.uniform(-1, 1, (1, 2)).astype(np.float32)
        model.replay_buffer.add(seen, seen, actions, np.ones(1), ends, [{"TimeLimit.truncated": step % 2 == 0}])
    update(model, 1, gradient_steps=300)
    with torch.no_grad():
        values = model.critic(torch.tensor([[-1.0] * OBSERVATIONS, [1.0] * OBSERVATIONS]), torch.zeros(2, 2))[0]
    # 1 / (1 - 0.5) where episodes are only cut, and the reward alone where they end.
    assert values[:, 0].tolist() == pytest.approx([2.0, 1.0], abs=0.05)


def test_n_step_returns_are_stable_baselines3s() -> None:
    assert type(make(OURS["sac"], n_steps=3).replay_buffer) is NStepReplayBuffer
    assert type(make(OURS["td3"]).replay_buffer) is RowReplayBuffer
    chosen = make(OURS["sac"], replay_buffer_class=stable_baselines3.common.buffers.ReplayBuffer)
    assert type(chosen.replay_buffer) is stable_baselines3.common.buffers.ReplayBuffer
