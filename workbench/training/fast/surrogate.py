"""The update of PPO with its gradients written out: clipped surrogate, Gaussian, entropy, squared error of the value.

The two networks share nothing, so that each can have a thread. Large minibatches are also cut into a fixed number of
pieces whose gradients are added in a fixed order. The result is the same bits on any number of threads.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.buffers import RolloutBuffer
from torch import Tensor

from workbench.training.fast.actor_critic import ActorCritic
from workbench.training.fast.perceptron import Pass
from workbench.training.fast.threads import Pace, run_pieces

LOG_ROOT_TWO_PI = 0.5 * math.log(2 * math.pi)

PIECE_COST = 8_000_000
"""Multiplications forward that are worth a piece."""
THREAD_COST = 4_000_000
"""Multiplications forward that may be worth another thread: less is over before that has woken up."""
PIECE_ROWS = 128
"""Rows that a piece has at least, for products of matrices to be at their full speed."""
MOST_PIECES = 4

Array = NDArray[Any]


@dataclass(frozen=True)
class Terms:
    """What the loss is made of, and the bounds of a step."""

    clip_range: float
    clip_range_vf: float | None
    normalize_advantage: bool
    ent_coef: float
    vf_coef: float
    max_grad_norm: float
    target_kl: float | None


@dataclass(frozen=True)
class Losses:
    """What each minibatch of an epoch gave, (minibatches,) under Stable-Baselines3's names."""

    policy_gradient_loss: NDArray[Any]
    value_loss: NDArray[Any]
    entropy_loss: NDArray[Any]
    clip_fraction: NDArray[Any]
    approx_kl: NDArray[Any]
    broken_off: bool
    """Whether the last of them found that the policy has moved too far, and was not learnt."""


class Update:
    """The minibatches of one shape of rollout, and everything an update writes, allocated once.

    Args:
        network: What learns.
        rows: Steps in a rollout, all copies together.
        batch_size: Steps in a minibatch; the last one has what is left.
    """

    def __init__(self, network: ActorCritic, rows: int, batch_size: int) -> None:
        self.network = network
        self.rows = rows
        self.batch_size = batch_size
        self._flat = network.flat
        self._observations = torch.zeros(rows, network.obs_size)
        self._actions = torch.zeros(rows, network.action_size)
        self._columns = torch.zeros(4, rows)
        # The same in the order of the minibatches; observations go straight to the networks.
        self._order = torch.zeros(rows, dtype=torch.int64)
        self._sorted_actions = torch.zeros(rows, network.action_size)
        self._sorted_columns = torch.zeros(4, rows)
        self._results = torch.zeros(3, rows)
        self._log_stds = np.zeros(math.ceil(rows / batch_size), np.float32)
        self._log_std: Array = network.log_std.detach().numpy()
        self._shared = _Shared(np.zeros((), np.float32), np.zeros(network.action_size, np.float32))
        self._scale = torch.zeros(())
        self._pace = Pace()
        self._works: dict[tuple[int, int], _Work] = {}
        self._minibatches = [self._cut(start) for start in range(0, rows, batch_size)]

    def read(self, buffer: RolloutBuffer) -> None:
        """Take a rollout, in the order in which Stable-Baselines3 numbers its rows: copy by copy."""

        def by_copy(values: NDArray[Any]) -> Tensor:
            ordered = values if buffer.generator_ready else np.swapaxes(values, 0, 1)
            return torch.from_numpy(np.ascontiguousarray(ordered, np.float32).reshape(self.rows, -1))

        self._observations.copy_(by_copy(buffer.observations))
        self._actions.copy_(by_copy(buffer.actions))
        columns = (buffer.log_probs, buffer.advantages, buffer.returns, buffer.values)
        self._columns.copy_(torch.stack([by_copy(column).flatten() for column in columns]))

    def epoch(self, permutation: NDArray[Any], terms: Terms, workers: int) -> Losses:
        """Learn from every minibatch once, or until one finds that the policy has moved too far.

        Args:
            permutation: (rows,), the order of the rows.
            terms: Of the loss.
            workers: The most threads; they change nothing but the time.
        """
        self._order.copy_(torch.from_numpy(permutation))
        torch.index_select(self._actions, 0, self._order, out=self._sorted_actions)
        torch.index_select(self._columns, 1, self._order, out=self._sorted_columns)
        self._scale_advantages(normalize=terms.normalize_advantage)
        large = self.batch_size * self._flat.values.numel() >= THREAD_COST
        workers, started = self._pace.choose(workers) if large else 1, time.perf_counter()
        for number, pieces in enumerate(self._minibatches):
            self._prepare(number)
            run_pieces([work for piece in pieces for work in piece.works(terms, self._shared)], workers)
            if terms.target_kl is not None and self._kl(number) > 1.5 * terms.target_kl:
                return self._losses(number + 1, terms, broken_off=True)
            for piece in pieces[1:]:
                self._flat.grads.add_(piece.work.grads)
            if terms.ent_coef:
                pieces[0].work.log_std_grad -= terms.ent_coef
            self._step(terms.max_grad_norm)
        self._pace.note(workers, time.perf_counter() - started)
        return self._losses(len(self._minibatches), terms)

    def _scale_advantages(self, *, normalize: bool) -> None:
        """Normalise the advantages of each minibatch, and let a sum over it be minus their mean."""
        for (advantages,) in self._blocks(self._sorted_columns[1:2], len(self._minibatches)):
            rows = advantages.shape[1]
            if normalize and rows > 1:
                std, mean = torch.std_mean(advantages, 1, keepdim=True)
                advantages.sub_(mean).div_(std.add_(1e-8))
            advantages.div_(-rows)

    def _prepare(self, minibatch: int) -> None:
        """Compute what all rows of a minibatch need of the standard deviations."""
        log_std = self._log_stds[minibatch] = np.add.reduce(self._log_std)
        self._shared.offset[...] = log_std + self.network.action_size * LOG_ROOT_TWO_PI
        np.negative(self._log_std, out=self._shared.inverse_std)
        np.exp(self._shared.inverse_std, out=self._shared.inverse_std)

    def _step(self, max_grad_norm: float) -> None:
        norm = float(torch.linalg.vector_norm(self._flat.grads))
        if not math.isfinite(norm):
            # The weights are still good, and the gradients tell which layer it began in.
            raise FloatingPointError("a gradient is not finite")
        # To divide by max(1, norm / limit) is Stable-Baselines3's clipping.
        scale = (norm + 1e-6) / max_grad_norm
        self._flat.step(self._scale.fill_(scale) if scale > 1 else None)

    def _kl(self, minibatch: int) -> float:
        log_ratio = self._results[0, minibatch * self.batch_size :][: self.batch_size]
        return float(log_ratio.exp().sub_(1).sub_(log_ratio).mean())

    def _losses(self, done: int, terms: Terms, *, broken_off: bool = False) -> Losses:
        """Return what the first minibatches gave."""
        parts = []
        for log_ratio, surrogate, error in self._blocks(self._results, done):
            moved = log_ratio.exp().sub_(1)
            outside = (moved.abs() > terms.clip_range).float()
            means = [each.mean(1) for each in (error.square(), outside, moved - log_ratio)]
            parts.append(torch.stack([surrogate.sum(1), *means]))
        policy, value, clip_fraction, kl = torch.cat(parts, 1).numpy()
        spread = self.network.action_size * (0.5 + LOG_ROOT_TWO_PI)
        return Losses(policy, value, -(self._log_stds[:done] + spread), clip_fraction, kl, broken_off)

    def _blocks(self, table: Tensor, minibatches: int) -> list[Tensor]:
        """Return the columns (k, rows) of whole minibatches as (k, minibatches, batch), and of a smaller last one."""
        whole = min(minibatches, self.rows // self.batch_size)
        split = whole * self.batch_size
        blocks = [table[:, :split].view(len(table), whole, self.batch_size)] if whole else []
        return blocks if minibatches == whole else [*blocks, table[:, split:].unsqueeze(1)]

    def _cut(self, start: int) -> list[_Piece]:
        """Return the pieces of the minibatch that begins at a row."""
        end = min(start + self.batch_size, self.rows)
        cost = (end - start) * self._flat.values.numel()
        count = max(1, min(MOST_PIECES, (end - start) // PIECE_ROWS, cost // PIECE_COST))
        bounds = [start + (end - start) * index // count for index in range(count + 1)]
        pieces = []
        for index, rows in enumerate(map(slice, bounds[:-1], bounds[1:])):
            key = (index, rows.stop - rows.start)
            if key not in self._works:
                grads = self._flat.new_buffer() if index else self._flat.grads
                self._works[key] = _Work(self.network, key[1], grads)
            pieces.append(_Piece(self, self._works[key], rows, end - start))
        return pieces


@dataclass(frozen=True)
class _Shared:
    """What the rows of a minibatch have in common."""

    offset: Array
    """What the log-probability of an action lies below that of its distance from the mean."""
    inverse_std: Array
    """(a,)"""


class _Work:
    """What a number of rows needs to be differentiated; minibatches use it one after another."""

    def __init__(self, network: ActorCritic, rows: int, grads: Tensor) -> None:
        self.grads = grads
        flat = network.flat.with_grads(grads)
        self.log_std_grad: Array = flat.view(grads, [network.log_std]).numpy()
        policy, value = network.perceptrons(flat)
        self.policy_inputs = torch.zeros(rows, network.actor_size)
        self.value_inputs = torch.zeros(rows, network.obs_size)
        self.policy_pass = Pass(policy, self.policy_inputs, learning=rows)
        self.value_pass = Pass(value, self.value_inputs, learning=rows)
        self.mean: Array = self.policy_pass.output[0].numpy()
        self.mean_grad: Array = self.policy_pass.gradient[0].numpy()
        self.value: Array = self.value_pass.output.numpy().reshape(rows)
        self.value_grad: Array = self.value_pass.gradient.numpy().reshape(rows)
        self.distance, self.square = np.zeros((2, rows, network.action_size), np.float32)
        self.halves = np.full(network.action_size, -0.5, np.float32)
        self.ratio, self.gain, self.clipped, self.moved, self.kept = np.zeros((5, rows), np.float32)
        self.counts = np.zeros(rows, bool)
        """Where a gradient is not cut off by a bound."""


class _Piece:
    """Rows of a minibatch: where they lie, and how the loss changes with what the networks say of them."""

    def __init__(self, update: Update, work: _Work, rows: slice, minibatch_rows: int) -> None:
        self.work = work
        self._all_observations = update._observations
        self._all_seen = update._observations[:, : update.network.actor_size]
        self._order = update._order[rows]
        self._actions: Array = update._sorted_actions[rows].numpy()
        self._old_log_probs, self._advantages, self._returns, self._old_values = update._sorted_columns[:, rows].numpy()
        self._log_ratio, self._surrogate, self._error = update._results[:, rows].numpy()
        self._minibatch_rows = minibatch_rows

    def works(self, terms: Terms, shared: _Shared) -> list[Callable[[], None]]:
        """Return what writes the gradients of these rows' part of the loss: either network's, in any order."""
        return [
            functools.partial(self._differentiate_policy, terms, shared),
            functools.partial(self._differentiate_value, terms),
        ]

    def _differentiate_policy(self, terms: Terms, shared: _Shared) -> None:
        work, log_ratio = self.work, self._log_ratio
        torch.index_select(self._all_seen, 0, self._order, out=work.policy_inputs)
        work.policy_pass.forward()
        np.subtract(self._actions, work.mean, out=work.distance)
        np.multiply(work.distance, shared.inverse_std, out=work.distance)
        np.multiply(work.distance, work.distance, out=work.square)
        work.square.dot(work.halves, log_ratio)
        np.subtract(log_ratio, self._old_log_probs, out=log_ratio)
        np.subtract(log_ratio, shared.offset, out=log_ratio)
        np.exp(log_ratio, out=work.ratio)
        # The advantages are negative shares of the mean, so the smaller of the two gains is the larger here.
        np.multiply(self._advantages, work.ratio, out=work.gain)
        work.ratio.clip(1 - terms.clip_range, 1 + terms.clip_range, out=work.clipped)
        np.multiply(work.clipped, self._advantages, out=work.clipped)
        np.maximum(work.gain, work.clipped, out=self._surrogate)
        # Where the clipped one counts it is a constant.
        np.equal(work.gain, self._surrogate, out=work.counts)
        gradient = np.multiply(work.gain, work.counts, out=work.gain)
        np.multiply(work.distance, shared.inverse_std, out=work.mean_grad)
        np.multiply(work.mean_grad, gradient[:, None], out=work.mean_grad)
        np.subtract(work.square, 1, out=work.square)
        gradient.dot(work.square, work.log_std_grad)
        work.policy_pass.backward()

    def _differentiate_value(self, terms: Terms) -> None:
        work, limit = self.work, terms.clip_range_vf
        torch.index_select(self._all_observations, 0, self._order, out=work.value_inputs)
        work.value_pass.forward()
        if limit is None:
            np.subtract(work.value, self._returns, out=self._error)
        else:
            np.subtract(work.value, self._old_values, out=work.moved)
            work.moved.clip(-limit, limit, out=work.kept)
            np.add(self._old_values, work.kept, out=self._error)
            np.subtract(self._error, self._returns, out=self._error)
        np.multiply(self._error, 2 * terms.vf_coef / self._minibatch_rows, out=work.value_grad)
        if limit is not None:
            np.equal(work.moved, work.kept, out=work.counts)
            np.multiply(work.value_grad, work.counts, out=work.value_grad)
        work.value_pass.backward()
