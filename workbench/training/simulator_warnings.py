"""What MuJoCo warns of while a run trains: counted as metrics, and said once."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import mujoco

from workbench.training.log import RunLog

LOGGER = "workbench.simulation.mjcf"
"""Where the warnings of MuJoCo go."""


class SimulatorWarnings(logging.Handler):
    """Counts the warnings of MuJoCo by kind; each copy of an environment warns once an episode of each.

    Args:
        log: Where the first of each kind is told.
    """

    def __init__(self, log: RunLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log
        self._counts: Counter[str] = Counter()
        self._said: set[str] = set()

    @contextmanager
    def listening(self) -> Iterator[SimulatorWarnings]:
        """Take warnings in for a while."""
        logger = logging.getLogger(LOGGER)
        logger.addHandler(self)
        try:
            yield self
        finally:
            logger.removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Take a warning in; MuJoCo gives it from any of its threads."""
        message = record.getMessage()
        kind = _kind(message.removeprefix("MuJoCo: "))
        if kind is not None:
            self._counts[kind] += 1
        if (kind or message) not in self._said:
            self._said.add(kind or message)
            self._log.say(message)

    def drain(self) -> dict[str, float]:
        """Return how many there were since the last call, by metric."""
        counts, self._counts = self._counts, Counter()
        return {f"warnings/{kind}": float(count) for kind, count in counts.items()}


def _kind(message: str) -> str | None:
    """Return the kind of a warning that a simulation gives; None for others, as those of a model's compilation."""
    return next((kind for kind, beginning in _beginnings().items() if message.startswith(beginning)), None)


@cache
def _beginnings() -> dict[str, str]:
    """Return what the warnings that a simulation gives begin with, by kind."""
    count = int(mujoco.mjtWarning.mjNWARNING)
    return {
        mujoco.mjtWarning(index).name.removeprefix("mjWARN_").lower(): re.split(
            r"\d", mujoco.mju_warningText(index, 0)
        )[0]
        for index in range(count)
    }
