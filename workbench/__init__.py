"""A terminal workbench for reinforcement learning on MuJoCo and Gymnasium.

The names below are imported when first used: `import workbench` itself loads no heavy library.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.policies import evaluate, load_policy
    from workbench.policies.export import export
    from workbench.simulation import register_envs
    from workbench.training import RLTrainer, train

_HOMES = {
    "register_envs": "workbench.simulation",
    "train": "workbench.training",
    "load_policy": "workbench.policies",
    "evaluate": "workbench.policies",
    "export": "workbench.policies.export",
    "RLTrainer": "workbench.training",
}

__all__ = ["RLTrainer", "evaluate", "export", "load_policy", "register_envs", "train"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'workbench' has no attribute {name!r}")
