"""The reach example of strands-robots' page on RL training, by PPO and by SAC: train, read back, evaluate, act.

    python docs/examples/strands.py

It takes a minute; WORKBENCH_EXAMPLE_STEPS makes it shorter.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

import workbench
from workbench.policies import read_record
from workbench.project import Project

# This folder is a project: its envs/ holds reach_env.py, with the reward term and the success of strands' example.
project = Project(Path(__file__).resolve().parent)
steps = int(os.environ.get("WORKBENCH_EXAMPLE_STEPS", "20000"))

settings = {
    "PPO": {"n_envs": 8, "ppo.n_steps": 64, "ppo.batch_size": 128, "ppo.learning_rate": 1e-3},
    "SAC": {
        "n_envs": 8,
        "sac.learning_starts": 500,
        "sac.gradient_steps": 4,
        "sac.ent_coef": 0.01,
        "sac.net_arch": [64, 64],
    },
}

for algorithm, fields in settings.items():
    with workbench.RLTrainer(
        "reach",
        algorithm,
        seed=0,
        log_dir=tempfile.mkdtemp(),
        settings={"normalize_observations": True, "eval_episodes": 5, **fields},
        project=project,
    ) as trainer:
        result = trainer.train(total_steps=steps)
        print(algorithm, result["state"], result["steps"], "steps, best evaluation", result["best_reward"])

        # What strands' policy_meta.json says, and what it lacks: the action map and the control period.
        record = read_record(result["latest"])
        print(record.algorithm, record.observation_names, record.action_names, record.control_period_s)

        scores = trainer.evaluate(num_episodes=20)
        print(f"return {scores.mean:.1f} ± {scores.std:.1f}, endings {scores.endings}")

        # What create_policy("rl") drives a robot with; normaliser and action map are in it.
        actor = workbench.load_policy(result["latest"])
        print("commands", np.round(actor.act(np.zeros((1, 6)))[0], 3))
