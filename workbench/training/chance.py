"""The generators of random numbers that a process shares, as plain data."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch


def begin(seed: int) -> None:
    """Let all of them begin at a seed."""
    torch.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)


def take() -> dict[str, Any]:
    """Return the states of torch's, NumPy's and Python's generators."""
    kind, keys, *rest = np.random.get_state()
    version, numbers, gauss = random.getstate()
    return {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "numpy": [kind, keys, *rest],
        "python": [version, list(numbers), gauss],
    }


def put_back(state: dict[str, Any]) -> None:
    """Let all of them draw on from where they were."""
    torch.set_rng_state(state["torch"])
    if len(state["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(state["cuda"])
    kind, keys, *rest = state["numpy"]
    np.random.set_state((kind, keys.numpy(), *rest))
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers), gauss))
