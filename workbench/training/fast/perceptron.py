"""Perceptrons of equal shape, run and differentiated side by side without autograd.

Copies are a batch dimension: what the two critics of SAC and TD3 do element by element is one call. Everything is
written into buffers made once, so that a pass is a dozen calls and no allocation.

Products are NumPy's on the memory of the tensors: OpenBLAS has kernels for all the vectors of a processor, where MKL
below torch uses half of a Zen 5's (220 and 110 GF/s a core), and a small product is back sooner.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from workbench.training.fast.flat import FlatParameters

ATEN = torch.ops.aten

Array = NDArray[Any]
Forward = Callable[[Tensor, Array], object]
Backward = Callable[[Tensor, Tensor], object]

# Each activation in place, given as tensor and as array on the same memory, for whose is faster; and its gradient in
# place, from what the activation returned.
ACTIVATIONS: dict[type[nn.Module], tuple[Forward, Backward]] = {
    nn.ReLU: (
        lambda values, _: torch.relu_(values),
        lambda gradient, result: ATEN.threshold_backward.grad_input(gradient, result, 0, grad_input=gradient),
    ),
    nn.Tanh: (
        lambda _, values: np.tanh(values, values),
        lambda gradient, result: ATEN.tanh_backward.grad_input(gradient, result, grad_input=gradient),
    ),
    nn.ELU: (
        lambda values, _: ATEN.elu_(values),
        lambda gradient, result: ATEN.elu_backward.grad_input(gradient, 1, 1, 1, True, result, grad_input=gradient),
    ),
}


def read_layers(modules: Iterable[nn.Module]) -> tuple[list[nn.Linear], type[nn.Module]] | None:
    """Return the linear layers of a sequence and the activation between them.

    None where the sequence is not linear layers with the same activation between all of them, and perhaps after.
    """
    sequence = list(modules)
    linears = [module for module in sequence[::2] if type(module) is nn.Linear and module.bias is not None]
    kinds = {type(module) for module in sequence[1::2]}
    if len(linears) != len(sequence[::2]) or len(kinds) != 1 or not kinds <= ACTIVATIONS.keys():
        return None
    if any(isinstance(module, nn.ELU) and module.alpha != 1.0 for module in sequence) or _has_hooks(sequence):
        return None
    return linears, kinds.pop()


def parameters_in_order(layers: Sequence[Sequence[nn.Linear]]) -> list[Tensor]:
    """Return weights and biases so that those of one layer are neighbours.

    Args:
        layers: Of each layer, the linear maps that are to be one tensor.
    """
    return [
        parameter
        for layer in layers
        for parameter in (*(linear.weight for linear in layer), *(linear.bias for linear in layer))
    ]


class Perceptrons:
    """Views of the weights and gradients of `copies` perceptrons.

    Args:
        flat: Where their parameters lie, as `parameters_in_order` orders them.
        layers: Of each layer, its linear maps: one of each copy, or several heads of the only copy.
        activation: After every layer but the last.
        copies: How many perceptrons.
    """

    def __init__(
        self,
        flat: FlatParameters,
        layers: Sequence[Sequence[nn.Linear]],
        activation: type[nn.Module],
        copies: int = 1,
    ) -> None:
        self.copies = copies
        self.activate, self.differentiate = ACTIVATIONS[activation]
        self.weights: list[Tensor] = []
        self.biases: list[Tensor] = []
        self.weight_grads: list[Tensor] = []
        self.bias_grads: list[Tensor] = []
        for layer in layers:
            weights, biases = [linear.weight for linear in layer], [linear.bias for linear in layer]
            shape = (copies, len(layer) * layer[0].out_features // copies, layer[0].in_features)
            self.weights.append(flat.view(flat.values, weights, *shape))
            self.biases.append(flat.view(flat.values, biases, copies, 1, shape[1]))
            self.weight_grads.append(flat.view(flat.grads, weights, *shape))
            self.bias_grads.append(flat.view(flat.grads, biases, copies, shape[1]))

    def copy(self, index: int) -> Perceptrons:
        """Return one copy alone, on the same memory."""
        alone = object.__new__(Perceptrons)
        alone.copies, alone.activate, alone.differentiate = 1, self.activate, self.differentiate
        for name in ("weights", "biases", "weight_grads", "bias_grads"):
            setattr(alone, name, [view[index : index + 1] for view in getattr(self, name)])
        return alone


class Pass:
    """One use of perceptrons: their activations for a fixed input buffer, and the way back.

    Args:
        perceptrons: Whose weights are used, as they are at each call.
        inputs: (rows, features), read by every copy at each call; may be a strided view.
        learning: How many of the first rows the way back is for.
        columns: Of the inputs, those whose gradient `backward_to_inputs` returns.
        output: (copies, rows, outputs), where the results go; memory of its own by default.
    """

    def __init__(
        self,
        perceptrons: Perceptrons,
        inputs: Tensor,
        *,
        learning: int = 0,
        columns: slice = slice(0),
        output: Tensor | None = None,
    ) -> None:
        self._net = perceptrons
        rows = len(inputs)
        results = [torch.zeros(perceptrons.copies, rows, bias.shape[2]) for bias in perceptrons.biases]
        if output is not None:
            results[-1] = output
        self.output = results[-1]
        """(copies, rows, outputs)"""
        arrays = [result.numpy() for result in results]
        befores = [np.broadcast_to(inputs.numpy(), (perceptrons.copies, *inputs.shape)), *arrays[:-1]]
        weights = [weight.numpy() for weight in perceptrons.weights]
        biases = [bias[:, 0].numpy() for bias in perceptrons.biases]
        # Of each layer, what each copy multiplies and where that goes.
        self._forward = [
            list(zip(before, weight.swapaxes(1, 2), bias, array, strict=True))
            for before, weight, bias, array in zip(befores, weights, biases, arrays, strict=True)
        ]
        self._hidden = list(zip(results, arrays, strict=True))[:-1]
        self._gradients = [torch.zeros(perceptrons.copies, learning, bias.shape[2]) for bias in perceptrons.biases]
        self.gradient = self._gradients[-1]
        """(copies, learning, outputs): of the loss, written by the caller before `backward`; changed by it never."""
        gradients = [gradient.numpy() for gradient in self._gradients]
        self._ones = np.ones(learning, np.float32)
        self._own = [
            list(zip(gradient, before[:, :learning], weight_grad.numpy(), bias_grad.numpy(), strict=True))
            for gradient, before, weight_grad, bias_grad in zip(
                gradients, befores, perceptrons.weight_grads, perceptrons.bias_grads, strict=True
            )
        ]
        self._down = [
            list(zip(gradient, weight, before, strict=True))
            for gradient, weight, before in zip(gradients[1:], weights[1:], gradients, strict=False)
        ]
        self._learning_results = [result[:, :learning] for result in results]
        entry = weights[0][:, :, columns]
        self.input_gradient = torch.zeros(perceptrons.copies, learning, entry.shape[2])
        """(copies, learning, columns): of the loss by the chosen inputs, after `backward_to_inputs`."""
        self._entry = list(zip(gradients[0], entry, self.input_gradient.numpy(), strict=True))

    def forward(self) -> Tensor:
        """Run the perceptrons on the input buffer and return `output`."""
        activate = self._net.activate
        for products, hidden in itertools.zip_longest(self._forward, self._hidden):
            for before, weight, bias, result in products:
                before.dot(weight, result)
                np.add(result, bias, result)
            if hidden:
                activate(*hidden)
        return self.output

    def backward(self) -> None:
        """Carry `gradient` back to the first layer and write the gradients of all weights and biases."""
        for layer in range(len(self._own) - 1, -1, -1):
            for gradient, before, weight_grad, bias_grad in self._own[layer]:
                gradient.T.dot(before, weight_grad)
                self._ones.dot(gradient, bias_grad)
            self._descend(layer)

    def backward_to_inputs(self) -> Tensor:
        """Carry `gradient` back to the chosen inputs, past weights and biases, and return `input_gradient`."""
        for layer in range(len(self._own) - 1, -1, -1):
            self._descend(layer)
        for gradient, entry, result in self._entry:
            gradient.dot(entry, result)
        return self.input_gradient

    def backward_to_some_inputs(self) -> Tensor:
        """Do the same for one copy, and leave out the rows whose gradient is zero."""
        rows = self.gradient.flatten().nonzero().flatten()
        count = len(rows)
        gradient = self.gradient[0].index_select(0, rows).numpy()
        for layer in range(len(self._own) - 1, 0, -1):
            ((_, weight, before),) = self._down[layer - 1]
            gradient = gradient.dot(weight, before[:count])
            self._net.differentiate(
                self._gradients[layer - 1][0, :count], self._learning_results[layer - 1][0].index_select(0, rows)
            )
        ((_, entry, _),) = self._entry
        return self.input_gradient.zero_().index_copy_(1, rows, torch.from_numpy(gradient.dot(entry)[None]))

    def _descend(self, layer: int) -> None:
        """Carry the gradient of a layer's results to those of the layer before it."""
        if layer == 0:
            return
        for gradient, weight, before in self._down[layer - 1]:
            gradient.dot(weight, before)
        self._net.differentiate(self._gradients[layer - 1], self._learning_results[layer - 1])


def _has_hooks(modules: Sequence[nn.Module]) -> bool:
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return any(getattr(module, kind) for module in modules for kind in kinds)
