"""Numbers that training depends on and that are not finite: found, and named."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from torch import Tensor


class AnomalyError(Exception):
    """A number that training depends on is not finite; the message says which.

    Args:
        message: Which, and when.
        where: The same for programs: `term` or `layer`, by name.
    """

    def __init__(self, message: str, **where: str) -> None:
        super().__init__(message)
        self.where = where


def check_losses(model: BaseAlgorithm, steps: int) -> None:
    """Look at the losses of the last update.

    Raises:
        AnomalyError: One is not finite.
    """
    for name, value in model.logger.name_to_value.items():
        if name.startswith("train/") and "loss" in name and not math.isfinite(float(value)):
            raise AnomalyError(f"{name} is {value} after {steps} steps", term=name)


def check_gradients(model: BaseAlgorithm, steps: int) -> None:
    """Look at the last gradients.

    Raises:
        AnomalyError: Some are not finite.
    """
    gradients = {
        name: parameter.grad for name, parameter in model.policy.named_parameters() if parameter.grad is not None
    }
    _require("gradients", gradients, steps)


def check_weights(model: BaseAlgorithm, steps: int) -> None:
    """Look at the weights.

    Raises:
        AnomalyError: Some are not finite.
    """
    _require("weights", {name: parameter.detach() for name, parameter in model.policy.named_parameters()}, steps)


def _require(what: str, tensors: Mapping[str, Tensor], steps: int) -> None:
    # One number that is not finite makes the sum so; large finite ones cannot in double precision.
    broken = [name for name, tensor in tensors.items() if not math.isfinite(float(tensor.sum(dtype=torch.float64)))]
    if broken:
        others = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
        raise AnomalyError(f"the {what} {broken[0]}{others} are not finite after {steps} steps", layer=broken[0])
