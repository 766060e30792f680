"""Actions in NumPy, against Stable-Baselines3's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces

from tests.policies.conftest import LOPSIDED, Learnt
from workbench.errors import RequestError
from workbench.policies.actor import PolicyActor
from workbench.policies.checkpoint import read_checkpoint


def act(learnt: Learnt, folder: Path, observations: Any, **keywords: Any) -> Any:
    return PolicyActor(read_checkpoint(learnt.write(folder)), **keywords).act(observations)


def observations(count: int) -> Any:
    # Far out ones too, that the normaliser cuts.
    return np.random.default_rng(0).normal(0, 12, (count, 5))


def test_actions_equal_those_of_stable_baselines3(learnt: Learnt, tmp_path: Path) -> None:
    wanted = learnt.predict(observations(1000))
    actions = act(learnt, tmp_path, observations(1000))
    assert actions.dtype == np.float32
    reach = (LOPSIDED.high - LOPSIDED.low) / 2
    np.testing.assert_allclose(actions / reach, wanted / reach, rtol=1e-5, atol=1e-6)
    assert np.ptp(wanted, axis=0).max() > 0.1, "the actions compared must differ"


@pytest.mark.parametrize("shape", [(5,), (), (2, 4), (3, 1)])
def test_observations_of_another_shape_are_refused(shape: tuple[int, ...], learnt: Learnt, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"it reads \(n, 5\)"):
        act(learnt, tmp_path, np.zeros(shape))


@pytest.mark.parametrize(
    "keywords",
    [
        {"policy_kwargs": {"activation_fn": torch.nn.ELU, "net_arch": [33]}},
        {"policy_kwargs": {"activation_fn": torch.nn.ReLU, "net_arch": {"pi": [16, 7, 9], "vf": [8]}}},
        {"policy_kwargs": {"net_arch": []}},
        {"use_sde": True},
    ],
)
def test_every_shape_of_network_acts_alike(keywords: dict[str, Any], tmp_path: Path) -> None:
    learnt = Learnt("ppo", **keywords)
    np.testing.assert_allclose(
        act(learnt, tmp_path, observations(50)), learnt.predict(observations(50)), rtol=1e-5, atol=1e-6
    )


def test_state_dependent_noise_of_sac_keeps_its_limited_mean(tmp_path: Path) -> None:
    learnt = Learnt("sac", use_sde=True, policy_kwargs={"clip_mean": 0.5})
    wanted = learnt.predict(observations(50))
    np.testing.assert_allclose(act(learnt, tmp_path, observations(50)), wanted, rtol=1e-5, atol=1e-6)


def test_choices_equal_those_of_stable_baselines3(tmp_path: Path) -> None:
    learnt = Learnt("ppo", spaces.Discrete(4), spaces.Discrete(6))
    numbers = np.arange(6).repeat(3)
    actions = act(learnt, tmp_path, numbers)
    np.testing.assert_array_equal(actions, learnt.model.predict(numbers, deterministic=True)[0])


@pytest.mark.parametrize("stochastic", [False, True])
def test_a_row_does_not_depend_on_its_companions(learnt: Learnt, tmp_path: Path, stochastic: bool) -> None:
    checkpoint = read_checkpoint(learnt.write(tmp_path))
    rows = observations(70)
    together = PolicyActor(checkpoint, stochastic=stochastic, seed=1).act(rows)
    for index in (0, 1, 13, 32, 69):
        alone = PolicyActor(checkpoint, stochastic=stochastic, seed=1)
        alone.reset([0], streams=[index])
        assert alone.act(rows[index : index + 1]).tobytes() == together[index : index + 1].tobytes()


@pytest.mark.parametrize("algorithm", ["ppo", "sac"])
def test_samples_have_the_policys_mean_and_spread(algorithm: str, tmp_path: Path) -> None:
    learnt = Learnt(algorithm)
    row = observations(1)
    # Before bounds cut or squash them: compare where Stable-Baselines3 samples too.
    torch.manual_seed(0)
    many = learnt.normalizer.normalize_obs(row).repeat(1500, axis=0)
    wanted = learnt.model.predict(many, deterministic=False)[0]
    samples = act(learnt, tmp_path, row.repeat(1500, axis=0), stochastic=True, seed=0)
    assert (samples >= LOPSIDED.low).all() and (samples <= LOPSIDED.high).all()
    np.testing.assert_allclose(samples.mean(0), wanted.mean(0), atol=0.12)
    np.testing.assert_allclose(samples.std(0), wanted.std(0), atol=0.12)


def test_sampled_choices_have_the_policys_frequencies(tmp_path: Path) -> None:
    learnt = Learnt("ppo", spaces.Discrete(3))
    row = observations(1)
    samples = act(learnt, tmp_path, row.repeat(6000, axis=0), stochastic=True, seed=0)
    inputs = torch.as_tensor(learnt.normalizer.normalize_obs(row))
    wanted = learnt.model.policy.get_distribution(inputs).distribution.probs[0].detach().numpy()
    np.testing.assert_allclose(np.bincount(samples, minlength=3) / 6000, wanted, atol=0.03)


def test_state_dependent_noise_is_one_map_an_episode(tmp_path: Path) -> None:
    learnt = Learnt("ppo", spaces.Box(-1e6, 1e6, (3,)), use_sde=True)
    actor = PolicyActor(read_checkpoint(learnt.write(tmp_path)), stochastic=True, seed=0)
    row = observations(1)
    first = actor.act(row)
    assert (actor.act(row) == first).all()
    actor.reset([0])
    assert (actor.act(row) != first).all()


def test_the_seed_decides_the_samples(learnt: Learnt, tmp_path: Path) -> None:
    checkpoint = read_checkpoint(learnt.write(tmp_path))
    one, same, other = (PolicyActor(checkpoint, stochastic=True, seed=seed).act(observations(4)) for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any() or learnt.fields["algorithm"] == "td3"


@pytest.mark.parametrize(("algorithm", "samples"), [("ppo", True), ("sac", True), ("td3", False)])
def test_an_actor_says_whether_it_samples(algorithm: str, samples: bool, tmp_path: Path) -> None:
    checkpoint = read_checkpoint(Learnt(algorithm).write(tmp_path))
    actor = PolicyActor(checkpoint, stochastic=True, seed=1)
    row = np.zeros((1, 5))
    assert (not actor.deterministic) is samples
    assert (not np.array_equal(actor.act(row), actor.act(row))) is samples
    actor.deterministic = True
    assert np.array_equal(actor.act(row), actor.act(row))
