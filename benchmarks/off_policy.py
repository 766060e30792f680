"""SAC and TD3 beside Stable-Baselines3's: updates alone, and the whole loop on one half-cheetah.

Both take turns in one process; the table has the median of each, and the median of the ratios of neighbours.

    python benchmarks/off_policy.py            # a few minutes
    python benchmarks/off_policy.py --short    # under a minute, on the updates alone
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import stable_baselines3
import torch
from gymnasium import spaces
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv

from workbench.project import shipped_project
from workbench.simulation import make_sb3
from workbench.training.fast.sac import SAC
from workbench.training.fast.td3 import TD3
from workbench.training.inprocess import find_source

THEIRS: dict[str, Any] = {"SAC": stable_baselines3.SAC, "TD3": stable_baselines3.TD3}
OURS: dict[str, Any] = {"SAC": SAC, "TD3": TD3}

OBSERVATIONS, ACTIONS = 17, 6
"""Of the half-cheetah."""


@dataclass(frozen=True)
class Case:
    """What is compared, and the ratio to reach."""

    algorithm: str
    layers: tuple[int, ...]
    batch: int
    threads: int
    target: float

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"{self.algorithm} update {list(self.layers)} batch {self.batch}, {self.threads} thread(s)"


@dataclass(frozen=True)
class Result:
    """Seconds of each, and how they compare."""

    name: str
    theirs_ms: float
    ours_ms: float
    ratio: float
    best_ratio: float
    target: float | None


UPDATES = [
    Case("SAC", (256, 256), 256, 1, 1.7),
    Case("SAC", (256, 256), 256, 2, 2.0),
    Case("SAC", (64, 64), 256, 1, 4.0),
    Case("SAC", (256, 256), 64, 1, 2.8),
    Case("TD3", (256, 256), 256, 1, 1.5),
    Case("TD3", (256, 256), 256, 2, 1.9),
    Case("TD3", (64, 64), 256, 1, 3.0),
]


class Spaces(gymnasium.Env[Any, Any]):
    """The spaces of the half-cheetah and nothing else."""

    observation_space = spaces.Box(-np.inf, np.inf, (OBSERVATIONS,), np.float64)
    action_space = spaces.Box(-1, 1, (ACTIONS,), np.float32)


def main() -> None:
    """Measure, print the table and write it down where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="fewer repeats, and no whole loops")
    parser.add_argument("--json", type=Path, help="write the results to this file too")
    arguments = parser.parse_args()
    repeats = 5 if arguments.short else 9
    print(f"torch {torch.__version__}, load {os.getloadavg()[0]:.1f}, medians of {repeats}")
    print(f"{'':52}{'theirs':>10}{'ours':>10}{'ratio':>8}{'best':>8}{'target':>8}")
    results = [show(compare_updates(case, repeats)) for case in UPDATES]
    if not arguments.short:
        results += [show(compare_loops(name, 5)) for name in THEIRS]
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(result) for result in results], indent=2) + "\n")


def compare_updates(case: Case, repeats: int) -> Result:
    """Time single updates, as the loop of one copy makes them."""
    models = [filled(classes[case.algorithm], case) for classes in (THEIRS, OURS)]
    updates = 12 if max(case.layers) > 64 and case.batch > 64 else 40

    def train(model: Any) -> Callable[[], None]:
        def run() -> None:
            for _ in range(updates):
                model.train(1, case.batch)

        return run

    seconds = take_turns([train(model) for model in models], repeats, case.threads)
    return judge(case.name, seconds, updates, case.target)


def compare_loops(algorithm: str, repeats: int) -> Result:
    """Time steps of the whole loop on one copy, each fed as its users feed it."""
    keywords = {"policy_kwargs": {"net_arch": [256, 256]}, "learning_starts": 300, "buffer_size": 20_000, "seed": 0}
    ours_env = make_sb3(find_source("workbench/HalfCheetah-v0", shipped_project()), 1, seed=0)
    theirs_env = DummyVecEnv([lambda: gymnasium.make("HalfCheetah-v5")])
    models = [
        classes[algorithm]("MlpPolicy", env, device="cpu", **keywords)
        for classes, env in ((THEIRS, theirs_env), (OURS, ours_env))
    ]
    for model in models:
        model.workers = 1
        model.learn(400)
    steps = 150

    def go_on(model: Any) -> Callable[[], None]:
        return lambda: model.learn(steps, reset_num_timesteps=False)

    seconds = take_turns([go_on(model) for model in models], repeats, threads=1)
    return judge(f"{algorithm} whole loop, half-cheetah, 1 copy, 1 thread", seconds, steps, None)


def filled(cls: Any, case: Case) -> Any:
    """Return a model with replay made up at random."""
    policy = {"net_arch": list(case.layers)}
    env = DummyVecEnv([Spaces])
    model = cls("MlpPolicy", env, policy_kwargs=policy, batch_size=case.batch, buffer_size=20_000, seed=0, device="cpu")
    model.set_logger(Logger(folder=None, output_formats=[]))
    model.workers = case.threads
    random = np.random.default_rng(0)
    for _ in range(5000):
        seen, then = random.normal(size=(2, 1, OBSERVATIONS))
        actions = random.uniform(-1, 1, (1, ACTIONS)).astype(np.float32)
        model.replay_buffer.add(seen, then, actions, random.normal(size=1), np.array([False]), [{}])
    return model


def take_turns(runs: list[Callable[[], None]], repeats: int, threads: int) -> list[list[float]]:
    """Return the seconds of each, run one after another as often as asked."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    seconds: list[list[float]] = [[] for _ in runs]
    for repeat in range(repeats + 1):
        for run, kept in zip(runs, seconds, strict=True):
            started = time.perf_counter()
            run()
            if repeat:
                kept.append(time.perf_counter() - started)
    torch.set_num_threads(before)
    return seconds


def judge(name: str, seconds: list[list[float]], count: int, target: float | None) -> Result:
    """Return the medians of what took turns, per one of `count`."""
    theirs, ours = seconds
    milliseconds = [1000 * statistics.median(each) / count for each in seconds]
    ratio = statistics.median(one / other for one, other in zip(theirs, ours, strict=True))
    return Result(name, milliseconds[0], milliseconds[1], ratio, min(theirs) / min(ours), target)


def show(result: Result) -> Result:
    """Print a line of the table."""
    times = f"{result.theirs_ms:8.2f}ms{result.ours_ms:8.2f}ms"
    target = "" if result.target is None else f"{result.target:7.2f}x"
    print(f"{result.name:52}{times}{result.ratio:7.2f}x{result.best_ratio:7.2f}x{target}", flush=True)
    return result


if __name__ == "__main__":
    main()
