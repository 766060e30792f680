"""Runs whose trainers are fakes, and the end of everything they started."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from workbench.runs.directory import run_directories
from workbench.runs.launch import Launch
from workbench.runs.lock import supervisor_of
from workbench.runs.state import observe
from workbench.runs.supervisor import SLOTS_VARIABLE, TRAINER_VARIABLE

FAKE = Path(__file__).with_name("fake_trainer.py")


def fake_launch(*tags: str, short_name: str = "cart_pole", seed: int = 1, total_steps: int = 500) -> Launch:
    spec = {"algorithm": "ppo", "env_id": "workbench/CartPole-v0", "seed": seed, "tags": list(tags)}
    spec["total_steps"] = total_steps
    dumped = SimpleNamespace(algorithm="ppo", model_dump=lambda mode: spec)
    return Launch(dumped, {"name": short_name}, ["workbench", "train", short_name], short_name)  # type: ignore[arg-type]


def until(condition: Callable[[], Any], timeout_s: float = 15.0) -> Any:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"not within {timeout_s} s")


def with_fakes(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let runs below `root` be trained by fakes; whatever still lives at the end is ended."""
    monkeypatch.setenv(TRAINER_VARIABLE, shlex.join([sys.executable, str(FAKE)]))
    monkeypatch.setenv(SLOTS_VARIABLE, "2")
    yield root
    supervisor = supervisor_of(root)
    if supervisor is not None:
        supervisor.send_signal(signal.SIGKILL)
    for run in run_directories(root):
        process = observe(run).process
        if process is not None and process.is_alive():
            assert process.pid != os.getpid()
            process.send_signal(signal.SIGKILL)
