"""What no code of ours goes below: the physics alone, and the arithmetic at the rate of large matrix products."""

from __future__ import annotations

import functools
import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from workbench.bench.probe import draw_actions
from workbench.bench.turns import torch_threads
from workbench.project import shipped_project
from workbench.simulation import make_batch
from workbench.training.fast.threads import one_thread
from workbench.training.inprocess import find_source

SIZE = 1024
"""Of the matrices whose product gives the rate."""
HALF_CHEETAH = "workbench/HalfCheetah-v0"


@functools.cache
def matrix_rate(threads: int) -> float:
    """Return floating-point operations a second in products of large matrices in single precision.

    The better of NumPy's, one thread's rate times the threads, and torch's.
    """
    left, right, out = (torch.rand(SIZE, SIZE) for _ in range(3))
    a, b, c = left.numpy(), right.numpy(), out.numpy()
    with torch.inference_mode():
        with torch_threads(threads):
            by_torch = _fastest(lambda: torch.mm(left, right, out=out))
        with one_thread():
            by_numpy = _fastest(lambda: np.dot(a, b, c)) / threads
    return 2 * SIZE**3 / min(by_torch, by_numpy)


def _fastest(product: Callable[[], object]) -> float:
    """Return seconds: a floor is what the machine can do when it is left alone."""
    seconds = []
    for _ in range(30):
        started = time.perf_counter()
        product()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


@functools.cache
def bare_speed(copies: int, threads: int) -> float:
    """Return steps a second of the simulation alone, half-cheetah driven at random."""
    env = make_batch(find_source(HALF_CHEETAH, shipped_project()), copies, threads)
    assert env is not None
    env.reset(seed=0)
    steps = max(32, 2000 // copies)
    actions = draw_actions(np.random.default_rng(0), env.action_space, (steps, copies))
    seconds = []
    for _ in range(4):
        started = time.perf_counter()
        for step in range(steps):
            env.ctrl[:] = actions[step]
            env.batch.step(nstep=env.config.frame_skip)
        seconds.append(time.perf_counter() - started)
    env.close()
    return steps * copies / statistics.median(seconds)


def weights(sizes: Sequence[int]) -> int:
    """Return how many weights a perceptron with layers of these sizes has, biases apart."""
    return sum(before * after for before, after in itertools.pairwise(sizes))


def ppo_operations(observations: int, actions: int, layers: Sequence[int], epochs: int) -> tuple[float, float]:
    """Return the operations that a step costs in the rollout, and in the update.

    Forward is two operations a weight and backward four, but for the gradient of the observations, which nobody asks
    for.
    """
    nets = [weights([observations, *layers, outputs]) for outputs in (actions, 1)]
    first = 2 * observations * layers[0]
    return 2.0 * sum(nets), epochs * (6.0 * sum(nets) - 2.0 * first)


def off_policy_operations(algorithm: str, observations: int, actions: int, layers: Sequence[int], batch: int) -> float:
    """Return the operations of one update of SAC or TD3 with two critics.

    SAC: the actor on both observations and its gradients; the critics for targets, for their own gradients and for
    those of the actor. TD3 does the actor's part every second time, with one critic.
    """
    actor = weights([observations, *layers, (2 if algorithm == "SAC" else 1) * actions])
    critic = weights([observations + actions, *layers, 1])
    own = 2 * (6 * critic - 2 * (observations + actions) * layers[0])
    learns = 6 * actor - 2 * observations * layers[0]
    if algorithm == "SAC":
        return batch * float(2 * actor + 4 * critic + own + learns + 8 * critic)
    return batch * float(2 * actor + 4 * critic + own + (learns + 4 * critic) / 2)


def ppo_floor(model: Any, copies: int, threads: int) -> float:
    """Return the most steps a second that a model of PPO could do on half-cheetahs."""
    policy = model.policy
    layers = [layer.out_features for layer in policy.mlp_extractor.policy_net if hasattr(layer, "out_features")]
    sizes = (model.observation_space.shape[0], model.action_space.shape[0])
    rollout, update = ppo_operations(*sizes, layers, model.n_epochs)
    rate = matrix_rate(threads)
    return 1 / (1 / bare_speed(copies, min(copies, threads)) + (rollout + update) / rate)
