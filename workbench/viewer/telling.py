"""The last step of a session as plain data: what the environment tab shows, and copies as JSON."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from workbench.viewer.session import Session

MOST_NUMBERS = 1000
"""Of one array; a picture is told by its shape."""


def last_step(session: Session) -> dict[str, Any]:
    """Return the values of the protocol's `step` event."""
    return {
        "seed": session.seed,
        "step": session.steps,
        "observation": named(session.observation, names_of(session, "observation")),
        "action": {} if session.action is None else named(session.action, names_of(session, "action")),
        "reward": session.reward,
        "terms": dict(session.terms),
        "info": {str(name): plain(value) for name, value in session.info.items()},
    }


def as_json(session: Session) -> str:
    """Return the last step as one JSON document."""
    return json.dumps(last_step(session), indent=2)


def names_of(session: Session, what: str) -> tuple[str, ...]:
    """Return the names that an environment has for the numbers of its `observation` or its `action`."""
    return tuple(getattr(session.env.unwrapped, f"{what}_names", ()))


def named(numbers: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return numbers by name; those without one are called by their place, and a picture is told by its shape."""
    if isinstance(numbers, dict):
        return {str(name): plain(value) for name, value in numbers.items()}
    if isinstance(numbers, tuple):
        return {str(place): plain(value) for place, value in enumerate(numbers)}
    values = np.asarray(numbers)
    if values.size > MOST_NUMBERS:
        return {"shape": list(values.shape)}
    flat = values.ravel().tolist()
    chosen = names if len(names) == len(flat) else tuple(str(place) for place in range(len(flat)))
    return dict(zip(chosen, (plain(value) for value in flat), strict=True))


def plain(value: Any) -> Any:
    """Return a value as JSON has it: numbers that are not finite as null, what is none of it as text."""
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist()) if np.size(value) <= MOST_NUMBERS else f"array of shape {np.shape(value)}"
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
