"""Run directories for tiny runs, in this process and in children."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.project import shipped_project
from workbench.runs import EventTail, RunDirectory
from workbench.simulation import EnvSource
from workbench.specs import RunSpec
from workbench.training import RunResult
from workbench.training.log import RunLog
from workbench.training.session import Session

ROOT = Path(__file__).resolve().parents[2]
ENVS = shipped_project().envs

CART_POLE = EnvSource("workbench/CartPole-v0", "cart_pole", str(ENVS / "cart_pole_env.py"), "CartPoleEnv")
HALF_CHEETAH = EnvSource(
    "workbench/HalfCheetah-v0",
    "half_cheetah",
    str(ENVS / "half_cheetah_env.py"),
    "HalfCheetahEnv",
    {"episode_steps": 20},
)

TINY: dict[str, dict[str, Any]] = {
    "ppo": {"n_envs": 4, "ppo": {"n_steps": 25, "batch_size": 50, "n_epochs": 2, "net_arch": (8,)}},
    "sac": {"n_envs": 4, "sac": {"learning_starts": 100, "batch_size": 32, "buffer_size": 1000, "net_arch": (8,)}},
    "td3": {
        "n_envs": 4,
        "td3": {
            "learning_starts": 100,
            "batch_size": 32,
            "buffer_size": 1000,
            "net_arch": (8,),
            "action_noise_std": 0.1,
        },
    },
}
"""Smallest settings that still exercise everything; 500 steps take a second."""


def tiny_spec(algorithm: str, source: EnvSource = CART_POLE, **fields: Any) -> RunSpec:
    defaults = {"total_steps": 500, "seed": 3, "eval_episodes": 3, "threads": 1}
    return RunSpec(env_id=source.env_id, algorithm=algorithm, **{**defaults, **TINY[algorithm], **fields})


def make_run(folder: Path, algorithm: str, source: EnvSource = CART_POLE, **fields: Any) -> RunDirectory:
    spec = tiny_spec(algorithm, source, **fields)
    record = {
        "format": 1,
        "spec": spec.model_dump(mode="json"),
        "environment": source.to_json(),
        "versions": {"python": "3"},
    }
    return RunDirectory.create(folder, algorithm, source.name.lower(), files={"run.json": record})


def train_here(run: RunDirectory) -> RunResult:
    with RunLog(run.log_path) as log:
        return Session(run, log).run()


def events(run: RunDirectory, kind: str | None = None) -> list[dict[str, Any]]:
    return [event for event in EventTail(run.events_path).poll() if kind in (None, event["kind"])]


def metrics(run: RunDirectory) -> list[dict[str, Any]]:
    return [event["values"] for event in events(run, "metrics")]


def start_child(run: RunDirectory) -> subprocess.Popen[bytes]:
    """Start the trainer as the supervisor does: its own session, its output in the log."""
    with run.log_path.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "workbench.training", str(run.path)],
            cwd=ROOT,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )


def wait_for(condition: Callable[[], Any], timeout_s: float = 90.0) -> Any:
    deadline = time.monotonic() + timeout_s
    while not (found := condition()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
    return found


@pytest.fixture(scope="session")
def whole_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunDirectory]:
    """One run of each algorithm, trained to its end by children at the same time."""
    root = tmp_path_factory.mktemp("runs")
    runs = {
        algorithm: make_run(
            root,
            algorithm,
            HALF_CHEETAH,
            normalize_observations=True,
            normalize_rewards=algorithm == "ppo",
            checkpoint_every_steps=200,
        )
        for algorithm in TINY
    }
    children = {algorithm: start_child(run) for algorithm, run in runs.items()}
    for algorithm, child in children.items():
        assert child.wait(timeout=120) == 0, runs[algorithm].log_path.read_text()
    return runs
