"""PPO beside that of Stable-Baselines3, at the same hyperparameters on HalfCheetah.

Both sides take turns of one iteration each, a rollout and its update, in one process; Stable-Baselines3 gets its best
case on a machine that others use: one thread of torch.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import stable_baselines3
import torch
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from workbench.bench.document import load
from workbench.bench.figures import Figure
from workbench.bench.floors import HALF_CHEETAH, ppo_floor
from workbench.bench.rivals import make_quietly
from workbench.bench.turns import ratio, torch_threads
from workbench.project import shipped_project
from workbench.runs.machine import usable_cpus
from workbench.simulation import EnvSource, make_sb3
from workbench.training.cpus import choose_threads
from workbench.training.fast.normalize import Normalizer
from workbench.training.fast.ppo import PPO
from workbench.training.inprocess import find_source

GYMNASIUM_ID = "HalfCheetah-v5"

ZOO: dict[str, Any] = {
    "n_steps": 512,
    "batch_size": 64,
    "n_epochs": 20,
    "gamma": 0.98,
    "gae_lambda": 0.92,
    "clip_range": 0.1,
    "learning_rate": 2.0633e-05,
    "ent_coef": 0.000401762,
    "vf_coef": 0.58096,
    "max_grad_norm": 0.8,
    "policy_kwargs": {
        "net_arch": [256, 256],
        "activation_fn": torch.nn.ReLU,
        "log_std_init": -2,
        "ortho_init": False,
    },
}
"""The hyperparameters that RL-Zoo has for HalfCheetah."""
MANY: dict[str, Any] = {"n_steps": 32, "batch_size": 512}


def gymnasium_copy() -> gymnasium.Env[Any, Any]:
    """Return one copy of Gymnasium's environment."""
    return make_quietly(GYMNASIUM_ID)


def gymnasium_copies(n_envs: int) -> VecEnv:
    """Return what users of Stable-Baselines3 have: copies of Gymnasium's environment, one after another."""
    return VecNormalize(make_vec_env(gymnasium_copy, n_envs, seed=0))


def batched_copies(n_envs: int) -> VecEnv:
    """Return our environment for our PPO."""
    return Normalizer(_batched(n_envs))


def batched_copies_for_others(n_envs: int) -> VecEnv:
    """Return our environment as any `VecEnv`, under the normaliser of Stable-Baselines3."""
    return VecNormalize(_batched(n_envs))


def plain_copies(n_envs: int) -> VecEnv:
    """Return Gymnasium's environment, stepped in a loop, for our PPO."""
    return Normalizer(make_sb3(EnvSource(GYMNASIUM_ID, "half_cheetah"), n_envs, 0, 0))


def _batched(n_envs: int) -> VecEnv:
    threads = choose_threads(n_envs, asked=None).physics
    return make_sb3(find_source(HALF_CHEETAH, shipped_project()), n_envs, 0, threads)


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    name: str
    n_envs: int
    target: float
    keywords: dict[str, Any] = field(default_factory=dict)
    ours: Callable[[int], VecEnv] = batched_copies
    theirs: Callable[[int], VecEnv] = gymnasium_copies


# Rollouts are as long as the turns are to be; the ratio of steps to minibatches is that of the hyperparameters.
CASES = (
    Case("PPO, SB3's defaults, 1 copy", 1, 5.0, {"n_steps": 1024}),
    Case("PPO, SB3's defaults, 8 copies", 8, 4.5, {"n_steps": 128}),
    Case("PPO, RL-Zoo's set, 1 copy", 1, 3.3, ZOO),
    Case("PPO, 64 copies, batch 512", 64, 3.8, MANY),
    Case("PPO, 256 copies, batch 512", 256, 3.8, MANY),
    Case("PPO, 64 copies, SB3's PPO on our VecEnv", 64, 2.0, MANY, theirs=batched_copies_for_others),
    Case("PPO, 256 copies, SB3's PPO on our VecEnv", 256, 2.0, MANY, theirs=batched_copies_for_others),
    Case("PPO, plain Gymnasium, 1 copy", 1, 4.0, {"n_steps": 1024}, ours=plain_copies),
)


class Side:
    """One of the two learners of a line.

    Args:
        model: The learner.
        env: What it learns on; closed with it.
    """

    def __init__(self, model: stable_baselines3.PPO, env: VecEnv) -> None:
        self.model = model
        self.model.set_logger(Logger(folder=None, output_formats=[]))
        self._callback = self.model._setup_learn(10**9, None, True, "", False)[1]
        self._env = env
        self.rollouts: list[float] = []
        """Seconds of each."""
        self.updates: list[float] = []

    @classmethod
    def make(cls, learner: type[stable_baselines3.PPO], env: VecEnv, keywords: dict[str, Any]) -> Side:
        """Return a learner of a class with some hyperparameters."""
        return cls(learner("MlpPolicy", env, seed=0, device="cpu", **keywords), env)

    @property
    def seconds(self) -> list[float]:
        """Of each turn."""
        return [rollout + update for rollout, update in zip(self.rollouts, self.updates, strict=True)]

    @property
    def steps(self) -> int:
        """Of one turn."""
        return self.model.n_steps * self.model.n_envs

    def collect(self) -> float:
        """Do one rollout and return its seconds."""
        model, started = self.model, time.perf_counter()
        model.collect_rollouts(self._env, self._callback, model.rollout_buffer, model.n_steps)
        return time.perf_counter() - started

    def take_turn(self) -> None:
        """Do one iteration and note the seconds of its rollout and its update."""
        self.rollouts.append(self.collect())
        started = time.perf_counter()
        self.model.train()
        self.updates.append(time.perf_counter() - started)

    def close(self) -> None:
        """Let the environments go."""
        self._env.close()


def iterate(ours: Side, theirs: Side, repeats: int) -> None:
    """Let both take turns; the first of each is not counted."""
    for turn in range(repeats + 1):
        for side in (ours, theirs):
            side.take_turn()
            if turn == 0:
                side.rollouts.clear()
                side.updates.clear()


def measure(case: Case, repeats: int) -> Figure:
    """Return a line; the first turn of each side is not counted."""
    with torch_threads(1):
        ours = Side.make(PPO, case.ours(case.n_envs), case.keywords)
        theirs = Side.make(stable_baselines3.PPO, case.theirs(case.n_envs), case.keywords)
        iterate(ours, theirs, repeats)
        floor = ppo_floor(ours.model, case.n_envs, usable_cpus())
    for side in (ours, theirs):
        side.close()
    medians = [side.steps / statistics.median(side.seconds) for side in (ours, theirs)]
    parts = {"rollout": (theirs.rollouts, ours.rollouts), "update": (theirs.updates, ours.updates)}
    return Figure(
        case.name,
        case.target,
        value=ratio(theirs.seconds, ours.seconds),
        best=min(theirs.seconds) / min(ours.seconds),
        ours=medians[0],
        theirs=medians[1],
        floor=floor,
        repeats=repeats,
        load=load(),
        note=", ".join(f"{name} {ratio(*pair):.1f}×" for name, pair in parts.items()),
        details={
            "rollout_ms": [1e3 * statistics.median(side.rollouts) for side in (ours, theirs)],
            "update_ms": [1e3 * statistics.median(side.updates) for side in (ours, theirs)],
        },
    )
