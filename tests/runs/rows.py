"""Rows of the list of runs, made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.runs.digest import BestEvaluation
from workbench.runs.directory import RunDirectory
from workbench.runs.states import RunState
from workbench.runs.summary import RunSummary


def a_row(
    short_id: str = "7f3a", env: str = "ant_no_contact", *, best: tuple[float, float] | None = None, **fields: Any
) -> RunSummary:
    algorithm = fields.get("algorithm", "ppo")
    name = f"{env}_20261128-102600_{short_id}"
    scored = None if best is None else BestEvaluation(best[0], best[1], 100, best[0], 100)
    told: dict[str, Any] = {
        "run": RunDirectory(Path("/runs") / algorithm.upper() / name),
        "state": RunState.RUNNING,
        "reason": "",
        "algorithm": algorithm,
        "env_id": f"workbench/{''.join(word.capitalize() for word in env.split('_'))}-v0",
        "env_name": env,
        "seed": 1,
        "steps": 0,
        "total_steps": 15_000_000,
        "iteration": 0,
        "progress": None,
        "steps_per_s": None,
        "eta_s": None,
        "eta_is_bound": False,
        "last_return": None,
        "best": scored,
        "trend": (),
        "created": 0.0,
        "age_s": 0.0,
        "active_s": 0.0,
        "changed": 0.0,
        "tags": (),
        "note": "",
        "group": None,
        "parent": None,
        "start_steps": 0,
        "anomalies": 0,
        "silent_s": None,
        "is_stalled": False,
        "last_words": (),
        "pid": None,
        "host": "lab-arm",
        "problem": "",
    }
    return RunSummary(**{**told, **fields})
