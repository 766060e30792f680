"""Numbers that training depends on and that went wrong: found, and named."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from stable_baselines3.common.base_class import BaseAlgorithm
from torch import Tensor
from torch.optim import Optimizer

from workbench.errors import WorkFailedError
from workbench.runs.anomalies import (
    NON_FINITE_ACTION,
    NON_FINITE_GRADIENT,
    NON_FINITE_LOSS,
    NON_FINITE_REWARD,
    NON_FINITE_WEIGHT,
    OBSERVATION_EXPLOSION,
)
from workbench.simulation.guard import NotFiniteError


class AnomalyError(WorkFailedError):
    """Something that training depends on went wrong; the message says what.

    Args:
        message: What, and when.
        kind: Which of the kinds it is.
        is_sound: Whether the learner can go on as it is: nothing that is not finite got into it.
        where: The same for programs: `term` or `layer` by name, `copies`, `value`, `baseline`, whatever there is.
    """

    def __init__(self, message: str, kind: str, *, is_sound: bool = False, **where: Any) -> None:
        super().__init__(message)
        self.kind = kind
        self.is_sound = is_sound
        self.where = where
        self.is_told = False
        """Whether the run's stream tells of it."""


def of_environment(error: NotFiniteError) -> AnomalyError:
    """Return the anomaly that a number of an environment is."""
    if error.term.startswith("the action"):
        kind = NON_FINITE_ACTION
    else:
        kind = NON_FINITE_REWARD if error.term.startswith("the reward") else OBSERVATION_EXPLOSION
    where = {name: getattr(error, name) for name in ("environment", "copy", "step", "term")}
    # As text, for no number of JSON is not finite.
    return AnomalyError(str(error).rstrip("."), kind, **where, copies=[error.copy], value=str(error.value))


def check_losses(model: BaseAlgorithm, steps: int) -> None:
    """Look at the losses of the last update.

    Raises:
        AnomalyError: One is not finite.
    """
    for name, value in model.logger.name_to_value.items():
        if name.startswith("train/") and "loss" in name and not math.isfinite(float(value)):
            message = f"{name} is {value} after {steps} steps"
            raise AnomalyError(message, NON_FINITE_LOSS, is_sound=True, term=name, value=str(value))


def check_gradients(model: BaseAlgorithm, steps: int) -> None:
    """Look at the last gradients.

    Raises:
        AnomalyError: Some are not finite.
    """
    gradients = {
        name: parameter.grad for name, parameter in model.policy.named_parameters() if parameter.grad is not None
    }
    _require("gradients", NON_FINITE_GRADIENT, gradients, steps)


def check_weights(model: BaseAlgorithm, steps: int) -> None:
    """Look at the weights.

    Raises:
        AnomalyError: Some are not finite.
    """
    weights = {name: parameter.detach() for name, parameter in model.policy.named_parameters()}
    _require("weights", NON_FINITE_WEIGHT, weights, steps)


def guard_updates(model: BaseAlgorithm) -> None:
    """Let no optimiser take a step with a gradient that is not finite; a second time does nothing.

    It then raises a `FloatingPointError` instead, as the updates that are written out do by themselves.
    """
    for optimizer in _optimizers(model):
        if _refuse not in optimizer._optimizer_step_pre_hooks.values():
            optimizer.register_step_pre_hook(_refuse)


def forget_gradients(model: BaseAlgorithm) -> None:
    """Clear all gradients, so that none is taken for one of a later update."""
    with torch.inference_mode():
        for parameter in model.policy.parameters():
            if parameter.grad is not None:
                parameter.grad.zero_()


def _optimizers(model: BaseAlgorithm) -> Iterator[Optimizer]:
    policy: Any = model.policy
    found = [getattr(part, "optimizer", None) for part in (policy, getattr(policy, "actor", None))]
    found += [getattr(getattr(policy, "critic", None), "optimizer", None), getattr(model, "ent_coef_optimizer", None)]
    yield from (optimizer for optimizer in found if isinstance(optimizer, Optimizer))


def _refuse(optimizer: Optimizer, *_: Any) -> None:
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None and not math.isfinite(float(parameter.grad.sum(dtype=torch.float64))):
                raise FloatingPointError("a gradient is not finite")


def _require(what: str, kind: str, tensors: Mapping[str, Tensor], steps: int) -> None:
    # One number that is not finite makes the sum so; large finite ones cannot in double precision.
    broken = [name for name, tensor in tensors.items() if not math.isfinite(float(tensor.sum(dtype=torch.float64)))]
    if broken:
        others = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
        raise AnomalyError(f"the {what} {broken[0]}{others} are not finite after {steps} steps", kind, layer=broken[0])
