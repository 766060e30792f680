"""Observation and action spaces as JSON, for the two kinds that policies here can read and write."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, PositiveInt, model_validator

from workbench.errors import RequestError


class SpaceRecord(BaseModel):
    """A box of numbers or a finite set of choices."""

    model_config = ConfigDict(frozen=True, strict=True)

    kind: Literal["box", "discrete"]
    """Which of Gymnasium's spaces."""
    shape: tuple[int, ...] = ()
    """A box's shape."""
    low: tuple[float | None, ...] = ()
    """A box's lower bounds, flattened; null is minus infinity."""
    high: tuple[float | None, ...] = ()
    """A box's upper bounds, flattened; null is infinity."""
    dtype: str
    """The NumPy type of one element."""
    n: PositiveInt | None = None
    """How many choices a discrete space has."""

    @model_validator(mode="after")
    def _complete(self) -> SpaceRecord:
        if self.kind == "discrete" and self.n is None:
            raise ValueError("a discrete space must say n, how many choices it has")
        if self.kind == "box" and not len(self.low) == len(self.high) == math.prod(self.shape):
            raise ValueError(f"a box of shape {self.shape} needs {math.prod(self.shape)} lower and upper bounds")
        return self

    @property
    def size(self) -> int:
        """Numbers a network sees or gives: a box's elements, or one for each choice."""
        return math.prod(self.shape) if self.n is None else self.n

    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return a box's lower and upper bounds, flattened."""
        low = np.array([-np.inf if value is None else value for value in self.low], np.float32)
        high = np.array([np.inf if value is None else value for value in self.high], np.float32)
        return low, high


def describe_space(space: Any, what: str) -> SpaceRecord:
    """Return the record of a Gymnasium space.

    Args:
        space: The space.
        what: `observations` or `actions`, for the sentence that refuses.

    Raises:
        RequestError: The space is an image, a dictionary, or another kind that no policy here can read.
    """
    kind = type(space).__name__
    if kind == "Discrete":
        if space.start != 0:
            raise RequestError(f"the {what} are choices from {space.start} on; Stable-Baselines3 counts them from 0.")
        return SpaceRecord(kind="discrete", dtype=str(space.dtype), n=int(space.n))
    if kind != "Box":
        raise RequestError(f"the {what} are a {kind} space; workbench trains on Box and Discrete spaces.")
    if len(space.shape) == 3 and space.dtype == np.uint8:
        raise RequestError(f"the {what} are images of shape {space.shape}; workbench trains on vectors of numbers.")
    return SpaceRecord(
        kind="box",
        shape=tuple(int(side) for side in space.shape),
        low=tuple(_finite(value) for value in np.ravel(space.low)),
        high=tuple(_finite(value) for value in np.ravel(space.high)),
        dtype=str(space.dtype),
    )


def _finite(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None
