"""Exploration noise: what copy i draws depends on the seed, on i and on how many steps it has done, on nothing else."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.noise import ActionNoise, NormalActionNoise, VectorizedActionNoise

Array = NDArray[Any]

BLOCK = 64
"""Steps whose noise `StepNoise` draws at once."""


class Kind(enum.IntEnum):
    """What noise is for; draws of different kinds have nothing to do with each other."""

    POLICY = 0
    """Standard normal, for the spread of the policy's own actions."""
    WARM_UP = 1
    """Even between -1 and 1, for actions before there is a policy worth asking."""
    ACTION = 2
    """Standard normal, for what is added to actions."""


class SeededNoise(BaseAlgorithm):
    """An algorithm whose exploration noise has a seed and a place of its own, apart from all other chance."""

    noise_seed: int
    """Of the exploration noise; with `noise_steps`, all there is to know of its generators. Loading seeds anew."""
    noise_steps: int
    """Steps that noise was drawn for, each copy."""

    def set_random_seed(self, seed: int | None = None) -> None:
        """Seed everything that is drawn at random; without a seed, exploration noise gets one by chance."""
        super().set_random_seed(seed)
        self.noise_seed = int(torch.randint(2**31, ())) if seed is None else seed
        self.noise_steps = 0


class StepNoise:
    """Noise of all copies one step after another.

    Args:
        seed: Of all of it.
        n_envs: Copies.
        size: Numbers a copy.
    """

    def __init__(self, seed: int, n_envs: int, size: int) -> None:
        self.seed, self.n_envs, self.size = seed, n_envs, size
        self._blocks: dict[Kind, tuple[int, Array]] = {}

    def draw(self, step: int, kind: Kind) -> Array:
        """Return the noise (n, size) of a step, the same whenever it is asked for."""
        first = step - step % BLOCK
        drawn = self._blocks.get(kind)
        if drawn is None or drawn[0] != first:
            drawn = self._blocks[kind] = (first, draw_noise(self.seed, first, BLOCK, self.n_envs, self.size, kind))
        noise: Array = drawn[1][step - first]
        return noise


def draw_noise(seed: int, first: int, steps: int, n_envs: int, size: int, kind: Kind = Kind.POLICY) -> Array:
    """Return noise (steps, n_envs, size) in single precision.

    Args:
        seed: Of all of it.
        first: Steps that each copy has drawn for before.
        steps: Steps to draw for.
        n_envs: Copies; what one gets does not depend on how many there are.
        size: Numbers a step and copy.
        kind: What for.
    """
    draws = np.empty((n_envs, steps, size), np.float32)
    for copy, own in enumerate(draws):
        generator = np.random.Generator(np.random.Philox(key=[seed, copy], counter=[0, first, int(kind), 0]))
        if kind is Kind.WARM_UP:
            generator.random(dtype=np.float32, out=own)
        else:
            generator.standard_normal(dtype=np.float32, out=own)
    if kind is Kind.WARM_UP:
        draws = draws * 2 - 1
    return np.ascontiguousarray(draws.swapaxes(0, 1))


def add_noise(actions: Array, action_noise: ActionNoise, normal: Array) -> Array:
    """Return actions (n, a) with action noise, within -1 and 1.

    Args:
        actions: (n, a), scaled to -1 to 1.
        action_noise: Normal noise takes its draws from `normal`; any other kind draws as it does by itself.
        normal: (n, a), standard normal.
    """
    every = action_noise.noises if type(action_noise) is VectorizedActionNoise else [action_noise]
    noise: Array
    if all(type(each) is NormalActionNoise for each in every):
        means, deviations = (
            np.stack([np.atleast_1d(getattr(each, name)) for each in every]) for name in ("_mu", "_sigma")
        )
        # One number for all of an action where the noise has but one.
        noise = (means + deviations * normal[:, : means.shape[1]]).astype(np.float32)
    else:
        noise = action_noise()
    return np.asarray(np.clip(actions + noise, -1, 1))
