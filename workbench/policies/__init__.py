"""Any checkpoint, turned into something that acts: the checkpoint format, actors, built-in agents, evaluation.

Acts and evaluates on NumPy alone; torch is touched only where a Stable-Baselines3 policy is handed in. Must not
import textual, polyscope or `workbench.training`. The names below are imported when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.policies.actor import Actor, PolicyActor
    from workbench.policies.agents import AGENTS, control_rate, make_agent
    from workbench.policies.checkpoint import Checkpoint, read_checkpoint, read_record, write_checkpoint
    from workbench.policies.evaluation import Evaluation
    from workbench.policies.loading import load_policy
    from workbench.policies.playing import evaluate, run_episodes

_HOMES = {
    "AGENTS": "agents",
    "Actor": "actor",
    "Checkpoint": "checkpoint",
    "Evaluation": "evaluation",
    "PolicyActor": "actor",
    "control_rate": "agents",
    "evaluate": "playing",
    "load_policy": "loading",
    "make_agent": "agents",
    "read_checkpoint": "checkpoint",
    "read_record": "checkpoint",
    "run_episodes": "playing",
    "write_checkpoint": "checkpoint",
}

__all__ = [
    "AGENTS",
    "Actor",
    "Checkpoint",
    "Evaluation",
    "PolicyActor",
    "control_rate",
    "evaluate",
    "load_policy",
    "make_agent",
    "read_checkpoint",
    "read_record",
    "run_episodes",
    "write_checkpoint",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"workbench.policies.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'workbench.policies' has no attribute {name!r}")
