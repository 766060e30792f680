"""The child that trains one run: learner, metrics, checkpoints, evaluation, stopping.

`python -m workbench.training RUN_DIR` reads `run.json` and writes everything else in the run directory;
`train(spec)` does the same in this process. Must not import textual or polyscope. The names below are imported when
first used, so that a process can set its threads before torch is loaded.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.training.inprocess import train
    from workbench.training.rl_trainer import RLTrainer
    from workbench.training.session import RunResult

_HOMES = {"RLTrainer": "rl_trainer", "RunResult": "session", "train": "inprocess"}

__all__ = ["RLTrainer", "RunResult", "train"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"workbench.training.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'workbench.training' has no attribute {name!r}")
