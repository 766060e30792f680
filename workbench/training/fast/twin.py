"""The two critics of SAC and TD3 and their targets: run together, on a thread each where that pays."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from workbench.training.fast.batch import Batch
from workbench.training.fast.flat import FlatParameters
from workbench.training.fast.perceptron import Pass, Perceptrons, parameters_in_order, read_layers
from workbench.training.fast.threads import run_pieces

LANE_COST = 8_000_000
"""Multiplications forward of one critic that are worth a thread: less is over before the other thread has woken up."""


class TwinCritics:
    """Both critics and both targets of a policy, reading the rows of a batch.

    Small critics are one batched product a layer. Large ones are two products, which two threads may do; which it is
    depends on sizes alone, so that the number of threads does not change a bit.

    Args:
        critic: Recognised, as its target is.
        critic_target: Its target.
        batch: What they read.
    """

    def __init__(self, critic: Any, critic_target: Any, batch: Batch) -> None:
        layers, activation = critic_layers(critic)
        target_layers, _ = critic_layers(critic_target)
        self.learned = FlatParameters(parameters_in_order(layers), critic.optimizer)
        self.target = FlatParameters(parameters_in_order(target_layers))
        self._size = batch.size
        self._critics = Perceptrons(self.learned, layers, activation, copies=2)
        targets = Perceptrons(self.target, target_layers, activation, copies=2)
        self.is_large = batch.size * self.learned.values.numel() // 2 >= LANE_COST
        """Whether two threads are worth it."""
        pairs = [(self._critics, targets)]
        if self.is_large:
            pairs = [(self._critics.copy(index), targets.copy(index)) for index in range(2)]
        self._lanes = [_Lane(learned, target, batch) for learned, target in pairs]
        self.values = [value for lane in self._lanes for value in lane.value.output.squeeze(2).unbind()]
        """Of each critic (b,), for the actions in the batch."""
        self.next_values = [value for lane in self._lanes for value in lane.next_value.output.squeeze(2).unbind()]
        """Of each target (b,), for the next actions in the batch."""
        self.gradients = [each for lane in self._lanes for each in lane.value.gradient.squeeze(2).unbind()]
        """Of the loss by each value (b,), for `climb`."""
        self.uphill = [each for lane in self._lanes for each in lane.value.input_gradient.unbind()]
        """Of the loss by each critic's actions (b, a), after `climb`."""

    def first(self, batch: Batch) -> Pass:
        """Return the first critic alone."""
        return Pass(self._critics.copy(0), batch.pairs, learning=batch.size, columns=batch.action_columns)

    def look_ahead(self, workers: int) -> None:
        """Compute `values` and `next_values`."""
        run_pieces([lane.look_ahead for lane in self._lanes], workers)

    def look(self, workers: int) -> None:
        """Compute `values`."""
        run_pieces([lane.look for lane in self._lanes], workers)

    def learn(self, returns: Tensor, weight: float, workers: int) -> float:
        """Step both critics from `values` towards returns and return the loss.

        Args:
            returns: (b,)
            weight: Of each critic's mean squared error in the loss.
            workers: Threads.
        """
        loss = 0.0
        for value, error in zip(self.values, self.gradients, strict=True):
            torch.sub(value, returns, out=error)
            loss += torch.dot(error, error).item()
            error.mul_(2 * weight / self._size)
        run_pieces([lane.value.backward for lane in self._lanes], workers)
        self.learned.require_finite("the critics")
        self.learned.step()
        return weight * loss / self._size

    def climb(self, workers: int) -> None:
        """Carry `gradients` back to the actions, into `uphill`."""
        run_pieces([lane.climb for lane in self._lanes], workers)

    def follow(self, tau: float) -> None:
        """Move the targets towards the critics."""
        self.target.values.lerp_(self.learned.values, tau)


class _Lane:
    """What one thread does: one critic with its target, or both of both."""

    def __init__(self, learned: Perceptrons, target: Perceptrons, batch: Batch) -> None:
        self.value = Pass(learned, batch.pairs, learning=batch.size, columns=batch.action_columns)
        self.next_value = Pass(target, batch.next_pairs)
        self._alone = learned.copies == 1

    def look_ahead(self) -> None:
        self.next_value.forward()
        self.value.forward()

    def look(self) -> None:
        self.value.forward()

    def climb(self) -> None:
        if self._alone:
            # About half of the rows follow the other critic.
            self.value.backward_to_some_inputs()
        else:
            self.value.backward_to_inputs()


def critic_layers(critic: Any) -> tuple[list[list[nn.Linear]], type[nn.Module]]:
    """Return the layers of recognised critics, those at the same depth together, and their activation."""
    read = [read_layers(net) for net in critic.q_networks]
    (first, activation), (second, _) = (found for found in read if found is not None)
    return [list(pair) for pair in zip(first, second, strict=True)], activation
