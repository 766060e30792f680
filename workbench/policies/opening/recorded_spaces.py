"""Spaces of Gym and of Gymnasium, made anew from what a pickle records of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.errors import CheckpointError
from workbench.policies.opening.inert import class_of, dtype_name, path_of, plain

_MODULES = ("gym.spaces.", "gymnasium.spaces.")


def read_space(value: Any, what: str) -> Any:
    """Return the `gymnasium.Space` that a record of one describes, of whichever version of Gym.

    Args:
        value: What `read_pickle` made of it.
        what: Where it stands, for the sentence that refuses it.

    Raises:
        CheckpointError: It is none, or of a kind that Stable-Baselines3 does not know either.
    """
    path = class_of(value)
    if not path.startswith(_MODULES):
        raise CheckpointError(f"{what} is no space but {path or type(value).__name__}.")
    kind = path.rpartition(".")[2]
    try:
        return _make(kind, value.state, what)
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        raise CheckpointError(f"{what} is no whole {kind} space: {error}.") from None


def _make(kind: str, state: Mapping[str, Any], what: str) -> Any:
    from gymnasium import spaces

    if kind == "Box":
        low, high = (np.asarray(plain(state[name])) for name in ("low", "high"))
        dtype = np.dtype(dtype_name(state["dtype"])) if state.get("dtype") is not None else low.dtype
        # A file of Gym's may hold bounds of another type than the space.
        return spaces.Box(low.astype(dtype), high.astype(dtype), dtype=dtype.type)
    if kind == "Discrete":
        return spaces.Discrete(int(plain(state["n"])), start=int(plain(state.get("start", 0))))
    if kind == "MultiDiscrete":
        return spaces.MultiDiscrete(np.asarray(plain(state["nvec"])))
    if kind == "MultiBinary":
        count = plain(state["n"])
        return spaces.MultiBinary(
            tuple(int(plain(side)) for side in count) if isinstance(count, tuple | list) else int(count)
        )
    if kind == "Dict":
        return spaces.Dict({str(name): read_space(part, f"{what}.{name}") for name, part in state["spaces"].items()})
    raise CheckpointError(f"{what} is a {kind} space, which no policy of Stable-Baselines3 reads.")


def is_space(value: Any) -> bool:
    """Tell whether a record is of a space."""
    return path_of(value) != "" and class_of(value).startswith(_MODULES)
