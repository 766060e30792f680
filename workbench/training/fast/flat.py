"""Parameters, gradients and the moments of Adam as views of flat buffers.

One optimiser step is then one kernel over all parameters, and neighbouring parameters are one matrix: the first layers
of two networks, `w1` (h, d) and `w2` (h, d), are `flat.view(flat.values, [w1, w2], 2 * h, d)`. Modules and optimisers
stay what they were for everybody else: `state_dict`, `save`, `load`, `predict` and a plain `optimizer.step()` work on
the same numbers.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.optim import Adam, Optimizer


class FlatParameters:
    """Parameters in one flat float32 buffer, and what their optimisers keep of them in others.

    The buffers are never replaced: views of them taken once stay valid. What replaces a parameter's own tensor or its
    moments (loading a file, for one) breaks the tie; `bind` mends it.

    Args:
        parameters: Leaf tensors on the CPU, in the order of the buffer; those that are to be one matrix side by side.
        optimizers: That know all of `parameters` between them and no others; none for parameters that nothing steps,
            such as those of a target network.
    """

    values: Tensor
    """All parameters, flat."""
    grads: Tensor
    """All gradients, flat; written by whoever computes them, read by `step`."""
    in_step: bool
    """Whether every parameter had had as many steps at the last `bind`, as `step` takes for granted."""

    def __init__(self, parameters: Sequence[Tensor], *optimizers: Optimizer) -> None:
        self._parameters = list(parameters)
        self._optimizers = [optimizer for optimizer in optimizers if isinstance(optimizer, Adam)]
        self._owners = _owners(self._parameters, self._optimizers)
        ends = [0]
        for parameter in self._parameters:
            ends.append(ends[-1] + parameter.numel())
        self._starts = dict(zip(map(id, self._parameters), ends, strict=False))
        self.values, self.grads, self._means, self._squares = (torch.zeros(ends[-1]) for _ in range(4))
        # One count a parameter, because an ordinary optimiser step adds one for each.
        self._steps = torch.zeros(len(self._parameters))
        self._own = [self._slices(buffer) for buffer in (self.values, self.grads, self._means, self._squares)]
        self.bind()

    @property
    def is_bound(self) -> bool:
        """Whether nothing replaced parameters or moments since `bind`; looks at the first and the last of them."""
        for index in (0, -1):
            parameter = self._parameters[index]
            values, _, means, _ = (views[index] for views in self._own)
            if parameter.data_ptr() != values.data_ptr():
                return False
            if self._optimizers and self._owners[index].state[parameter].get("exp_avg") is not means:
                return False
        return True

    def bind(self) -> None:
        """Make parameters, gradients and moments views of the buffers again, keeping their numbers."""
        for index, parameter in enumerate(self._parameters):
            values, grads, means, squares = (views[index] for views in self._own)
            if parameter.data_ptr() != values.data_ptr():
                values.copy_(parameter.data)
                parameter.data = values
            if not self._optimizers:
                continue
            parameter.grad = grads
            state = self._owners[index].state[parameter]
            kept = {"step": self._steps[index], "exp_avg": means, "exp_avg_sq": squares}
            for name, own in kept.items():
                found = state.get(name)
                if found is None:
                    own.zero_()
                elif found.data_ptr() != own.data_ptr():
                    own.copy_(found)
                state[name] = own
        self.in_step = bool((self._steps == self._steps[0]).all())

    def view(self, buffer: Tensor, parameters: Sequence[Tensor], *shape: int) -> Tensor:
        """Return the part of a buffer that belongs to neighbouring parameters, as one tensor.

        Args:
            buffer: `values`, `grads` or another one laid out like them (see `new_buffer`).
            parameters: Neighbours, in order.
            shape: Of the view; that of the parameter by default where there is one.
        """
        start = self._starts[id(parameters[0])]
        length = sum(parameter.numel() for parameter in parameters)
        if [self._starts[id(parameter)] for parameter in parameters] != _offsets(start, parameters):
            raise ValueError("these parameters are not neighbours in this order")
        return buffer[start : start + length].view(shape or parameters[0].shape)

    def new_buffer(self) -> Tensor:
        """Return another flat buffer, of zeros: the gradient of a part of a batch, for one."""
        return torch.zeros_like(self.values)

    def with_grads(self, grads: Tensor) -> FlatParameters:
        """Return the same parameters with the gradients of whoever looks at them there in another buffer."""
        other = copy.copy(self)
        other.grads = grads
        return other

    def part(self, parameters: Sequence[Tensor]) -> FlatParameters:
        """Return neighbouring parameters alone, on the same memory, for steps of their own; bind the whole."""
        first = next(index for index, one in enumerate(self._parameters) if one is parameters[0])
        other = copy.copy(self)
        for name in ("values", "grads", "_means", "_squares"):
            setattr(other, name, self.view(getattr(self, name), parameters, -1))
        other._steps = self._steps[first : first + len(parameters)]
        return other

    def require_finite(self, whose: str) -> None:
        """Look at `grads` before a step, for one product.

        Args:
            whose: Whose gradients they are, in words.

        Raises:
            FloatingPointError: One is not finite; the values are still good, and the gradients tell where it began.
        """
        # What is not finite stays so in the sum of squares; what is finite but large may only seem so.
        if not math.isfinite(torch.dot(self.grads, self.grads)) and not self.grads.isfinite().all():
            raise FloatingPointError(f"a gradient of {whose} is not finite")

    def step(self, scale: Tensor | None = None) -> None:
        """Take one step of Adam with `grads`, at the learning rate that the optimiser has now.

        Args:
            scale: What the gradients are divided by, one number; they are left divided.
        """
        group = self._optimizers[0].param_groups[0]
        beta1, beta2 = group["betas"]
        self._steps.add_(1)
        torch._fused_adam_(
            [self.values],
            [self.grads],
            [self._means],
            [self._squares],
            [],
            [self._steps[0]],
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            weight_decay=0.0,
            eps=group["eps"],
            amsgrad=False,
            maximize=False,
            grad_scale=scale,
        )

    def _slices(self, buffer: Tensor) -> list[Tensor]:
        return [self.view(buffer, [parameter], *parameter.shape) for parameter in self._parameters]


def why_not(*optimizers: Optimizer) -> str | None:
    """Return why `FlatParameters` cannot take over from these optimisers, or None where it can."""
    groups = [group for optimizer in optimizers for group in optimizer.param_groups]
    if any(type(optimizer) is not Adam for optimizer in optimizers):
        return "the optimizer is not Adam"
    if len(groups) != len(optimizers) or any(_unusual(group) for group in groups):
        return "the optimizer has settings of its own"
    if any((group["betas"], group["eps"]) != (groups[0]["betas"], groups[0]["eps"]) for group in groups):
        return "its optimizers differ in their settings"
    if any(p.dtype != torch.float32 or p.device.type != "cpu" for group in groups for p in group["params"]):
        return "the parameters are not float32 on the CPU"
    return None


def bind_all(parts: Sequence[FlatParameters]) -> str | None:
    """Bind what came loose, and return why `step` cannot be called on all of them, or None where it can."""
    loose = [part for part in parts if not part.is_bound]
    for part in loose:
        part.bind()
    return None if all(part.in_step for part in parts) else "the optimizers have counted different steps"


def _unusual(group: dict[str, object]) -> bool:
    flags = ("amsgrad", "maximize", "capturable", "differentiable", "weight_decay", "decoupled_weight_decay")
    return any(group.get(flag) for flag in flags) or isinstance(group["lr"], Tensor)


def _owners(parameters: Sequence[Tensor], optimizers: Sequence[Adam]) -> list[Adam]:
    """Return the optimiser of each parameter; none of them where there are no optimisers."""
    owners = {id(p): optimizer for optimizer in optimizers for group in optimizer.param_groups for p in group["params"]}
    if optimizers and owners.keys() != {id(parameter) for parameter in parameters}:
        raise ValueError("the optimizers know other parameters than these")
    return [owners[id(parameter)] for parameter in parameters] if optimizers else []


def _offsets(start: int, parameters: Sequence[Tensor]) -> list[int]:
    lengths = [parameter.numel() for parameter in parameters]
    return [start + sum(lengths[:index]) for index in range(len(lengths))]
