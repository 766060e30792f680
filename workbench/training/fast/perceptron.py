"""Perceptrons of equal shape, run and differentiated side by side without autograd.

Copies are a batch dimension: the two critics of SAC and TD3 are one `(2, rows, units)` product a layer. Everything is
written into buffers made once, so that a pass is a dozen calls of torch and no allocation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from workbench.training.fast.flat import FlatParameters

ATEN = torch.ops.aten

Forward = Callable[[Tensor], object]
Backward = Callable[[Tensor, Tensor], object]


def _tanh(values: Tensor) -> None:
    # NumPy's is several times as fast as torch's, on the same memory.
    array = values.numpy()
    np.tanh(array, array)


# Each activation in place, and its gradient in place, from what the activation returned.
ACTIVATIONS: dict[type[nn.Module], tuple[Forward, Backward]] = {
    nn.ReLU: (
        torch.relu_,
        lambda gradient, result: ATEN.threshold_backward.grad_input(gradient, result, 0, grad_input=gradient),
    ),
    nn.Tanh: (
        _tanh,
        lambda gradient, result: ATEN.tanh_backward.grad_input(gradient, result, grad_input=gradient),
    ),
    nn.ELU: (
        ATEN.elu_,
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
        befores = [inputs.expand(perceptrons.copies, *inputs.shape), *results[:-1]]
        transposed = [weight.transpose(1, 2) for weight in perceptrons.weights]
        self._forward = list(zip(perceptrons.biases, befores, transposed, results, strict=True))
        gradients = [torch.zeros(perceptrons.copies, learning, bias.shape[2]) for bias in perceptrons.biases]
        self.gradient = gradients[-1]
        """(copies, learning, outputs): of the loss, written by the caller before `backward`; changed by it never."""
        self._gradients = gradients
        self._inputs = [before[:, :learning] for before in befores]
        self._transposed = [gradient.transpose(1, 2) for gradient in gradients]
        self._entry = perceptrons.weights[0][:, :, columns]
        self.input_gradient = torch.zeros(perceptrons.copies, learning, self._entry.shape[2])
        """(copies, learning, columns): of the loss by the chosen inputs, after `backward_to_inputs`."""

    def forward(self) -> Tensor:
        """Run the perceptrons on the input buffer and return `output`."""
        for bias, before, weight, result in self._forward[:-1]:
            torch.baddbmm(bias, before, weight, out=result)
            self._net.activate(result)
        bias, before, weight, result = self._forward[-1]
        return torch.baddbmm(bias, before, weight, out=result)

    def backward(self) -> None:
        """Carry `gradient` back to the first layer and write the gradients of all weights and biases."""
        net = self._net
        for layer in range(len(self._gradients) - 1, -1, -1):
            torch.bmm(self._transposed[layer], self._inputs[layer], out=net.weight_grads[layer])
            torch.sum(self._gradients[layer], 1, out=net.bias_grads[layer])
            self._descend(layer)

    def backward_to_inputs(self) -> Tensor:
        """Carry `gradient` back to the chosen inputs, past weights and biases, and return `input_gradient`."""
        for layer in range(len(self._gradients) - 1, -1, -1):
            self._descend(layer)
        return torch.bmm(self._gradients[0], self._entry, out=self.input_gradient)

    def backward_to_some_inputs(self) -> Tensor:
        """Do the same for one copy, and leave out the rows whose gradient is zero."""
        rows = self.gradient.flatten().nonzero().flatten()
        gradient = self.gradient.index_select(1, rows)
        for layer in range(len(self._gradients) - 1, 0, -1):
            before = self._gradients[layer - 1][:, : len(rows)]
            gradient = torch.bmm(gradient, self._net.weights[layer], out=before)
            self._net.differentiate(gradient, self._inputs[layer].index_select(1, rows))
        return self.input_gradient.zero_().index_copy_(1, rows, torch.bmm(gradient, self._entry))

    def _descend(self, layer: int) -> None:
        """Carry the gradient of a layer's results to those of the layer before it."""
        if layer == 0:
            return
        gradient, before = self._gradients[layer], self._gradients[layer - 1]
        if gradient.shape[2] == 1:
            # An outer product: a plain multiplication is three times as fast.
            torch.mul(gradient, self._net.weights[layer], out=before)
        else:
            torch.bmm(gradient, self._net.weights[layer], out=before)
        self._net.differentiate(before, self._inputs[layer])


def _has_hooks(modules: Sequence[nn.Module]) -> bool:
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return any(getattr(module, kind) for module in modules for kind in kinds)
