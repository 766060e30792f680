"""Observations that a policy meets, and what it does there: what every exported program is held against.

Most are visited: starts of episodes, and steps from there under the policy's own actions and under random ones. The
others are drawn from the normaliser's statistics, far ones among them that it cuts.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import WorkbenchError
from workbench.policies.actor import PolicyActor, Streams
from workbench.policies.export.parts import Parts
from workbench.policies.spaces import SpaceRecord, describe_space
from workbench.simulation import EnvSource, make_single
from workbench.simulation.config import plain

COUNT = 100
VISITED = 80
STRETCH = 10
"""Steps between two starts."""
SEED = 0
FAR = 12.0
"""Deviations from the mean of the farthest that are drawn; the normaliser cuts at 10 unless told otherwise."""


@dataclass(frozen=True)
class Surroundings:
    """What the environment of a policy tells, where it can be made here."""

    observations: NDArray[Any] | None = None
    """Visited, a row each."""
    docstring: str = ""
    source: EnvSource | None = None
    """The environment; None where it is not known."""
    config: Mapping[str, Any] | None = None
    """Its whole configuration, defaults too; None where it is not known."""
    period_s: float | None = None
    """Simulated time between two actions; None where it does not say."""
    observation_names: tuple[str, ...] = ()
    action_names: tuple[str, ...] = ()
    why_not: str = ""
    """Why it could not be looked at; empty where it could."""


@dataclass(frozen=True)
class Golden:
    """Golden vectors."""

    arrays: Mapping[str, NDArray[Any]]
    """By name: `observation`, `action`, and for a sampling program `noise` and `sampled_action`."""
    source: str
    """Where the observations come from, in words."""


def look(actor: PolicyActor) -> Surroundings:
    """Play a policy's environment for a moment; what stands in the way is told, not raised."""
    source = actor.description.environment
    if source is None:
        return Surroundings(why_not="the environment is not known")
    try:
        env = make_single(source)
    except WorkbenchError as error:
        return Surroundings(source=source, why_not=error.message)
    try:
        batch = getattr(env.unwrapped, "batch", None)
        core = env.unwrapped if batch is None else batch
        told = inspect.cleandoc(type(core).__doc__ or "")
        config: Mapping[str, Any] = source.env_cfg
        if batch is not None:
            config = plain(batch.config)
        wanted, found = actor.record.observation_space, describe_space(env.observation_space, "observations")
        if (found.kind, found.shape, found.n) != (wanted.kind, wanted.shape, wanted.n):
            return Surroundings(source=source, why_not=f"{source.name} gives other observations than it was trained on")
        period_s = getattr(env.unwrapped, "dt", None)
        return Surroundings(
            np.stack(list(_visit(actor, env))),
            told,
            source,
            config,
            period_s if isinstance(period_s, float) and period_s > 0 else None,
            tuple(getattr(env.unwrapped, "observation_names", ())),
            tuple(getattr(env.unwrapped, "action_names", ())),
        )
    except Exception as error:
        # An author's environment may raise anything; the export is checked on drawn observations then.
        return Surroundings(source=source, why_not=f"{source.name} raised {type(error).__name__}: {error}")
    finally:
        env.close()


def make_golden(actor: PolicyActor, parts: Parts, around: Surroundings, *, sampling: bool) -> Golden:
    """Return the golden vectors of a policy.

    Args:
        actor: The policy, which takes its best action.
        parts: The same policy's arrays.
        around: What its environment told.
        sampling: Add vectors for a sampling program.
    """
    observations, source = _observations(parts, around)
    arrays = {"observation": observations, "action": actor.act(observations)}
    if sampling:
        sampler = PolicyActor(actor.checkpoint, stochastic=True, seed=SEED)
        arrays["noise"] = np.stack(list(_noise(parts, len(observations))))
        arrays["sampled_action"] = sampler.act(observations)
    return Golden(arrays, source)


def _visit(actor: PolicyActor, env: Any) -> Iterator[Any]:
    env.action_space.seed(SEED)
    actor.reset([0])
    for stretch in range(VISITED // STRETCH):
        observation, _ = env.reset(seed=SEED + stretch)
        for _ in range(STRETCH):
            yield np.array(observation)
            is_own = stretch % 2 == 0
            action = actor.act(np.asarray(observation)[None])[0] if is_own else env.action_space.sample()
            observation, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                observation, _ = env.reset()


def _observations(parts: Parts, around: Surroundings) -> tuple[NDArray[Any], str]:
    space = parts.record.observation_space
    if space.kind == "discrete":
        return np.arange(COUNT, dtype=parts.observation_dtype) % space.size, f"all {space.size} choices, in turn"
    visited = around.observations
    drawn, from_what = _draw(parts, visited, COUNT - (0 if visited is None else len(visited)))
    shaped = drawn.reshape(-1, *space.shape)
    if visited is None:
        return shaped, f"{len(shaped)} drawn {from_what}; none visited: {around.why_not}"
    words = (
        f"{len(visited)} visited from {VISITED // STRETCH} starts, half under the policy's actions and half under "
        f"random ones; {len(shaped)} drawn {from_what}"
    )
    return np.concatenate([visited.astype(parts.observation_dtype), shaped]), words


def _draw(parts: Parts, visited: NDArray[Any] | None, count: int) -> tuple[NDArray[Any], str]:
    """Return flat rows around what the policy saw, within the space's bounds; and what they were drawn from."""
    space = parts.record.observation_space
    low, high = (bound.astype(np.float64) for bound in space.bounds())
    if parts.normalizer is not None:
        mean, scale = parts.normalizer.mean, parts.normalizer.scale
        words = "from the normaliser's statistics"
    elif visited is not None:
        rows = visited.reshape(len(visited), -1)
        mean, scale = rows.mean(axis=0), rows.std(axis=0)
        words = "around the visited ones"
    else:
        is_bounded = np.isfinite(low) & np.isfinite(high)
        first, last = np.where(is_bounded, low, -1.0), np.where(is_bounded, high, 1.0)
        mean, scale = first / 2 + last / 2, last / 4 - first / 4
        words = "from the bounds, or about zero where there are none"
    rng = np.random.default_rng(SEED)
    deviations = rng.standard_normal((count, space.size))
    deviations[-2:] = FAR * rng.choice([-1.0, 1.0], (len(deviations[-2:]), space.size))
    return _typed(np.clip(mean + scale * deviations, low, high), space, parts.observation_dtype), words


def _typed(rows: NDArray[Any], space: SpaceRecord, dtype: np.dtype[Any]) -> NDArray[Any]:
    if np.issubdtype(dtype, np.floating):
        low, high = space.bounds()
        # The nearest number of a smaller type may lie outside.
        typed: NDArray[Any] = np.clip(rows.astype(dtype), low.astype(dtype), high.astype(dtype))
        return typed
    limits = np.iinfo(dtype)
    whole: NDArray[Any] = np.clip(np.rint(rows), limits.min, limits.max).astype(dtype)
    return whole


def _noise(parts: Parts, count: int) -> Iterator[NDArray[Any]]:
    """Yield what a sampling actor of the seed draws for each row."""
    noise, streams = parts.noise, Streams(SEED)
    assert noise is not None
    for row in range(count):
        if parts.is_choice:
            yield streams.row(row).gumbel(size=noise.shape).astype(np.float32)
        else:
            yield streams.row(row).standard_normal(noise.shape, np.float32)
