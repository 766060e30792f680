"""What reaches Stable-Baselines3's learners, and what they are told about endings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tests.training.conftest import CART_POLE, tiny_spec
from workbench.errors import RequestError
from workbench.simulation import EnvSource, make_sb3
from workbench.specs import RunSpec
from workbench.training.learner import AnomalyError, Learner

SHORT = EnvSource(**{**CART_POLE.to_json(), "env_cfg": {"episode_steps": 5}})


def learner(spec: RunSpec, source: EnvSource = CART_POLE) -> Learner:
    made = Learner(spec, make_sb3(source, spec.n_envs, 3, 1), seed=3)
    made.start([])
    return made


def test_every_value_of_a_block_reaches_the_learner() -> None:
    ppo = learner(
        tiny_spec(
            "ppo",
            normalize_observations=True,
            ppo={
                "n_steps": 10,
                "batch_size": 20,
                "n_epochs": 3,
                "gamma": 0.9,
                "gae_lambda": 0.8,
                "clip_range": "linear:0.4:0.2",
                "clip_range_vf": 0.7,
                "ent_coef": 0.01,
                "vf_coef": 0.3,
                "max_grad_norm": 2.0,
                "target_kl": 0.5,
                "normalize_advantage": False,
                "learning_rate": "linear:0.01",
                "net_arch": {"pi": (7,), "vf": (5, 6)},
                "activation": "elu",
                "log_std_init": -1.5,
            },
        )
    )
    model: Any = ppo.model
    assert (model.n_steps, model.batch_size, model.n_epochs) == (10, 20, 3)
    assert (model.gamma, model.gae_lambda, model.ent_coef, model.vf_coef) == (0.9, 0.8, 0.01, 0.3)
    assert (model.max_grad_norm, model.target_kl, model.normalize_advantage) == (2.0, 0.5, False)
    assert model.clip_range(1.0) == pytest.approx(0.4) and model.clip_range(0.5) == pytest.approx(0.3)
    assert model.clip_range_vf(0.5) == 0.7
    assert model.lr_schedule(1.0) == 0.01 and model.lr_schedule(0.0) == 0.0
    assert tuple(model.policy.mlp_extractor.policy_net[0].weight.shape) == (7, 4)
    assert tuple(model.policy.mlp_extractor.value_net[2].weight.shape) == (6, 5)
    assert isinstance(model.policy.mlp_extractor.policy_net[1], torch.nn.ELU)
    assert model.policy.log_std.tolist() == [-1.5]
    ppo.close()


@pytest.mark.parametrize("algorithm", ["sac", "td3"])
def test_off_policy_values_reach_the_learner(algorithm: str) -> None:
    block = {
        "buffer_size": 400,
        "learning_starts": 50,
        "batch_size": 16,
        "tau": 0.1,
        "gamma": 0.9,
        "train_freq": 3,
        "gradient_steps": 2,
        "n_steps": 2,
        "action_noise_std": 0.25,
        "net_arch": {"pi": (7,), "qf": (5,)},
    }
    made = learner(tiny_spec(algorithm, **{algorithm: block}))
    model: Any = made.model
    assert (model.learning_starts, model.batch_size, model.tau, model.gamma) == (50, 16, 0.1, 0.9)
    assert (model.train_freq.frequency, model.gradient_steps, model.n_steps) == (3, 2, 2)
    assert model.replay_buffer.buffer_size * 4 == 400
    assert model.action_noise.noises[0]._sigma.tolist() == [0.25]
    made.close()


def test_an_iteration_is_a_rollout_or_a_thousand_steps() -> None:
    ppo, sac = learner(tiny_spec("ppo")), learner(tiny_spec("sac", total_steps=0, n_envs=3))
    assert ppo.iteration_steps == 100 and sac.iteration_steps == 1002
    ppo.iterate()
    assert (ppo.steps, ppo.iteration) == (100, 1)
    sac.iterate()
    assert (sac.steps, sac.iteration) == (1002, 1)
    ppo.close(), sac.close()


def test_off_policy_iterations_do_not_overshoot_the_budget() -> None:
    made = learner(tiny_spec("td3", total_steps=500))
    made.iterate()
    assert made.steps == 500
    made.close()


def test_a_time_out_is_bootstrapped_with_the_value_of_the_last_observation() -> None:
    spec = tiny_spec("ppo", ppo={"n_steps": 5, "batch_size": 20, "gamma": 0.5, "net_arch": (8,)})
    made = learner(spec, SHORT)
    model: Any = made.model
    model.train = lambda: None
    with torch.no_grad():
        # A critic that answers 8 whatever it sees.
        model.policy.value_net.weight.zero_()
        model.policy.value_net.bias.fill_(8.0)
        # Actions that leave the pole standing for five steps.
        model.policy.action_net.weight.zero_()
        model.policy.log_std.fill_(-10.0)
    made.iterate()
    rewards = model.rollout_buffer.rewards
    terminated = np.array([episode.terminated for episode in made.venv.drain_episodes()])
    assert not terminated.all()
    assert (rewards[:4] <= 1.0).all()
    # The reward of 1 and half of 8 for those that were cut; nothing is added where the pole fell.
    assert rewards[4].max() == 5.0
    made.close()


def test_a_fallen_pole_is_not_bootstrapped() -> None:
    spec = tiny_spec("ppo", ppo={"n_steps": 40, "batch_size": 160, "gamma": 0.5, "log_std_init": 2.0, "net_arch": (8,)})
    made = learner(spec)
    model: Any = made.model
    model.train = lambda: None
    with torch.no_grad():
        model.policy.value_net.weight.zero_()
        model.policy.value_net.bias.fill_(8.0)
    made.iterate()
    assert all(episode.terminated for episode in made.venv.drain_episodes())
    assert model.rollout_buffer.rewards.max() == 1.0
    made.close()


@pytest.mark.parametrize("algorithm", ["sac", "td3"])
def test_the_replay_buffer_tells_time_outs_from_terminals(algorithm: str) -> None:
    made = learner(tiny_spec(algorithm, total_steps=200, normalize_observations=True), SHORT)
    made.iterate()
    buffer: Any = made.model.replay_buffer
    episodes = made.venv.drain_episodes()
    assert {episode.terminated for episode in episodes} == {True, False}
    filled = slice(0, buffer.pos)
    dones, timeouts = buffer.dones[filled].astype(bool), buffer.timeouts[filled].astype(bool)
    assert dones.sum() == len(episodes)
    assert timeouts.sum() == sum(not episode.terminated for episode in episodes)
    assert (dones | ~timeouts).all()
    # The observation after a last step is the last one of that episode, not the first one of the next.
    following = buffer.observations[1 : buffer.pos]
    stored = buffer.next_observations[: buffer.pos - 1]
    same = np.isclose(stored, following, atol=1e-5).all(axis=-1)
    assert (same == ~dones[:-1]).all()
    fallen = dones & ~timeouts
    assert (np.abs(buffer.next_observations[filled][fallen][:, 3]) > 0.2).all(), "the angle at which it fell"
    made.close()


def test_a_schedule_runs_down_over_the_budget() -> None:
    made = learner(
        tiny_spec("ppo", total_steps=200, ppo={"n_steps": 25, "batch_size": 50, "learning_rate": "linear:0.01:0.001"})
    )
    rates = []
    for _ in range(2):
        made.iterate()
        rates.append(made.model.policy.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([0.0055, 0.001])
    made.close()


def test_a_schedule_ends_where_the_last_rollout_goes_beyond_the_budget() -> None:
    block = {"n_steps": 25, "batch_size": 50, "learning_rate": "linear:0.01", "clip_range": "linear:0.2:0.1"}
    made = learner(tiny_spec("ppo", total_steps=150, ppo=block))
    made.iterate()
    made.iterate()
    model: Any = made.model
    assert made.steps == 200
    assert model.policy.optimizer.param_groups[0]["lr"] == 0.0
    assert model.logger.name_to_value["train/clip_range"] == 0.1
    made.close()


def test_a_loss_that_is_not_finite_is_an_anomaly() -> None:
    made = learner(tiny_spec("ppo", ppo={"n_steps": 25, "batch_size": 50, "learning_rate": 1e30}))
    with pytest.raises(AnomalyError, match="after 100 steps"):
        for _ in range(3):
            made.iterate()
    made.close()


def test_discrete_actions_are_refused_where_the_algorithm_has_none() -> None:
    source = EnvSource("CartPole-v1", "CartPole-v1")
    with pytest.raises(RequestError, match="use PPO"):
        learner(tiny_spec("sac", source), source)


def test_choices_as_observations_cannot_be_normalised() -> None:
    source = EnvSource("FrozenLake-v1", "FrozenLake-v1")
    with pytest.raises(RequestError, match="cannot be normalised"):
        learner(tiny_spec("ppo", source, normalize_observations=True), source)


def test_the_seed_decides_the_run() -> None:
    weights = []
    for seed in (3, 3, 4):
        spec = tiny_spec("ppo")
        made = Learner(spec, make_sb3(CART_POLE, spec.n_envs, seed, 1), seed=seed)
        made.start([])
        made.iterate()
        weights.append(made.checkpoint_tensors()["action_net.weight"].copy())
        made.close()
    assert (weights[0] == weights[1]).all() and (weights[0] != weights[2]).any()
