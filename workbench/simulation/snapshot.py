"""The state of all copies of an environment as plain data, from which they go on as if nothing had happened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from mujoco import batch as mujoco_batch
from numpy.typing import NDArray

from workbench.errors import SimulationError

if TYPE_CHECKING:
    from workbench.simulation.batch_env import BatchEnv

Snapshot = dict[str, Any]
"""Arrays, numbers, strings, None, and lists and dicts of them."""

_ITS_OWN = frozenset({"config", "n_envs", "name", "generators", "observation_space", "action_space", "square_sum"})
"""Attributes that are made anew and never change, and those that a snapshot has under another name."""


class OpenBatch(mujoco_batch.Batch):  # type: ignore[misc]
    """A `mujoco.batch.Batch` that knows which derived fields were bound.

    What they hold is not part of a simulation's state, for the next call replaces it; but an environment may read it
    before that call.
    """

    def __init__(self, model: Any, nsim: int, nthread: int) -> None:
        self.outputs: dict[str, NDArray[Any]] = {}
        super().__init__(model, nsim, nthread)

    def bind(self, name: str) -> NDArray[Any]:
        """Return a live array of a field, as the base class does."""
        found: NDArray[Any] = super().bind(name)
        if not np.shares_memory(found, self.state):
            self.outputs[name] = found
        return found


def take(env: BatchEnv[Any]) -> Snapshot:
    """Return the state of an environment: simulations, counters, generators, and its author's own."""
    batch = env.batch
    expanded = {name: batch.expanded(name) for name in mujoco_batch.MODEL_FIELDS}
    return {
        "rows": batch.state.copy(),
        "outputs": {name: array.copy() for name, array in batch.outputs.items()},
        "model": {name: array.copy() for name, array in expanded.items() if array is not None},
        "generators": [generator.bit_generator.state for generator in env.generators],
        "sums": [array.copy() for array in env.statistics.arrays],
        "terms": {} if env._terms is None else {name: array.copy() for name, array in env._terms.state().items()},
        "attributes": {name: _copied(value) for name, value in _kept(env) if name not in _ITS_OWN},
    }


def put_back(env: BatchEnv[Any], snapshot: Mapping[str, Any]) -> None:
    """Make the copies of an environment what they were.

    Raises:
        SimulationError: The snapshot is not one of such an environment.
    """
    batch = env.batch
    try:
        for name, array in snapshot["model"].items():
            _fill(batch.expand(name), array)
        _fill(batch.state, snapshot["rows"])
        for name, array in snapshot["outputs"].items():
            _fill_read_only(batch.bind(name), array)
        for own, array in zip(env.statistics.arrays, snapshot["sums"], strict=True):
            _fill(own, array)
        if env._terms is not None:
            env._terms.put_back(snapshot["terms"])
        env.generators = [_generator(state) for state in snapshot["generators"]]
        for name, value in snapshot["attributes"].items():
            _put_attribute(env, name, value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SimulationError(f"{env.name}: the saved state is that of another environment ({error}).") from error


def move_on(generator: np.random.Generator, number: int) -> None:
    """Let a generator draw on elsewhere than it would: far ahead, as far as a number says."""
    bits: Any = generator.bit_generator
    if hasattr(bits, "jumped"):
        bits.state = bits.jumped(number).state
    else:
        bits.state = type(bits)([number, *generator.integers(2**32, size=4)]).state


def _kept(env: BatchEnv[Any]) -> Iterator[tuple[str, Any]]:
    for name, value in vars(env).items():
        # Views of the simulations' state are saved with it.
        is_view = isinstance(value, np.ndarray) and np.may_share_memory(value, env.batch.state)
        if _is_plain(value) and not is_view:
            yield name, value


def _is_plain(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        # Derived fields are saved as such; nothing else is read-only and changes.
        return value.flags.writeable and value.dtype.kind in "biuf"
    if isinstance(value, dict):
        return all(isinstance(key, str) for key in value) and all(_is_plain(item) for item in value.values())
    if isinstance(value, list):
        return all(_is_plain(item) for item in value)
    return value is None or isinstance(value, bool | int | float | str)


def _copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _put_attribute(env: BatchEnv[Any], name: str, value: Any) -> None:
    own = getattr(env, name, None)
    # In place where it can be: another attribute may be a view of the array.
    if isinstance(own, np.ndarray) and isinstance(value, np.ndarray) and own.shape == value.shape:
        own[...] = value
    else:
        setattr(env, name, value)


def _fill(own: NDArray[Any], array: NDArray[Any]) -> None:
    if own.shape != array.shape:
        raise ValueError(f"{array.shape} numbers where there are {own.shape}")
    own[...] = array


def _fill_read_only(own: NDArray[Any], array: NDArray[Any]) -> None:
    own.flags.writeable = True
    try:
        _fill(own, array)
    finally:
        own.flags.writeable = False


def _generator(state: Any) -> np.random.Generator:
    generator = np.random.Generator(getattr(np.random, state["bit_generator"])())
    generator.bit_generator.state = state
    return generator
