"""Where networks are trained, and why there."""

from __future__ import annotations

from itertools import pairwise

import torch

from workbench.specs import RunSpec

LARGE = 200_000_000
"""Multiplications of a network over a minibatch from which a GPU is worth its waiting times.

A GPU takes milliseconds for the hundreds of small operations of any update; a core does this much in about as long.
"""


def choose_device(spec: RunSpec) -> tuple[str, str]:
    """Return the device of torch that a spec means, and the reason in words."""
    if spec.device != "auto":
        return spec.device, "asked for"
    if not torch.cuda.is_available():
        return "cpu", "there is no GPU that torch can use"
    block = spec.hyperparameters
    weights = max(sum(one * other for one, other in pairwise(layers)) for layers in block.layers.values())
    if weights * block.batch_size < LARGE:
        return "cpu", "networks this small are faster there"
    return "cuda", "networks this large are faster there"
