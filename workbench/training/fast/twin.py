"""The two critics of SAC and TD3 and their targets: run together, on a thread each where that pays."""

from __future__ import annotations

import functools
from collections.abc import Sequence
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

    Small critics go through every layer together. Large ones go each its own way, in a lane, which two threads may
    take; which it is depends on sizes alone, so that the number of threads does not change a bit.

    Args:
        critic: Recognised, as its target is.
        critic_target: Its target.
        batch: What they read.
    """

    def __init__(self, critic: Any, critic_target: Any, batch: Batch) -> None:
        cost = batch.size * sum(parameter.numel() for parameter in critic.q_networks[0].parameters())
        self.is_large = cost >= LANE_COST
        """Whether two threads are worth it."""
        layers, target_layers = (_layers(each, apart=self.is_large) for each in (critic, critic_target))
        self.learned = FlatParameters(_parameters(layers), critic.optimizer)
        self.target = FlatParameters(_parameters(target_layers))
        activation = type(critic.q_networks[0][1])
        copies = 1 if self.is_large else 2
        pairs = [
            [Perceptrons(flat, lane, activation, copies) for flat, lane in ((self.learned, own), (self.target, target))]
            for own, target in zip(layers, target_layers, strict=True)
        ]
        self._batch = batch
        self._lanes = [
            _Lane(learned, target, self.learned.part(parameters_in_order(lane)), batch)
            for (learned, target), lane in zip(pairs, layers, strict=True)
        ]
        self.next_values = _each([lane.next_value.output for lane in self._lanes])
        """Of each target (b,), for the next actions in the batch."""
        self.own_values = _each([lane.own_value.output for lane in self._lanes])
        """Of each critic (b,), for the policy's own actions."""
        self.gradients = _each([lane.own_value.gradient for lane in self._lanes])
        """Of the loss by each of `own_values` (b,), for `climb`."""
        self.uphill = [each for lane in self._lanes for each in lane.own_value.input_gradient.unbind()]
        """Of the loss by each critic's actions (b, a), after `climb`."""
        self.first = Pass(pairs[0][0].copy(0), batch.own_pairs, learning=batch.size, columns=batch.action_columns)
        """The first critic alone, for the policy's own actions."""

    def look_ahead(self, workers: int) -> None:
        """Compute the values of the batch and `next_values`."""
        run_pieces([lane.look_ahead for lane in self._lanes], workers)

    def learn(self, returns: Tensor, weight: float, workers: int, *, look: bool = False) -> float:
        """Step both critics from their values of the batch towards returns and return the loss.

        Args:
            returns: (b,)
            weight: Of each critic's mean squared error in the loss.
            workers: Threads.
            look: Compute `own_values` too, as they are after the step.

        Raises:
            FloatingPointError: A gradient is not finite.
        """
        run_pieces([functools.partial(lane.learn, returns, weight, look) for lane in self._lanes], workers)
        return weight * sum(error for lane in self._lanes for error in lane.errors) / self._batch.size

    def climb(self, workers: int) -> None:
        """Carry `gradients` back to the actions, into `uphill`."""
        run_pieces([lane.climb for lane in self._lanes], workers)

    def follow(self, tau: float) -> None:
        """Move the targets towards the critics."""
        self.target.values.lerp_(self.learned.values, tau)


class _Lane:
    """What one thread does: one critic with its target, or both of both."""

    def __init__(self, learned: Perceptrons, target: Perceptrons, flat: FlatParameters, batch: Batch) -> None:
        self.value = Pass(learned, batch.pairs, learning=batch.size)
        self.next_value = Pass(target, batch.next_pairs)
        self.own_value = Pass(learned, batch.own_pairs, learning=batch.size, columns=batch.action_columns)
        self.errors: list[float] = []
        """The sum of each critic's squared errors, when it last learnt."""
        self._flat = flat
        self._values, self._gradients = _each([self.value.output]), _each([self.value.gradient])
        self._alone = learned.copies == 1
        self._size = batch.size

    def look_ahead(self) -> None:
        self.next_value.forward()
        self.value.forward()

    def learn(self, returns: Tensor, weight: float, look: bool) -> None:
        self.errors = []
        for value, error in zip(self._values, self._gradients, strict=True):
            torch.sub(value, returns, out=error)
            self.errors.append(torch.dot(error, error).item())
            error.mul_(2 * weight / self._size)
        self.value.backward()
        self._flat.require_finite("the critics")
        self._flat.step()
        if look:
            self.own_value.forward()

    def climb(self) -> None:
        if self._alone:
            # About half of the rows follow the other critic.
            self.own_value.backward_to_some_inputs()
        else:
            self.own_value.backward_to_inputs()


def _layers(critic: Any, *, apart: bool) -> list[list[list[nn.Linear]]]:
    """Return the layers of each lane: of each critic, or of both together."""
    nets = [found[0] for net in critic.q_networks if (found := read_layers(net))]
    if apart:
        return [[[layer] for layer in net] for net in nets]
    return [[list(pair) for pair in zip(*nets, strict=True)]]


def _parameters(lanes: Sequence[Sequence[Sequence[nn.Linear]]]) -> list[Tensor]:
    return [parameter for lane in lanes for parameter in parameters_in_order(lane)]


def _each(results: Sequence[Tensor]) -> list[Tensor]:
    """Return what is (copies, b, 1) as (b,) for each critic."""
    return [each for result in results for each in result.squeeze(2).unbind()]
