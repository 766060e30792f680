"""Steps per second of PPO, ours over that of Stable-Baselines3, at the same hyperparameters on HalfCheetah.

Both sides of a line take turns, one iteration (a rollout and its update) each, in this process; the ratio is that of
the medians, `best` that of the fastest turns, which other work on the machine touches least. Stable-Baselines3 gets
its best case on a machine that others use: one thread of torch.

    python benchmarks/ppo.py [--short] [--only TEXT] [--json FILE]
"""

from __future__ import annotations

import os

# Before NumPy is loaded: its matrix products are small, and its threads would fight those of the simulation.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium
import stable_baselines3
import torch
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from workbench.project import shipped_project
from workbench.simulation import EnvSource, make_sb3
from workbench.training.fast.normalize import Normalizer
from workbench.training.fast.ppo import PPO
from workbench.training.inprocess import find_source

GYMNASIUM_ID = "HalfCheetah-v5"

ZOO = {
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
MANY = {"n_steps": 32, "batch_size": 512}


def gymnasium_copies(n_envs: int) -> VecEnv:
    """What users of Stable-Baselines3 have: copies of Gymnasium's environment, one after another."""
    return VecNormalize(make_vec_env(GYMNASIUM_ID, n_envs, seed=0))


def batched_copies(n_envs: int) -> VecEnv:
    """Our environment for our PPO."""
    return Normalizer(_batched(n_envs))


def batched_copies_for_others(n_envs: int) -> VecEnv:
    """Our environment as any `VecEnv`, under the normaliser of Stable-Baselines3."""
    return VecNormalize(_batched(n_envs))


def plain_copies(n_envs: int) -> VecEnv:
    """Gymnasium's environment, stepped in a loop, for our PPO."""
    return Normalizer(make_sb3(EnvSource(GYMNASIUM_ID, "half_cheetah"), n_envs, 0, 0))


def _batched(n_envs: int) -> Any:
    # Waking a second thread takes longer than a step of eight copies does on one.
    threads = 1 if n_envs <= 8 else 0
    return make_sb3(find_source("workbench/HalfCheetah-v0", shipped_project()), n_envs, 0, threads)


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
CASES = [
    Case("SB3's defaults, 1 copy", 1, 5.0, {"n_steps": 1024}),
    Case("SB3's defaults, 8 copies", 8, 4.5, {"n_steps": 128}),
    Case("RL-Zoo's set, 1 copy", 1, 3.3, ZOO),
    Case("64 copies, batch 512", 64, 3.8, MANY),
    Case("256 copies, batch 512", 256, 3.8, MANY),
    Case("64 copies, both on our VecEnv", 64, 2.0, MANY, theirs=batched_copies_for_others),
    Case("256 copies, both on our VecEnv", 256, 2.0, MANY, theirs=batched_copies_for_others),
    Case("plain Gymnasium, 1 copy", 1, 4.0, {"n_steps": 1024}, ours=plain_copies),
]


class Side:
    """One of the two learners of a line."""

    def __init__(self, cls: type[stable_baselines3.PPO], env: VecEnv, keywords: dict[str, Any]) -> None:
        self._model = cls("MlpPolicy", env, seed=0, device="cpu", **keywords)
        self._model.set_logger(Logger(folder=None, output_formats=[]))
        self._callback = self._model._setup_learn(10**9, None, True, "", False)[1]
        self.seconds: list[tuple[float, float]] = []

    def take_turn(self) -> None:
        """Do one iteration and note the seconds of its rollout and its update."""
        model, started = self._model, time.perf_counter()
        assert model.env is not None
        model.collect_rollouts(model.env, self._callback, model.rollout_buffer, model.n_steps)
        collected = time.perf_counter()
        model.train()
        self.seconds.append((collected - started, time.perf_counter() - collected))

    def figures(self) -> dict[str, float]:
        """Return medians: steps a second, and the milliseconds of a rollout and an update."""
        steps = self._model.n_steps * self._model.n_envs
        return {
            "steps_per_second": steps / statistics.median(map(sum, self.seconds)),
            "best_steps_per_second": steps / min(map(sum, self.seconds)),
            "rollout_ms": 1e3 * statistics.median(rollout for rollout, _ in self.seconds),
            "update_ms": 1e3 * statistics.median(update for _, update in self.seconds),
        }

    def close(self) -> None:
        """Let the environments go."""
        assert self._model.env is not None
        self._model.env.close()


def measure(case: Case, repeats: int) -> dict[str, Any]:
    """Return the figures of a line; the first turn of each side is not counted."""
    sides = (
        Side(PPO, case.ours(case.n_envs), case.keywords),
        Side(stable_baselines3.PPO, case.theirs(case.n_envs), case.keywords),
    )
    for turn in range(repeats + 1):
        for side in sides:
            side.take_turn()
            if turn == 0:
                side.seconds.clear()
    ours, theirs = (side.figures() for side in sides)
    for side in sides:
        side.close()
    ratio, best = (ours[key] / theirs[key] for key in ("steps_per_second", "best_steps_per_second"))
    return {"name": case.name, "ratio": ratio, "best": best, "target": case.target, "ours": ours, "theirs": theirs}


def line(row: dict[str, Any]) -> str:
    """Return a row of the table."""
    cells = [f"{row['name']:<32}"]
    cells += [f"{row[side]['steps_per_second']:>8,.0f}" for side in ("ours", "theirs")]
    cells += [f"{row['ratio']:>5.2f}", f"{row['best']:>5.2f}", f"{row['target']:>6.1f}"]
    cells += [f"{row['theirs'][part] / row['ours'][part]:>7.2f}" for part in ("rollout_ms", "update_ms")]
    return "  ".join(cells)


def main() -> int:
    """Measure every line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="3 turns a side instead of 9")
    parser.add_argument("--only", default="", metavar="TEXT", help="only lines with this in their name")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    libraries = {name: version(name) for name in ("stable-baselines3", "torch", "numpy", "mujoco", "gymnasium")}
    print(f"{len(os.sched_getaffinity(0))} CPUs, load {os.getloadavg()[0]:.1f}; {libraries}")
    print(f"{'':<32}      ours       SB3  ratio   best  target  rollout  update", flush=True)
    rows = []
    for case in CASES:
        if arguments.only in case.name:
            rows.append(measure(case, 3 if arguments.short else 9))
            print(line(rows[-1]), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps({"versions": libraries, "rows": rows}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    gymnasium.logger.min_level = gymnasium.logger.ERROR
    raise SystemExit(main())
