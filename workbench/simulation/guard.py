"""Errors in an author's code, turned into ones that say where."""

from __future__ import annotations

import inspect
import math
import traceback
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import SimulationError, WorkbenchError


def is_finite(numbers: NDArray[Any]) -> bool:
    """Return whether all numbers are finite."""
    # A sum of squares is half the work, and tells but for numbers so large that their squares are not finite.
    return math.isfinite(np.vdot(numbers, numbers)) or bool(np.isfinite(numbers).all())


class NotFiniteError(SimulationError):
    """A number of one copy of an environment is not finite.

    Args:
        environment: The name of the environment.
        copy: Which of its copies.
        step: The step of the copy's episode, counted from one.
        term: What the number is, in words.
        value: The number.
    """

    def __init__(self, environment: str, copy: int, step: int, term: str, value: object) -> None:
        super().__init__(f"{environment}, copy {copy}, step {step}: {term} is {value}.")
        self.environment = environment
        self.copy = copy
        self.step = step
        self.term = term
        self.value = value


class Guard:
    """Turns what an author's method raises into an error that names the environment, the file and the line."""

    def __init__(self, env: Any) -> None:
        self._env = env

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, WorkbenchError) or not isinstance(error, Exception):
            return
        own = {str(path) for path in map(module_path, type(self._env).__mro__) if path is not None}
        frames = [frame for frame in traceback.extract_tb(trace) if frame.filename in own]
        at = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno}, {frames[-1].name})" if frames else ""
        said = " ".join(str(error).split())
        raise SimulationError(f"{self._env.name} raised {type(error).__name__}: {said}{at}") from error


def module_path(cls: type) -> Path | None:
    """Return the file a class is defined in."""
    try:
        return Path(inspect.getfile(cls))
    except (TypeError, OSError):
        return None
