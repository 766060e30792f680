"""What is learned where episodes end by themselves, and where they are only cut: one reward a step, forever the same.

The states are the steps of an episode, one after another and round again, so that every last observation is one that
others begin with. Cut episodes go on in truth: the value of each state is r/(1-γ). Where an episode ends by itself,
nothing comes after: the value is the finite sum over the steps that are left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import pytest
import torch

from tests.simulation.toys import SLIDER
from workbench.simulation import BatchEnv, BatchEnvConfig, Noise
from workbench.simulation.gym_env import GymEnv
from workbench.simulation.sb3_env import BatchVecEnv, GymVecEnv
from workbench.training.fast.ppo import PPO
from workbench.training.fast.sac import SAC
from workbench.training.fast.td3 import TD3

STEPS = 4
REWARD = 1.5
GAMMA = 0.8
COPIES = 8
TOLERANCE = 0.03

ENDLESS = np.full(STEPS, REWARD / (1 - GAMMA))
FINITE = REWARD * (1 - GAMMA ** (STEPS - np.arange(STEPS))) / (1 - GAMMA)

pytestmark = pytest.mark.filterwarnings("ignore:You have specified a mini-batch size")


@dataclass(frozen=True)
class RoundEnvConfig(BatchEnvConfig):
    """How episodes end."""

    frame_skip: int = 1
    terminates: bool = False
    """Whether they end by themselves, not by the limit of time."""


class RoundEnv(BatchEnv[RoundEnvConfig]):
    """Counts its steps and starts again."""

    def load(self) -> Any:
        return mujoco.MjModel.from_xml_string(SLIDER)

    def setup(self) -> None:
        self.time = self.batch.bind("time")

    def initial_state(self, noise: Noise) -> tuple[Any, Any]:
        return np.zeros((len(noise.ids), 1)), np.zeros((len(noise.ids), 1))

    def measure(self) -> None:
        self.count = np.rint(self.time.reshape(-1) / self.control_dt).astype(int)

    def observe(self) -> Any:
        return np.eye(STEPS)[self.count % STEPS]

    def reward_terms(self, actions: Any) -> Mapping[str, Any]:
        return {"same": np.full(len(actions), REWARD)}

    def terminations(self) -> Mapping[str, Any]:
        return {"over": (self.count >= STEPS) & self.config.terminates}


def config(terminates: bool) -> RoundEnvConfig:
    return RoundEnvConfig(episode_steps=0 if terminates else STEPS, terminates=terminates)


def batched(terminates: bool) -> BatchVecEnv:
    return BatchVecEnv(RoundEnv(config(terminates), n_envs=COPIES, threads=1))


def plain(terminates: bool) -> GymVecEnv:
    return GymVecEnv([lambda: GymEnv(RoundEnv(config(terminates)))] * COPIES, name="round")


def values_of_ppo(env: Any) -> np.ndarray:
    model = PPO(
        "MlpPolicy",
        env,
        gamma=GAMMA,
        n_steps=16,
        batch_size=32,
        learning_rate=0.01,
        policy_kwargs={"net_arch": [16]},
        seed=1,
        device="cpu",
    )
    model.learn(25 * 16 * COPIES)
    with torch.no_grad():
        return model.policy.predict_values(torch.eye(STEPS)).numpy().reshape(-1)


def values_of_critics(cls: Any, env: Any, **keywords: Any) -> np.ndarray:
    model = cls(
        "MlpPolicy",
        env,
        gamma=GAMMA,
        tau=0.1,
        learning_rate=3e-3,
        learning_starts=400,
        batch_size=64,
        buffer_size=4000,
        policy_kwargs={"net_arch": [16]},
        seed=1,
        device="cpu",
        **keywords,
    )
    model.learn(400 + 800 * COPIES)
    states = torch.eye(STEPS)
    with torch.no_grad():
        # No action changes anything; those of the policy are the ones it has learned the values of.
        actions = model.policy._predict(states, deterministic=True)
        return torch.cat(model.critic(states, actions), dim=1).mean(dim=1).numpy()


def values(algorithm: str, env: Any) -> np.ndarray:
    if algorithm == "ppo":
        return values_of_ppo(env)
    # Without a bonus for entropy, so that the reward is all there is.
    return values_of_critics(SAC, env, ent_coef=0.0) if algorithm == "sac" else values_of_critics(TD3, env)


@pytest.mark.parametrize("algorithm", ["ppo", "sac", "td3"])
@pytest.mark.parametrize(("terminates", "expected"), [(False, ENDLESS), (True, FINITE)], ids=["cut", "terminal"])
def test_only_cut_episodes_are_worth_what_comes_after(algorithm: str, terminates: bool, expected: np.ndarray) -> None:
    np.testing.assert_allclose(values(algorithm, batched(terminates)), expected, rtol=TOLERANCE)


@pytest.mark.parametrize(("terminates", "expected"), [(False, ENDLESS), (True, FINITE)], ids=["cut", "terminal"])
def test_endings_of_plain_environments_are_told_apart_too(terminates: bool, expected: np.ndarray) -> None:
    np.testing.assert_allclose(values("ppo", plain(terminates)), expected, rtol=TOLERANCE)
