"""Where networks are trained, and why there."""

from __future__ import annotations

from itertools import pairwise

import torch

from workbench.errors import RequestError
from workbench.specs import RunSpec

LARGE = 200_000_000
"""Multiplications of a network over a minibatch from which a GPU is worth its waiting times.

A GPU takes milliseconds for the hundreds of small operations of any update; a core does this much in about as long.
"""


def choose_device(spec: RunSpec) -> tuple[str, str]:
    """Return the device of torch that a spec means, and the reason in words.

    Raises:
        RequestError: It names a device that this machine does not have; Stable-Baselines3 would quietly take the CPU.
    """
    if spec.device != "auto":
        _require(spec.device)
        return spec.device, "asked for"
    if not torch.cuda.is_available():
        return "cpu", "there is no GPU that torch can use"
    block = spec.hyperparameters
    weights = max(sum(one * other for one, other in pairwise(layers)) for layers in block.layers.values())
    if weights * block.batch_size < LARGE:
        return "cpu", "networks this small are faster there"
    return "cuda", "networks this large are faster there"


def _require(device: str) -> None:
    kind, _, number = device.partition(":")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise RequestError("device is mps, and torch finds no GPU of Apple's here; use auto or cpu.")
    if kind == "cuda" and not torch.cuda.is_available():
        raise RequestError(f"device is {device}, and torch finds no CUDA GPU here; use auto or cpu.")
    if number and int(number) >= torch.cuda.device_count():
        last = torch.cuda.device_count() - 1
        raise RequestError(f"device is {device}, and the last CUDA GPU here is cuda:{last}.")
