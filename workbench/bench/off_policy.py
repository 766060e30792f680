"""SAC and TD3 beside Stable-Baselines3's: updates alone, and the whole loop on one half-cheetah."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
import stable_baselines3
from gymnasium import spaces
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import DummyVecEnv

from workbench.bench.document import load
from workbench.bench.figures import Figure
from workbench.bench.floors import HALF_CHEETAH, bare_speed, matrix_rate, off_policy_operations
from workbench.bench.on_policy import gymnasium_copy
from workbench.bench.turns import busy_neighbour, ratio, take_turns, torch_threads
from workbench.project import shipped_project
from workbench.runs.machine import usable_cpus
from workbench.simulation import make_sb3
from workbench.training.fast.sac import SAC
from workbench.training.fast.td3 import TD3
from workbench.training.inprocess import find_source

THEIRS: dict[str, Any] = {"SAC": stable_baselines3.SAC, "TD3": stable_baselines3.TD3}
OURS: dict[str, Any] = {"SAC": SAC, "TD3": TD3}

OBSERVATIONS, ACTIONS = 17, 6
"""Of the half-cheetah."""
LOOP_STEPS = 150
"""Steps of a turn of a whole loop."""


@dataclass(frozen=True)
class Case:
    """Updates that are compared, and the ratio to reach."""

    algorithm: str
    layers: tuple[int, ...]
    batch: int
    threads: int
    """Of both; 0 for what each does where nobody tells it."""
    target: float
    is_busy: bool = False
    """Whether another process keeps a CPU."""

    @property
    def name(self) -> str:
        """What the table calls it."""
        threads = f"{self.threads} thread{'' if self.threads == 1 else 's'}" if self.threads else "default"
        busy = " beside a busy process" if self.is_busy else ""
        return f"{self.algorithm} update, {list(self.layers)} batch {self.batch}, {threads}{busy}"


UPDATES = (
    Case("SAC", (256, 256), 256, 1, 1.7),
    Case("SAC", (256, 256), 256, 2, 2.0),
    Case("SAC", (64, 64), 256, 1, 4.0),
    Case("SAC", (256, 256), 64, 1, 2.8),
    Case("SAC", (256, 256), 256, 0, 4.0, is_busy=True),
    Case("TD3", (256, 256), 256, 1, 1.5),
    Case("TD3", (256, 256), 256, 2, 1.9),
    Case("TD3", (64, 64), 256, 1, 3.0),
)


class Spaces(gymnasium.Env[Any, Any]):
    """The spaces of the half-cheetah and nothing else."""

    observation_space = spaces.Box(-np.inf, np.inf, (OBSERVATIONS,), np.float64)
    action_space = spaces.Box(-1, 1, (ACTIONS,), np.float32)


def measure_updates(case: Case, repeats: int) -> Figure:
    """Time single updates, as the loop of one copy makes them."""
    models = [_filled(classes[case.algorithm], case) for classes in (THEIRS, OURS)]
    updates = 60 if max(case.layers) > 64 and case.batch > 64 else 200

    def train(model: Any) -> Callable[[], None]:
        def run() -> None:
            for _ in range(updates):
                model.train(1, case.batch)

        return run

    threads = case.threads or usable_cpus()
    with torch_threads(threads):
        floor = off_policy_operations(case.algorithm, OBSERVATIONS, ACTIONS, case.layers, case.batch)
        floor_ms = 1e3 * floor / matrix_rate(threads)
        with busy_neighbour() if case.is_busy else nullcontext():
            theirs, ours = take_turns([train(model) for model in models], repeats)
    milliseconds = [1e3 * statistics.median(each) / updates for each in (ours, theirs)]
    return Figure(
        case.name,
        case.target,
        value=ratio(theirs, ours),
        best=min(theirs) / min(ours),
        unit="ms",
        ours=milliseconds[0],
        theirs=milliseconds[1],
        # With a neighbour the CPUs are shared, and how is not known.
        floor=None if case.is_busy else floor_ms,
        repeats=repeats,
        load=load(),
    )


def measure_loops(algorithm: str, repeats: int) -> Figure:
    """Time steps of the whole loop on one copy, each fed as its users feed it, each on all CPUs."""
    keywords = {"policy_kwargs": {"net_arch": [256, 256]}, "learning_starts": 300, "buffer_size": 20_000, "seed": 0}
    theirs_env = DummyVecEnv([gymnasium_copy])
    theirs_model = THEIRS[algorithm]("MlpPolicy", theirs_env, device="cpu", **keywords)
    ours_model = OURS[algorithm]("MlpPolicy", our_copy(), device="cpu", **keywords)
    threads = usable_cpus()
    with torch_threads(threads):
        for model in (theirs_model, ours_model):
            model.learn(400)
        theirs, ours = take_turns([go_on(theirs_model), go_on(ours_model)], repeats)
        for model in (theirs_model, ours_model):
            model.get_env().close()
        floor = loop_floor(algorithm, threads)
    return Figure(
        loop_name(algorithm),
        value=ratio(theirs, ours),
        best=min(theirs) / min(ours),
        ours=LOOP_STEPS / statistics.median(ours),
        theirs=LOOP_STEPS / statistics.median(theirs),
        floor=floor,
        repeats=repeats,
        load=load(),
    )


def loop_name(algorithm: str) -> str:
    """Return what the table calls a whole loop."""
    return f"{algorithm} whole loop, 1 copy, default threads"


def our_copy() -> Any:
    """Return one half-cheetah of ours for a learner from replay."""
    return make_sb3(find_source(HALF_CHEETAH, shipped_project()), 1, seed=0, threads=1)


def go_on(model: Any, steps: int = LOOP_STEPS) -> Callable[[], object]:
    """Return a call that goes on learning for some steps."""
    return lambda: model.learn(steps, reset_num_timesteps=False)


def loop_floor(algorithm: str, threads: int) -> float:
    """Return the most steps a second with an update [256, 256] of a batch of 256 after each."""
    operations = off_policy_operations(algorithm, OBSERVATIONS, ACTIONS, (256, 256), 256)
    return 1 / (1 / bare_speed(1, 1) + operations / matrix_rate(threads))


def _filled(cls: Any, case: Case) -> Any:
    """Return a model with replay made up at random."""
    model = cls(
        "MlpPolicy",
        DummyVecEnv([Spaces]),
        policy_kwargs={"net_arch": list(case.layers)},
        batch_size=case.batch,
        buffer_size=20_000,
        seed=0,
        device="cpu",
    )
    model.set_logger(Logger(folder=None, output_formats=[]))
    model.workers = case.threads
    random = np.random.default_rng(0)
    for _ in range(5000):
        seen, then = random.normal(size=(2, 1, OBSERVATIONS))
        actions = random.uniform(-1, 1, (1, ACTIONS)).astype(np.float32)
        model.replay_buffer.add(seen, then, actions, random.normal(size=1), np.array([False]), [{}])
    return model
