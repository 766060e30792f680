"""What goes into and comes out of an author's methods, checked: shapes, names, and that numbers are finite."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.errors import SimulationError
from workbench.simulation.episodes import Floats
from workbench.simulation.guard import NotFiniteError, is_finite

if TYPE_CHECKING:
    from workbench.simulation.batch_env import BatchEnv


def take_actions(env: BatchEnv[Any], actions: NDArray[Any]) -> NDArray[Any]:
    """Return actions (n, a) clipped to their bounds, as a new array.

    Raises:
        SimulationError: They have another shape, or one is not finite.
    """
    taken = np.asarray(actions)
    if taken.dtype.kind != "f":
        taken = taken.astype(np.float64)
    due = (env.n_envs, *env.action_space.shape)
    if taken.shape != due:
        raise SimulationError(f"{env.name} was given actions {taken.shape} where {due} is due.")
    if not is_finite(taken):
        copy, index = (int(at) for at in np.argwhere(~np.isfinite(taken))[0])
        term = f"the action {env.action_names[index]}"
        raise NotFiniteError(env.name, copy, int(env.lengths[copy]) + 1, term, taken[copy, index])
    clipped: NDArray[Any] = np.maximum(taken, env.action_space.low)
    np.minimum(clipped, env.action_space.high, out=clipped)
    return clipped


def take_observations(env: BatchEnv[Any], seen: NDArray[Any], due: tuple[int, ...]) -> Floats:
    """Return what `observe` gave as a new array: that may be a live view, and the caller keeps this one.

    Raises:
        SimulationError: They have another shape than `due`, or one is not finite.
    """
    observations = np.array(seen, dtype=np.float64)
    if observations.shape != due:
        raise SimulationError(f"{env.name}: observe gave {observations.shape} where {due} is due.")
    env.square_sum = square_sum = float(np.vdot(observations, observations))
    if not math.isfinite(square_sum) and not np.isfinite(observations).all():
        copy, index = (int(at) for at in np.argwhere(~np.isfinite(observations))[0])
        term = f"the observation {(*env.observation_names, *env.critic_names)[index]}"
        raise NotFiniteError(env.name, copy, int(env.lengths[copy]), term, observations[copy, index])
    return observations


def fill(env: BatchEnv[Any], values: Floats, start: int, names: Sequence[str], given: Mapping[str, ArrayLike]) -> None:
    """Write numbers given by name into rows (n,) of `values`, from a row on: the reward terms', or the infos'.

    Raises:
        SimulationError: There are others than before, or one has another shape.
    """
    hook, expected = ("info", env.info_names) if start else ("reward_terms", env.reward_names)
    if len(given) != len(expected):
        raise SimulationError(f"{env.name}: {hook} gave {', '.join(given)} and before {', '.join(expected)}.")
    for row, name in enumerate(names, start):
        try:
            values[row] = given[name]
        except (KeyError, ValueError, TypeError) as error:
            due = f"numbers ({env.n_envs},) for {name}"
            raise SimulationError(f"{env.name}: {hook} must give {due}, and gave {given.get(name)!r}.") from error


def refuse_reward(env: BatchEnv[Any], terms: Floats) -> NoReturn:
    """Raise the error about the first number of `terms` (terms + 1, n) that is not finite."""
    row, copy = (int(at) for at in np.argwhere(~np.isfinite(terms))[0])
    what = f"the reward term {env.reward_names[row]}" if row < len(env.reward_names) else "the reward"
    raise NotFiniteError(env.name, copy, int(env.lengths[copy]), what, terms[row, copy])


def take_names(env: BatchEnv[Any], hook: str, given: Sequence[str], size: int, single: str) -> tuple[str, ...]:
    """Return a name for each of `size` numbers: those given, or numbered ones where none are.

    Raises:
        SimulationError: There are more or fewer.
    """
    names = tuple(given) or tuple(f"{single}_{index}" for index in range(size))
    if len(names) != size:
        raise SimulationError(f"{env.name}: {hook} gave {len(names)} names for {size} numbers.")
    return names


def map_controls(env: BatchEnv[Any]) -> tuple[Floats, Floats] | None:
    """Return offset and scale from actions to controls, or None where they are the same numbers."""
    low, high = env.action_space.low.astype(np.float64), env.action_space.high.astype(np.float64)
    limited = env.model.actuator_ctrllimited.astype(bool)
    span = env.model.actuator_ctrlrange
    if len(low) != env.model.nu or not limited.all() or np.allclose(span, np.stack([low, high], axis=1)):
        return None
    scale = (span[:, 1] - span[:, 0]) / (high - low)
    return span[:, 0] - low * scale, scale
