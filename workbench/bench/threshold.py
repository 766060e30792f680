"""Seconds until half-cheetahs earn 3000 in training: our recipe, and RL-Zoo's hyperparameters in Stable-Baselines3."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import stable_baselines3
from stable_baselines3.common.callbacks import BaseCallback

from workbench.bench.document import load
from workbench.bench.figures import Figure
from workbench.bench.on_policy import ZOO, gymnasium_copies
from workbench.bench.processes import make_run, train
from workbench.bench.turns import torch_threads
from workbench.runs import EventTail

RETURN = 3000.0
"""The mean over the last hundred whole episodes that counts as learned."""
NAME = f"half_cheetah to a training mean of {RETURN:.0f}"
OURS_LIMIT_S = 120.0
THEIRS_LIMIT_S = 900.0


def measure_threshold(seeds: tuple[int, ...], theirs: bool) -> list[Figure]:
    """Train our recipe with each seed, and Stable-Baselines3 once.

    Args:
        seeds: Of our runs; RL-Zoo's set is trained with the first.
        theirs: Whether Stable-Baselines3 is trained too, which takes minutes.
    """
    seconds = [_our_seconds(seed) for seed in seeds]
    slowest = max(seconds)
    told = ", ".join(f"{one:.1f}" if one < OURS_LIMIT_S else "not reached" for one in seconds)
    every = Figure(
        f"{NAME}, slowest seed",
        30.0,
        at_most=True,
        value=slowest,
        value_unit="s",
        unit="s",
        ours=slowest,
        repeats=len(seeds),
        load=load(),
        note=f"seconds of each seed: {told}",
        details={"seconds": dict(zip(map(str, seeds), seconds, strict=True))},
    )
    name = f"{NAME}, over RL-Zoo's set in SB3"
    if not theirs:
        return [every, Figure(name, 10.0, note="not measured: it takes Stable-Baselines3 minutes; leave out --short")]
    needed, reached = _their_seconds(seeds[0])
    median = statistics.median(seconds)
    note = f"median of ours; theirs {'is' if reached else 'gave up: over'} {needed:.0f} s, seed {seeds[0]}"
    over = Figure(
        name,
        10.0,
        value=needed / median,
        unit="s",
        ours=median,
        theirs=needed,
        repeats=len(seeds),
        load=load(),
        note=note,
    )
    return [every, over]


def _our_seconds(seed: int) -> float:
    """Return the seconds of training, checkpoints and evaluations among them, in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="workbench-bench-") as folder:
        overrides = (f"stop_criteria.episode_return_mean={RETURN}", f"stop_criteria.wall_time_s={OURS_LIMIT_S}")
        run = make_run(Path(folder), "ppo", *overrides, seed=seed)
        train(run)
        metrics = [event for event in EventTail(run.events_path).poll() if event["kind"] == "metrics"]
        seconds = [float(event["wall_s"]) for event in metrics if _is_there(event)]
    return seconds[0] if seconds else OURS_LIMIT_S


def _is_there(event: dict[str, Any]) -> bool:
    mean = event["values"].get("rollout/ep_rew_mean")
    return mean is not None and mean >= RETURN and event["episodes"] >= 100


def _their_seconds(seed: int) -> tuple[float, bool]:
    """Return the seconds of Stable-Baselines3, and whether it got there within the limit."""
    with torch_threads(1):
        env = gymnasium_copies(1)
        model = stable_baselines3.PPO("MlpPolicy", env, seed=seed, device="cpu", **ZOO)
        watch = _Watch()
        model.learn(10**7, watch)
        env.close()
    return watch.seconds, watch.reached


class _Watch(BaseCallback):
    """Ends training when the mean return is there, or the time is over."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0
        self.reached = False
        self._began = 0.0

    def _on_training_start(self) -> None:
        self._began = time.perf_counter()

    def _on_rollout_end(self) -> None:
        returns = [info["r"] for info in self.model.ep_info_buffer or ()]
        self.reached = len(returns) == 100 and float(np.mean(returns)) >= RETURN

    def _on_step(self) -> bool:
        self.seconds = time.perf_counter() - self._began
        return not self.reached and self.seconds < THEIRS_LIMIT_S
