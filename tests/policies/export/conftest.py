"""Checkpoints to export: random weights of Stable-Baselines3, and a run that was really trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.policies.conftest import LOPSIDED, Learnt
from tests.training.conftest import make_run, train_here
from workbench.runs import RunDirectory

REACH = (LOPSIDED.high - LOPSIDED.low) / 2


def without_normalizer(learnt: Learnt) -> Learnt:
    """Let a policy read its observations as they are."""
    learnt.normalizer.norm_obs = False
    learnt.fields["normalizer"] = None
    del learnt.tensors["normalizer.mean"], learnt.tensors["normalizer.var"]
    return learnt


def observations(count: int, size: int = 5) -> Any:
    """Rows of what a policy may meet, far out ones too, that the normaliser cuts."""
    return np.random.default_rng(0).normal(0, 12, (count, size)).astype(np.float32)


@pytest.fixture(scope="session")
def cart_pole_run(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    """A run of a second, with a normaliser."""
    root: Path = tmp_path_factory.mktemp("exported_run")
    run = make_run(root, "ppo", normalize_observations=True, eval_episodes=1, total_steps=200)
    train_here(run)
    return run
