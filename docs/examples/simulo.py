"""simulo's RLTrainer page, here on cart_pole: train, save, export, close; load, go on; play what was exported.

    python docs/examples/simulo.py

It writes logs/ and checkpoints/ into the current folder, and takes less than a minute; WORKBENCH_EXAMPLE_ITERATIONS
makes it shorter.
"""

from __future__ import annotations

import os

import workbench
from workbench.policies import run_episodes
from workbench.project import open_project
from workbench.training.inprocess import find_source

iterations = int(os.environ.get("WORKBENCH_EXAMPLE_ITERATIONS", "10"))

trainer = workbench.RLTrainer("cart_pole", algorithm="PPO", seed=42, log_dir="logs/cart_pole")
stats = trainer.train(max_iterations=iterations)
print("iterations", stats["iterations"], "best reward", stats["best_reward"])
trainer.save("checkpoints/cart_pole_final")  # a checkpoint: load() and every workbench command take it
trainer.export_policy("checkpoints/cart_pole_policy.pt")  # TorchScript: no workbench and no trainer at inference
trainer.close()

# Go on from it: the iterations are a total, those of the checkpoint included.
with workbench.RLTrainer("cart_pole", algorithm="PPO", seed=42, log_dir="logs/cart_pole") as trainer:
    trainer.load("checkpoints/cart_pole_final")
    stats = trainer.train(max_iterations=2 * iterations, checkpoint_every=iterations, keep_last=2)
    print("iterations", stats["iterations"], "best reward", stats["best_reward"])
    print("best and newest checkpoint:", stats["best"].name, stats["latest"].name)

# Play the exported policy. `workbench play checkpoints/cart_pole_policy.pt --env cart_pole` opens a window.
player = workbench.load_policy("checkpoints/cart_pole_policy.pt", environment="cart_pole")
scores = run_episodes(player, find_source("workbench/CartPole-v0", open_project()), episodes=5)
for episode, (total, length, reason) in enumerate(zip(scores.returns, scores.lengths, scores.reasons, strict=True)):
    print(f"episode {episode}: return {total:.0f} in {length} steps, {reason}")
