"""The learners of a recipe beside stock Stable-Baselines3: the same task, copies and hyperparameters, in turns.

Stable-Baselines3 steps Gymnasium's own environment where the task has one, else plain copies of ours, one after
another; both normalise where the recipe says so. PPO takes turns of an iteration, on one thread of torch; SAC and TD3
of some steps with their updates, ours on all CPUs, the stock ones on one thread and on all CPUs, whichever is faster.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import stable_baselines3
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from workbench.bench.document import load
from workbench.bench.figures import Figure
from workbench.bench.off_policy import go_on
from workbench.bench.on_policy import Side, iterate
from workbench.bench.rivals import Rival, rival_of
from workbench.bench.turns import ratio, take_turns, torch_threads
from workbench.catalog import Entry
from workbench.errors import ProblemsError
from workbench.runs.machine import usable_cpus
from workbench.simulation import EnvSource, make_sb3
from workbench.specs import RunSpec, compose
from workbench.specs.algorithms import Algorithm
from workbench.training.cpus import choose_threads
from workbench.training.model import make_model, normalize

STOCK: dict[Algorithm, type[BaseAlgorithm]] = {
    "ppo": stable_baselines3.PPO,
    "sac": stable_baselines3.SAC,
    "td3": stable_baselines3.TD3,
}
LEARNING_STARTS = 300
"""Steps before the first update of SAC and TD3, which a measurement does not wait long for."""
BUFFER = 20_000
"""Steps of replay, so that no memory is touched that a measurement does not fill."""
VECTOR_STEPS = 30
"""Steps of every copy in a turn of SAC and TD3."""
MOST_REPEATS = 5
"""A turn of stock Stable-Baselines3 can last seconds."""


@dataclass(frozen=True)
class RecipeCase:
    """One algorithm of one environment's recipe."""

    entry: Entry
    algorithm: Algorithm

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"{self.entry.name} {self.algorithm.upper()}, as its recipe says"

    def spec(self) -> RunSpec:
        """Return the run that the recipe describes.

        Raises:
            ProblemsError: It describes none.
        """
        overrides = [] if self.algorithm == "ppo" else [f"{self.algorithm}.learning_starts={LEARNING_STARTS}"]
        overrides += [] if self.algorithm == "ppo" else [f"{self.algorithm}.buffer_size={BUFFER}"]
        composed = compose(
            self.entry.env_id, algorithm=self.algorithm, recipe=self.entry.training, overrides=overrides, seed=0
        )
        if composed.spec is None:
            raise ProblemsError(f"the recipe of {self.entry.name}", composed.problems)
        return composed.spec


def cases(entries: list[Entry]) -> list[RecipeCase]:
    """Return a case for each algorithm that the recipes of some environments are written for."""
    return [
        RecipeCase(entry, algorithm)
        for entry in entries
        if entry.training is not None
        for algorithm in entry.training.algorithms
    ]


def measure_recipe(case: RecipeCase, repeats: int) -> Figure:
    """Compare the steps a second of the whole loop.

    Raises:
        WorkbenchError: The recipe or the environment has faults.
    """
    spec, source = case.spec(), EnvSource.from_entry(case.entry)
    rival = rival_of(source)
    repeats = min(repeats, MOST_REPEATS)
    measure = _measure_ppo if spec.algorithm == "ppo" else _measure_off_policy
    with torch_threads(1 if spec.algorithm == "ppo" else usable_cpus()):
        own_env, stock_env = _ours(source, spec), _theirs(rival, spec)
        try:
            ours = make_model(spec, own_env, seed=0)
            theirs = make_model(spec, stock_env, seed=0, classes=STOCK)
            mine, others, steps = measure(ours, own_env, theirs, stock_env, repeats)
        finally:
            own_env.close()
            stock_env.close()
    return Figure(
        case.name,
        value=ratio(others, mine),
        best=min(others) / min(mine),
        ours=steps / statistics.median(mine),
        theirs=steps / statistics.median(others),
        repeats=repeats,
        load=load(),
        note=f"{spec.n_envs} copies, theirs of {rival.name}",
        details={"environment": case.entry.name, "algorithm": case.algorithm, "rival": rival.name},
    )


def _measure_ppo(
    ours: Any, own_env: VecEnv, theirs: Any, stock_env: VecEnv, repeats: int
) -> tuple[list[float], list[float], int]:
    mine, others = Side(ours, own_env), Side(theirs, stock_env)
    iterate(mine, others, repeats)
    return mine.seconds, others.seconds, mine.steps


def _measure_off_policy(
    ours: Any, own_env: VecEnv, theirs: Any, _stock_env: VecEnv, repeats: int
) -> tuple[list[float], list[float], int]:
    steps = VECTOR_STEPS * own_env.num_envs
    for model in (ours, theirs):
        # Past the steps without updates.
        model.learn(LEARNING_STARTS + own_env.num_envs)
    threads = dict.fromkeys((1, usable_cpus()))
    *others, mine = take_turns([*(_on(count, go_on(theirs, steps)) for count in threads), go_on(ours, steps)], repeats)
    return mine, min(others, key=statistics.median), steps


def _on(threads: int, run: Callable[[], object]) -> Callable[[], None]:
    """Return a piece of work that is done on so many threads of torch."""

    def on_threads() -> None:
        with torch_threads(threads):
            run()

    return on_threads


def _ours(source: EnvSource, spec: RunSpec) -> VecEnv:
    threads = choose_threads(spec.n_envs, asked=None).physics
    return normalize(make_sb3(source, spec.n_envs, 0, threads), spec)


def _theirs(rival: Rival, spec: RunSpec) -> VecEnv:
    env = make_vec_env(rival, spec.n_envs, seed=0)
    if not (spec.normalize_observations or spec.normalize_rewards):
        return env
    gamma = spec.hyperparameters.gamma
    return VecNormalize(env, norm_obs=spec.normalize_observations, norm_reward=spec.normalize_rewards, gamma=gamma)
