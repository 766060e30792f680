"""A multilayer perceptron in NumPy: the part of a trained policy that must run without torch.

Rows are independent to the last bit. A product of two matrices picks its kernels by the shape of the whole and by
where a row stands in it (measured on AVX-512: twelve rows are enough for that), so the same row would round
differently beside other companions. Here every row is a product of its own, always of the same shape, one NumPy call
for all of them; for the few rows of a window or an evaluation that is as fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
Layer: TypeAlias = tuple[Floats, Floats]
Activation = Literal["tanh", "relu", "elu", "leaky_relu", "silu", "sigmoid", "selu"]


class Linear:
    """One linear layer.

    Args:
        layer: Weight `(out, in)` and bias `(out,)`, torch's convention.
    """

    def __init__(self, layer: Layer) -> None:
        self._weight = np.ascontiguousarray(layer[0].T)
        self._bias = layer[1]

    def __call__(self, inputs: Floats) -> Floats:
        """Return the outputs `(n, out)` for inputs `(n, in)`."""
        outputs: Floats = (inputs[:, None, :] @ self._weight)[:, 0, :]
        outputs += self._bias
        return outputs


class Trunk:
    """Linear layers, each followed by the activation.

    Args:
        layers: Weight and bias of each layer; none makes the trunk the identity.
        activation: What follows every layer.
    """

    def __init__(self, layers: Sequence[Layer], activation: Activation) -> None:
        self._layers = [Linear(layer) for layer in layers]
        self._activate = _ACTIVATIONS[activation]

    def __call__(self, inputs: Floats) -> Floats:
        """Return the features `(n, out)` for inputs `(n, in)`."""
        for layer in self._layers:
            inputs = self._activate(layer(inputs))
        return inputs


def _tanh(values: Floats) -> Floats:
    return np.tanh(values, out=values)


def _relu(values: Floats) -> Floats:
    return np.maximum(values, np.float32(0), out=values)


def _elu(values: Floats) -> Floats:
    return np.where(values > 0, values, np.expm1(np.minimum(values, np.float32(0))))


def _leaky_relu(values: Floats) -> Floats:
    return np.where(values > 0, values, np.float32(0.01) * values)


def _sigmoid(values: Floats) -> Floats:
    # By tanh, which does not overflow.
    half = np.float32(0.5)
    halved: Floats = half * np.tanh(half * values) + half
    return halved


def _silu(values: Floats) -> Floats:
    weighted: Floats = values * _sigmoid(values)
    return weighted


def _selu(values: Floats) -> Floats:
    # Constants of Klambauer et al. 2017, "Self-Normalizing Neural Networks".
    alpha, scale = np.float32(1.6732632423543772), np.float32(1.0507009873554805)
    below = alpha * np.expm1(np.minimum(values, np.float32(0)))
    scaled: Floats = scale * np.where(values > 0, values, below)
    return scaled


_ACTIVATIONS: Mapping[Activation, Callable[[Floats], Floats]] = {
    "tanh": _tanh,
    "relu": _relu,
    "elu": _elu,
    "leaky_relu": _leaky_relu,
    "silu": _silu,
    "sigmoid": _sigmoid,
    "selu": _selu,
}
