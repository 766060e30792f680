"""Our PPO beside that of Stable-Baselines3: the same weights, the same rollouts, the same minibatches."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import stable_baselines3
import torch
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv
from torch import nn

from workbench.training.fast.ppo import PPO

OBSERVATIONS, ACTIONS = 11, 3


class Empty(gymnasium.Env[Any, Any]):
    """Spaces and little else, for updates from rollouts made up at random."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (OBSERVATIONS,), np.float32)
    action_space: gymnasium.spaces.Space[Any] = gymnasium.spaces.Box(-1, 1, (ACTIONS,), np.float32)

    def reset(self, **_: Any) -> tuple[np.ndarray, dict[str, Any]]:
        return np.ones(OBSERVATIONS, np.float32), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        return np.full(OBSERVATIONS, float(np.sum(action)), np.float32), 1.0, False, False, {}


def make(cls: type[stable_baselines3.PPO], n_envs: int = 2, **keywords: Any) -> stable_baselines3.PPO:
    keywords = {"n_steps": 40, "batch_size": 16, "n_epochs": 10, "seed": 3, "device": "cpu"} | keywords
    model = cls("MlpPolicy", DummyVecEnv([Empty] * n_envs), **keywords)
    model.set_logger(Logger(folder=None, output_formats=[]))
    model._current_progress_remaining = 0.6
    return model


def fill(model: stable_baselines3.PPO, seed: int) -> None:
    """Give a model a rollout that its policy might have made, and the advantages of a critic that is off."""
    random = np.random.default_rng(seed)
    buffer = model.rollout_buffer
    buffer.reset()
    for _ in range(model.n_steps):
        seen = random.normal(size=(model.n_envs, OBSERVATIONS)).astype(np.float32)
        with torch.no_grad():
            distribution = model.policy.get_distribution(torch.as_tensor(seen))
            noise = torch.as_tensor(random.normal(size=(model.n_envs, ACTIONS)).astype(np.float32))
            actions = distribution.mode() + model.policy.log_std.exp() * noise
            log_probs, values = distribution.log_prob(actions), model.policy.predict_values(torch.as_tensor(seen))
        starts = random.random(model.n_envs) < 0.1
        buffer.add(seen, actions.numpy(), random.normal(size=model.n_envs), starts, values, log_probs)
    buffer.compute_returns_and_advantage(values, starts)


def parameters(model: stable_baselines3.PPO) -> torch.Tensor:
    return nn.utils.parameters_to_vector(model.policy.parameters()).detach()


def distance(one: stable_baselines3.PPO, other: stable_baselines3.PPO) -> float:
    return float((parameters(one) - parameters(other)).abs().max())


SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "relu": {"policy_kwargs": {"activation_fn": nn.ReLU, "net_arch": [32, 32], "log_std_init": -1.0}},
    "elu": {"policy_kwargs": {"activation_fn": nn.ELU, "net_arch": [24, 24]}},
    "three layers": {"policy_kwargs": {"net_arch": [32, 16, 24]}},
    "different networks": {"policy_kwargs": {"net_arch": {"pi": [16], "vf": [32, 24]}, "ortho_init": False}},
    "clipped values": {"clip_range_vf": 0.1},
    "entropy": {"ent_coef": 0.02, "vf_coef": 0.8},
    "advantages as they are": {"normalize_advantage": False},
    "tight gradients": {"max_grad_norm": 0.05},
    "loose gradients": {"max_grad_norm": 100.0},
    "schedules": {"learning_rate": lambda p: 1e-3 * p, "clip_range": lambda p: 0.3 * p, "clip_range_vf": lambda p: p},
    "a smaller last minibatch": {"batch_size": 32},
    "a last minibatch of one": {"n_envs": 1, "n_steps": 49, "batch_size": 16},
    "many pieces": {
        "n_envs": 8,
        "n_steps": 256,
        "batch_size": 1024,
        "n_epochs": 12,
        "policy_kwargs": {"net_arch": [128, 128]},
    },
    "one minibatch": {"batch_size": 80, "n_epochs": 50},
    "target": {"target_kl": 0.01, "learning_rate": 1e-3},
}


@pytest.mark.filterwarnings("ignore:You have specified a mini-batch size")
@pytest.mark.parametrize("name", SETTINGS)
def test_updates_equal_those_of_stable_baselines3(name: str) -> None:
    ours, theirs = make(PPO, **SETTINGS[name]), make(stable_baselines3.PPO, **SETTINGS[name])
    assert distance(ours, theirs) == 0
    start = parameters(theirs).clone()
    for rollout in range(2):
        fill(theirs, rollout)
        # The same rollout, not one each, so that only the update can differ.
        for key, value in vars(theirs.rollout_buffer).items():
            setattr(ours.rollout_buffer, key, value.copy() if isinstance(value, np.ndarray) else value)
        logged = []
        for model in (ours, theirs):
            np.random.seed(rollout)
            model.train()
            logged.append(dict(model.logger.name_to_value))
        assert list(logged[0]) == list(logged[1])
        for key, value in logged[1].items():
            assert logged[0][key] == pytest.approx(value, rel=0, abs=1e-6), key
    assert distance(ours, theirs) < 1e-5
    assert (parameters(theirs) - start).abs().max() > 1e-3
    assert ours._n_updates == theirs._n_updates
    assert name != "target" or ours._n_updates < 20


def test_what_it_saves_is_loaded_by_stable_baselines3(tmp_path: Path) -> None:
    ours = make(PPO)
    fill(ours, 0)
    ours.train()
    ours.save(tmp_path / "policy.zip")
    theirs = stable_baselines3.PPO.load(tmp_path / "policy.zip", device="cpu")
    ours_again = PPO.load(tmp_path / "policy.zip", device="cpu", env=DummyVecEnv([Empty] * 2))
    seen = np.random.default_rng(1).normal(size=(5, OBSERVATIONS)).astype(np.float32)
    expected = ours.predict(seen, deterministic=True)[0]
    for loaded in (theirs, ours_again):
        np.testing.assert_array_equal(loaded.predict(seen, deterministic=True)[0], expected)
        state, other = loaded.policy.optimizer.state_dict(), ours.policy.optimizer.state_dict()
        for index, moments in other["state"].items():
            for name, value in moments.items():
                assert torch.equal(state["state"][index][name], value)


@pytest.mark.parametrize("how", ["load", "set_parameters", "stock step", "deepcopy", "to"])
def test_training_goes_on_after_something_else_had_the_parameters(how: str, tmp_path: Path) -> None:
    ours, theirs = make(PPO), make(stable_baselines3.PPO)
    for rollout in range(2):
        fill(theirs, rollout)
        for key, value in vars(theirs.rollout_buffer).items():
            setattr(ours.rollout_buffer, key, value.copy() if isinstance(value, np.ndarray) else value)
        for model in (ours, theirs):
            np.random.seed(rollout)
            model.train()
        if how == "load":
            ours.save(tmp_path / "policy.zip")
            ours = PPO.load(tmp_path / "policy.zip", env=ours.env, device="cpu")
            ours.set_logger(Logger(folder=None, output_formats=[]))
            ours._current_progress_remaining = 0.6
        elif how == "set_parameters":
            ours.set_parameters(ours.get_parameters())
        elif how == "stock step":
            for model in (ours, theirs):
                model.policy.optimizer.zero_grad()
                model.policy.predict_values(torch.ones(1, OBSERVATIONS)).sum().backward()
                for parameter in model.policy.parameters():
                    parameter.grad = torch.ones_like(parameter) if parameter.grad is None else parameter.grad
                model.policy.optimizer.step()
        elif how == "deepcopy":
            state = ours.policy.optimizer.state_dict()
            ours.policy = copy.deepcopy(ours.policy)
            ours.policy.optimizer = torch.optim.Adam(ours.policy.parameters(), eps=1e-5)
            ours.policy.optimizer.load_state_dict(state)
        else:
            ours.policy.to(torch.float64).to(torch.float32)
    assert distance(ours, theirs) < 1e-5


class Categorical(Empty):
    action_space = gymnasium.spaces.Discrete(3)


class Buffer(RolloutBuffer):
    """Somebody's own."""


FOREIGN: dict[str, tuple[type[Empty], dict[str, Any]]] = {
    "Categorical": (Categorical, {}),
    "LeakyReLU": (Empty, {"policy_kwargs": {"activation_fn": nn.LeakyReLU}}),
    "no layers": (Empty, {"policy_kwargs": {"net_arch": []}}),
    "state dependent": (Empty, {"use_sde": True}),
    "RMSprop": (Empty, {"policy_kwargs": {"optimizer_class": torch.optim.RMSprop}}),
    "weight decay": (Empty, {"policy_kwargs": {"optimizer_kwargs": {"weight_decay": 0.1}}}),
    "buffer": (Empty, {"rollout_buffer_class": Buffer}),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_not_recognised_runs_in_stable_baselines3_and_is_told_once(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    env, keywords = FOREIGN[name]
    models = [
        cls("MlpPolicy", DummyVecEnv([env] * 2), n_steps=8, batch_size=8, n_epochs=2, seed=0, device="cpu", **keywords)
        for cls in (PPO, stable_baselines3.PPO)
    ]
    for model in models:
        model.set_random_seed(0)
        model.learn(48)
    assert distance(models[0], models[1]) == 0
    told = [record for record in caplog.records if record.name.startswith("workbench")]
    assert len(told) == 1 and "Stable-Baselines3's own code" in told[0].message


def test_a_foreign_environment_or_callback_gets_its_infos(caplog: pytest.LogCaptureFixture) -> None:
    seen = []

    def look(local: dict[str, Any], _: dict[str, Any]) -> bool:
        seen.append(local["infos"])
        return True

    model = make(PPO, n_steps=8, batch_size=8)
    model.learn(16, callback=look)
    assert len(seen) == 8
    assert ["steps no arrays" in record.message for record in caplog.records] == [True]
