"""Tells how long the stated returns take: by our recipes, and by stock Stable-Baselines3 with RL-Zoo's hyperparameters.

    python benchmarks/thresholds.py theirs half_cheetah [--minutes 20] [--seed 1]
    python benchmarks/thresholds.py write [--project DIR]

`theirs` trains Stable-Baselines3 on the same task, with the hyperparameters that RL-Zoo 2.9.2 has for it, one thread of
torch, until 20 greedy episodes reach the return, or the time is over; the time of these evaluations is not counted. It
keeps what it measured in `thresholds.json`. `write` puts that into `thresholds.md`, beside what the run folders of a
project tell: the greedy return of 100 episodes of each run's best checkpoint, which other episodes chose, and the time
the run took, its evaluations counted. `workbench results --evaluate` scores them first.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from sections import machine, replace_section, table

from workbench import durable, formatting

FILE = Path(__file__).resolve().with_name("thresholds.md")
MEASURED = FILE.with_suffix(".json")
TITLE = "# Returns that were to be reached, and the time it took\n"
HEADING = "On two cores"
EPISODES = 20
ZOO_STEPS = 100_000
"""Of its CartPole-v1, over which its schedules run."""
EVERY_S = 30.0
"""Seconds of training between two evaluations."""


@dataclass(frozen=True)
class Threshold:
    """A return to be reached, and how RL-Zoo trains the task."""

    value: float
    within: int
    """Steps."""
    algorithm: str
    n_envs: int = 1
    normalize: bool = False
    settings: dict[str, Any] = field(default_factory=dict)
    """Of the learner's constructor; `linear:START` is a schedule."""


THRESHOLDS = {
    # RL-Zoo's CartPole-v1; it has no task with a continuous force.
    "cart_pole": Threshold(
        1000.0,
        1_000_000,
        "ppo",
        n_envs=8,
        settings={
            "n_steps": 32,
            "batch_size": 256,
            "gae_lambda": 0.8,
            "gamma": 0.98,
            "n_epochs": 20,
            "ent_coef": 0.0,
            "learning_rate": "linear:0.001",
            "clip_range": "linear:0.2",
        },
    ),
    "ant_no_contact": Threshold(2000.0, 15_000_000, "ppo", normalize=True),
    # Its PPO is far from this return; its SAC has come near it.
    "half_cheetah": Threshold(9800.0, 50_000_000, "sac", settings={"learning_starts": 10_000}),
}


def main() -> int:
    """Measure or write; return 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("theirs", "write"))
    parser.add_argument("envs", nargs="*", metavar="ENV", help=f"of {', '.join(THRESHOLDS)}; all by default")
    parser.add_argument("--minutes", type=float, default=20.0, help="of training, at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--project", type=Path, help="whose runs are read (default: here)")
    asked = parser.parse_args()
    if asked.what == "theirs":
        for env in asked.envs or THRESHOLDS:
            figures = train_theirs(env, THRESHOLDS[env], asked.minutes, asked.seed)
            known = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
            durable.write_json(MEASURED, {**known, env: figures})
            print(json.dumps(figures, indent=2))
    else:
        replace_section(FILE, HEADING, told(asked.project), title=TITLE)
    return 0


def train_theirs(env: str, threshold: Threshold, minutes: float, seed: int) -> dict[str, Any]:
    """Train stock Stable-Baselines3 until the return is there or the time is over."""
    import stable_baselines3 as sb3
    import torch
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

    from workbench.bench.rivals import rival_of
    from workbench.catalog import discover
    from workbench.project import shipped_project
    from workbench.simulation import EnvSource
    from workbench.specs import schedule

    torch.set_num_threads(1)
    source = EnvSource.from_entry(discover(shipped_project()).find(env))
    rival = rival_of(source)
    copies: Any = make_vec_env(rival, threshold.n_envs, seed=seed)
    if threshold.normalize:
        copies = VecNormalize(copies)
    scheduled = {key: schedule(value) for key, value in threshold.settings.items() if isinstance(value, str)}
    settings = threshold.settings | scheduled
    model = getattr(sb3, threshold.algorithm.upper())("MlpPolicy", copies, seed=seed, device="cpu", **settings)
    judge = judging(source, copies, threshold, minutes * 60)
    # Schedules run over the steps that RL-Zoo trains for.
    model.learn(ZOO_STEPS if scheduled else threshold.within, judge)
    return {
        "task": rival.name,
        "algorithm": threshold.algorithm,
        "seed": seed,
        "seconds": round(judge.trained, 1),
        "steps": judge.num_timesteps,
        "reached": judge.reached,
        "best": round(max(judge.returns), 1),
        "limit_s": minutes * 60,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "machine": machine(),
        "versions": {"stable-baselines3": sb3.__version__, "torch": torch.__version__},
    }


def judging(source: Any, copies: Any, threshold: Threshold, limit_s: float) -> Any:
    """Return what stops a training of Stable-Baselines3, and counts its time without the evaluations."""
    import numpy as np
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.vec_env import VecNormalize

    from workbench.simulation import make_sb3

    class Judge(BaseCallback):
        """Evaluates now and then."""

        trained = 0.0
        reached = False

        def __init__(self) -> None:
            super().__init__()
            self.returns: list[float] = []

        def _on_training_start(self) -> None:
            self._since, self._due = time.perf_counter(), EVERY_S / 6

        def _on_step(self) -> bool:
            now = time.perf_counter()
            if self.trained + now - self._since < self._due:
                return True
            self.trained += now - self._since
            # The first minute is looked at closely, for some are quick.
            self._due = self.trained + (EVERY_S if self.trained > 2 * EVERY_S else EVERY_S / 6)
            judged: Any = make_sb3(source, EPISODES, 10_000, 1)
            if isinstance(copies, VecNormalize):
                judged = VecNormalize(judged, training=False, norm_reward=False)
                judged.obs_rms = copies.obs_rms
            mean = float(np.mean(evaluate_policy(self.model, judged, EPISODES, deterministic=True)[0]))
            judged.close()
            self.returns.append(mean)
            self.reached = mean >= threshold.value
            print(f"{self.trained:7.0f} s {self.num_timesteps:9d} steps {mean:9.1f}", file=sys.stderr)
            self._since = time.perf_counter()
            return not self.reached and self.trained < limit_s

    return Judge()


def told(project: Path | None) -> str:
    """Return the section of the file."""
    from workbench.catalog import discover
    from workbench.project import open_project
    from workbench.report.results import read_results
    from workbench.runs.directory import run_directories

    where = open_project(project)
    runs = [run for run in run_directories(where.runs) if run.best() is not None]
    results = read_results(runs, where.runs, discover(where))
    rivals = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    lines = [
        row
        for env, threshold in THRESHOLDS.items()
        for result in results.lines
        if result.environment == env and result.basis.is_greedy
        for row in rows_of(result, threshold)
    ]
    head = ("environment", "return", "within", "algorithm", "seed", "greedy, 100 episodes", "steps", "time", "reached")
    others = [
        (
            env,
            f"{THRESHOLDS[env].algorithm.upper()} on {rival['task']}",
            formatting.amount(rival["steps"]),
            formatting.duration(rival["seconds"]),
            "yes" if rival["reached"] else f"no: {formatting.number(rival['best'])} at most",
        )
        for env, rival in rivals.items()
    ]
    return (
        "Ours: a run for each line, trained as its recipe says but for what stands beside the algorithm. "
        f"{machine()}.\n\n{table(head, lines)}\n\n"
        "Stock Stable-Baselines3 with the hyperparameters of RL-Zoo, until "
        f"{EPISODES} greedy episodes reach the same return or the time that it was given is over:\n\n"
        f"{table(('environment', 'trained', 'steps', 'time', 'reached'), others)}\n\n"
        "`python benchmarks/thresholds.py write` makes these tables from the run folders, after "
        "`python benchmarks/thresholds.py theirs`."
    )


def rows_of(result: Any, threshold: Threshold) -> Iterator[tuple[object, ...]]:
    """Yield a row a run."""
    changed = ", ".join(f"{key} = {value}" for key, value in result.changed.items())
    for seed, value, steps, wall_s in zip(result.seeds, result.returns, result.steps, result.wall_s, strict=True):
        yield (
            result.environment,
            formatting.number(threshold.value),
            formatting.amount(threshold.within),
            f"{result.algorithm.upper()}{f' ({changed})' if changed else ''}",
            seed,
            formatting.number(value),
            formatting.amount(steps),
            formatting.duration(wall_s) + (f", {result.beside} run beside" if result.beside else ""),
            "yes" if value >= threshold.value and steps <= threshold.within else "no",
        )


if __name__ == "__main__":
    sys.exit(main())
