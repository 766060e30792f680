"""Collection: steps with a policy, normalised and stored, beside bare physics and beside what others step with."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
import stable_baselines3
import torch
from gymnasium.wrappers import vector as vector_wrappers
from mujoco import batch
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecNormalize

from workbench.bench.document import load
from workbench.bench.figures import Figure
from workbench.bench.floors import bare_speed
from workbench.bench.on_policy import Side, batched_copies, gymnasium_copy
from workbench.bench.rivals import Kind
from workbench.bench.turns import ratio, take_turns, torch_threads
from workbench.runs.machine import usable_cpus
from workbench.training.fast.ppo import PPO

TURN_STEPS = 8192
"""Steps of ours in a turn, all copies together."""
OTHERS_TURN_STEPS = 4096

OTHERS_NAME = "collection over the best vector environment of others"


@dataclass(frozen=True)
class Way:
    """A way others step copies, and how many copies."""

    kind: Kind
    copies: int

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"{self.kind} with {self.copies} copies"


SHORT_WAYS = (
    *(Way("SB3 Dummy", copies) for copies in (16, 64)),
    Way("SB3 Subproc", 8),
    *(Way("Gymnasium Sync", copies) for copies in (16, 64)),
    Way("Gymnasium Async", 8),
)
WAYS = (
    *(Way("SB3 Dummy", copies) for copies in (8, 16, 64, 256)),
    *(Way("SB3 Subproc", copies) for copies in (2, 8, 16)),
    *(Way("Gymnasium Sync", copies) for copies in (8, 16, 64, 256)),
    *(Way("Gymnasium Async", copies) for copies in (2, 8, 16)),
)


def bare_name(copies: int) -> str:
    """Return what the table calls collection beside bare physics."""
    return f"collection, {copies} copies, over bare Batch.step"


def measure_over_bare(copies: int, repeats: int) -> Figure:
    """Compare rollouts with the bare simulation of the same actions from the same states on the same threads."""
    with torch_threads(1):
        side = _our_side(copies)
        env: Any = side.model.env.unwrapped.env  # type: ignore[union-attr]
        env_threads = int(env.batch.nthread)
        bare = batch.Batch(env.model, copies, env_threads)
        ctrl = bare.bind("ctrl")
        ours: list[float] = []
        alone: list[float] = []
        for turn in range(repeats + 1):
            state = np.array(env.batch.state)
            seconds = side.collect()
            actions = np.clip(side.model.rollout_buffer.actions, env.action_space.low, env.action_space.high)
            bare.state[:] = state
            started = time.perf_counter()
            for step in range(side.model.n_steps):
                ctrl[:] = actions[step]
                bare.step(nstep=env.config.frame_skip)
            if turn:
                alone.append(time.perf_counter() - started)
                ours.append(seconds)
        side.close()
    speeds = [side.steps / statistics.median(each) for each in (ours, alone)]
    return Figure(
        bare_name(copies),
        0.8,
        value=ratio(alone, ours),
        best=min(alone) / min(ours),
        ours=speeds[0],
        theirs=speeds[1],
        floor=speeds[1],
        repeats=repeats,
        load=load(),
        note=f"{env_threads} threads",
    )


def measure_over_others(ways: tuple[Way, ...], repeats: int, copies: tuple[int, ...] = (64, 256)) -> Figure:
    """Compare rollouts at our best number of copies with the best way others have, at its best number of copies."""
    with torch_threads(1):
        found = {}
        for way in ways:
            other = _other(way)
            found[way] = OTHERS_TURN_STEPS / min(take_turns([other.run], 2)[0])
            other.close()
        best = max(found, key=found.__getitem__)
        sides = {number: _our_side(number) for number in copies}
        speeds = {number: min(take_turns([side.collect], 2)[0]) for number, side in sides.items()}
        chosen = min(speeds, key=speeds.__getitem__)
        ours, rival = sides[chosen], _other(best)
        mine, theirs = take_turns([ours.collect, rival.run], repeats)
        rival.close()
        for side in sides.values():
            side.close()
    scale = ours.steps / OTHERS_TURN_STEPS
    return Figure(
        OTHERS_NAME,
        4.0,
        value=ratio(theirs, mine) * scale,
        best=min(theirs) / min(mine) * scale,
        ours=ours.steps / statistics.median(mine),
        theirs=OTHERS_TURN_STEPS / statistics.median(theirs),
        floor=bare_speed(chosen, usable_cpus()),
        repeats=repeats,
        load=load(),
        note=f"{chosen} copies over {best.name}",
        details={"others": {way.name: round(speed) for way, speed in found.items()}},
    )


def _our_side(copies: int) -> Side:
    return Side.make(PPO, batched_copies(copies), {"n_steps": max(32, TURN_STEPS // copies), "batch_size": 512})


@dataclass(frozen=True)
class Other:
    """One way of others, ready to step."""

    run: Callable[[], object]
    """Takes `OTHERS_TURN_STEPS` steps."""
    close: Callable[[], None]


def _other(way: Way) -> Other:
    steps = max(1, OTHERS_TURN_STEPS // way.copies)
    if way.kind in ("SB3 Dummy", "SB3 Subproc"):
        chosen = DummyVecEnv if way.kind == "SB3 Dummy" else SubprocVecEnv
        env = VecNormalize(make_vec_env(gymnasium_copy, way.copies, seed=0, vec_env_cls=chosen))
        side = Side.make(stable_baselines3.PPO, env, {"n_steps": steps, "batch_size": 64})
        return Other(side.collect, side.close)
    loop = GymnasiumLoop(way, steps)
    return Other(loop.run, loop.close)


class GymnasiumLoop:
    """Rollouts as one writes them by hand on Gymnasium's vector environments: its statistics, its normalisers.

    Args:
        way: Which of them, and how many copies.
        steps: Of a rollout.
    """

    def __init__(self, way: Way, steps: int) -> None:
        makers = [gymnasium_copy] * way.copies
        made: Any
        if way.kind == "Gymnasium Async":
            # Forking a process with threads of the simulator and of torch may never end.
            made = gymnasium.vector.AsyncVectorEnv(makers, context="forkserver")
        else:
            made = gymnasium.vector.SyncVectorEnv(makers)
        made = vector_wrappers.RecordEpisodeStatistics(made)
        self._env: Any = vector_wrappers.NormalizeReward(vector_wrappers.NormalizeObservation(made))
        sizes = (made.single_observation_space, made.single_action_space)
        self._policy = stable_baselines3.ppo.MlpPolicy(*sizes, lambda _: 3e-4)
        self._low, self._high = sizes[1].low, sizes[1].high
        self._observations = np.zeros((steps, way.copies, *sizes[0].shape), np.float32)
        self._actions = np.zeros((steps, way.copies, *sizes[1].shape), np.float32)
        self._numbers = np.zeros((4, steps, way.copies), np.float32)
        self._last = self._env.reset(seed=0)[0]

    def run(self) -> None:
        """Do one rollout."""
        with torch.inference_mode():
            for step, stored in enumerate(self._observations):
                stored[...] = self._last
                acted, values, log_probs = self._policy(torch.from_numpy(stored))
                actions = acted.numpy()
                self._last, rewards, terminated, truncated, _ = self._env.step(np.clip(actions, self._low, self._high))
                self._actions[step] = actions
                self._numbers[:, step] = rewards, terminated | truncated, values.numpy()[:, 0], log_probs.numpy()

    def close(self) -> None:
        """Let the environments go."""
        self._env.close()
