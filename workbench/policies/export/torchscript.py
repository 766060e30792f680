"""A policy as a TorchScript module: what torch loads in Python and C++ without any class of ours."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import torch
from torch import nn

from workbench.policies.export.parts import Parts

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "tanh": nn.Tanh,
    "relu": nn.ReLU,
    "elu": nn.ELU,
    "leaky_relu": nn.LeakyReLU,
    "silu": nn.SiLU,
    "sigmoid": nn.Sigmoid,
    "selu": nn.SELU,
}


def torchscript_bytes(parts: Parts, *, sampling: bool) -> bytes:
    """Return a policy as a TorchScript file: observations in, actions in the environment's units out.

    Args:
        parts: The policy.
        sampling: Take noise as a second input, and give a sample instead of the best action.
    """
    example = [torch.zeros((2, *parts.record.observation_space.shape), dtype=_torch_dtype(parts.observation_dtype))]
    if sampling and parts.noise is not None:
        example.append(torch.zeros((2, *parts.noise.shape)))
    file = io.BytesIO()
    with warnings.catch_warnings():
        # TorchScript is frozen in favour of torch.export; what is deployed with libtorch reads nothing else yet.
        warnings.simplefilter("ignore", DeprecationWarning)
        trace: Any = torch.jit.trace
        traced = trace(_Policy(parts).eval(), tuple(example), check_trace=False)
        torch.jit.save(traced, file)
    return file.getvalue()


class _Policy(nn.Module):
    """Normaliser, network and action map; traced with a batch of two, and good for any other."""

    mean: torch.Tensor
    scale: torch.Tensor
    std: torch.Tensor
    low: torch.Tensor
    high: torch.Tensor

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        record = parts.record
        self.size = record.observation_space.size
        self.shape = record.action_space.shape
        self.is_discrete = record.observation_space.kind == "discrete"
        self.parts = parts
        layers: list[nn.Module] = []
        for layer in parts.trunk:
            layers += [_linear(layer), ACTIVATIONS[parts.activation]()]
        self.trunk = nn.Sequential(*layers)
        self.head = _linear(parts.head)
        self.log_std = None if parts.log_std_head is None else _linear(parts.log_std_head)
        if parts.normalizer is not None:
            self.register_buffer("mean", torch.as_tensor(parts.normalizer.mean))
            self.register_buffer("scale", torch.as_tensor(parts.normalizer.scale))
        if parts.std is not None:
            self.register_buffer("std", torch.as_tensor(parts.std))
        self.register_buffer("low", torch.as_tensor(parts.low))
        self.register_buffer("high", torch.as_tensor(parts.high))
        for parameter in self.parameters():
            parameter.requires_grad_(False)

    def forward(self, observation: Any, noise: Any = None) -> Any:
        features = self.trunk(self._rows(observation))
        outputs = self.head(features)
        if self.parts.head_limit is not None:
            outputs = outputs.clamp(-self.parts.head_limit, self.parts.head_limit)
        if noise is not None:
            outputs = self._sampled(features, outputs, noise)
        if self.parts.is_choice:
            return outputs.argmax(1)
        if self.parts.squash:
            outputs = self.low + 0.5 * (torch.tanh(outputs) + 1) * (self.high - self.low)
        if self.parts.clip:
            outputs = torch.minimum(torch.maximum(outputs, self.low), self.high)
        return outputs.reshape(-1, *self.shape)

    def _rows(self, observation: Any) -> Any:
        if self.is_discrete:
            return torch.eye(self.size)[observation.reshape(-1)]
        rows = observation.reshape(-1, self.size)
        normalizer = self.parts.normalizer
        if normalizer is not None:
            # In double precision, as in training, whatever comes in.
            scaled = (rows.to(torch.float64) - self.mean) / self.scale
            rows = scaled.clamp(-normalizer.clip, normalizer.clip)
        return rows.to(torch.float32)

    def _sampled(self, features: Any, outputs: Any, noise: Any) -> Any:
        if self.parts.is_choice:
            return outputs + noise
        if self.parts.is_state_dependent:
            return outputs + torch.bmm(features.unsqueeze(1), noise * self.std).squeeze(1)
        if self.log_std is None:
            return outputs + noise * self.std
        log_std = self.log_std(features)
        if self.parts.log_std_bounds is not None:
            log_std = log_std.clamp(*self.parts.log_std_bounds)
        return outputs + noise * log_std.exp()


def _linear(layer: tuple[Any, Any]) -> nn.Linear:
    weight, bias = (torch.as_tensor(np.array(array)) for array in layer)
    made = nn.Linear(weight.shape[1], weight.shape[0])
    made.load_state_dict({"weight": weight, "bias": bias})
    return made


def _torch_dtype(dtype: np.dtype[Any]) -> torch.dtype:
    return torch.as_tensor(np.zeros(1, dtype)).dtype
