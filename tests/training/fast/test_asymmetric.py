"""Policies whose critic sees more: ours beside Stable-Baselines3's own code, and the actor beside a plain policy."""

from typing import Any

import gymnasium
import numpy as np
import pytest
import stable_baselines3
import torch
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv
from torch import nn

from tests.training.fast import learners, test_ppo
from tests.training.fast.learners import OURS, THEIRS
from workbench.training.fast import ppo
from workbench.training.fast.asymmetric import POLICIES

SEEN = 3
"""How many of the numbers of an observation the actor reads."""

PPO = {"ours": ppo.PPO, "theirs": stable_baselines3.PPO}


def make_ppo(cls: Any, **keywords: Any) -> Any:
    keywords = {"n_steps": 40, "batch_size": 16, "n_epochs": 5, "seed": 3, "device": "cpu"} | keywords
    kwargs = {"actor_size": SEEN, **keywords.pop("policy_kwargs", {})}
    model = cls(POLICIES["ppo"], DummyVecEnv([test_ppo.Empty] * 2), policy_kwargs=kwargs, **keywords)
    model.set_logger(Logger(folder=None, output_formats=[]))
    model._current_progress_remaining = 0.6
    return model


def make_off_policy(algorithm: str, cls: Any, **keywords: Any) -> Any:
    kwargs = learners.network(32, 24)["policy_kwargs"]
    return learners.make(cls, policy=POLICIES[algorithm], policy_kwargs={**kwargs, "actor_size": SEEN}, **keywords)


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if "own code" in record.message]


@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"policy_kwargs": {"net_arch": {"pi": [16], "vf": [32, 24]}, "activation_fn": nn.ELU}},
        {"ent_coef": 0.02, "clip_range_vf": 0.1},
    ],
)
def test_ppo_learns_as_stable_baselines3_does(keywords: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    one, other = make_ppo(PPO["ours"], **keywords), make_ppo(PPO["theirs"], **keywords)
    start = test_ppo.parameters(one)
    for seed in range(2):
        for model in (one, other):
            test_ppo.fill(model, seed)
            np.random.seed(seed)
            model.train()
    assert test_ppo.distance(one, other) < 1e-5
    assert float((test_ppo.parameters(one) - start).abs().max()) > 1e-3
    assert told(caplog) == []


@pytest.mark.parametrize("algorithm", ["sac", "td3"])
def test_off_policy_learners_learn_as_stable_baselines3_does(algorithm: str, caplog: pytest.LogCaptureFixture) -> None:
    ours, theirs = (make_off_policy(algorithm, classes[algorithm]) for classes in (OURS, THEIRS))
    start = learners.parameters(ours)
    for one, other in zip(learners.update(ours, 12), learners.update(theirs, 12), strict=True):
        assert one.keys() == other.keys()
        assert one == pytest.approx(other, rel=1e-3, abs=1e-4)
    assert learners.distance(ours, theirs) < 1e-5
    assert float((learners.parameters(ours) - start).abs().max()) > 1e-3
    assert told(caplog) == []


def plain(algorithm: str, asymmetric: Any) -> Any:
    """Return a policy of Stable-Baselines3 that sees what the actor sees, with its weights."""
    size = SEEN

    class Narrow(gymnasium.Env[Any, Any]):
        observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float32)
        action_space = asymmetric.action_space

    classes = {"ppo": stable_baselines3.PPO, **THEIRS}
    arch = asymmetric.policy_kwargs.get("net_arch")
    kwargs = {"net_arch": arch} if arch else {}
    if "activation_fn" in asymmetric.policy_kwargs:
        kwargs["activation_fn"] = asymmetric.policy_kwargs["activation_fn"]
    model: Any = classes[algorithm]("MlpPolicy", DummyVecEnv([Narrow]), policy_kwargs=kwargs, device="cpu")
    own = model.policy.state_dict()
    given = {name: tensor for name, tensor in asymmetric.policy.state_dict().items() if own[name].shape == tensor.shape}
    model.policy.load_state_dict(given, strict=False)
    return model


@pytest.mark.parametrize("algorithm", ["ppo", "sac", "td3"])
def test_the_actor_reads_the_first_numbers_and_the_critic_all(algorithm: str) -> None:
    model = make_ppo(PPO["ours"]) if algorithm == "ppo" else make_off_policy(algorithm, OURS[algorithm])
    random = np.random.default_rng(0)
    width = model.observation_space.shape[0]
    whole = random.normal(size=(50, width)).astype(np.float32)
    moved = whole.copy()
    moved[:, SEEN:] += 10
    actions, _ = model.predict(whole, deterministic=True)
    assert np.array_equal(actions, model.predict(moved, deterministic=True)[0])
    assert np.array_equal(actions, plain(algorithm, model).predict(whole[:, :SEEN], deterministic=True)[0])
    with torch.no_grad():
        one, other = (values(algorithm, model, torch.as_tensor(rows)) for rows in (whole, moved))
    assert float((one - other).abs().min()) > 0


def values(algorithm: str, model: Any, rows: torch.Tensor) -> torch.Tensor:
    if algorithm == "ppo":
        found: torch.Tensor = model.policy.predict_values(rows)
        return found
    actions = torch.zeros(len(rows), model.action_space.shape[0])
    return torch.cat(model.policy.critic(rows, actions))


@pytest.mark.parametrize("algorithm", ["ppo", "sac", "td3"])
def test_a_saved_model_is_loaded_with_its_narrow_actor(algorithm: str, tmp_path: Any) -> None:
    model = make_ppo(PPO["ours"]) if algorithm == "ppo" else make_off_policy(algorithm, OURS[algorithm])
    model.save(tmp_path / "model.zip")
    again = {"ppo": stable_baselines3.PPO, **THEIRS}[algorithm].load(tmp_path / "model.zip", device="cpu")
    rows = np.random.default_rng(0).normal(size=(20, *model.observation_space.shape)).astype(np.float32)
    assert np.array_equal(model.predict(rows, deterministic=True)[0], again.predict(rows, deterministic=True)[0])
