"""Pacing: how many steps are due after so much real time, at the speed asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator

from workbench.remote.declaration import FASTEST, SLOWEST

__all__ = ["FASTEST", "SLOWEST", "SPEEDS", "Pacer", "clamp_speed", "faster", "slower", "snapped"]

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""The speeds that keys go through."""

SNAP = 0.08
"""How near to real time a slider is held there, in doublings: some 4 pixels to both sides."""

LONGEST_S = 0.25
"""Real time that counts at once: after a pause of the machine the simulation does not race to catch up."""


class Pacer:
    """Turns real time into steps that are due.

    Args:
        period_s: Simulated seconds in a step.
    """

    def __init__(self, period_s: float) -> None:
        self._period_s = period_s
        self._owed_s = 0.0

    def wait(self, wall_s: float, speed: float) -> None:
        """Let real time pass."""
        self._owed_s += min(max(wall_s, 0.0), LONGEST_S) * speed

    def steps(self) -> Iterator[None]:
        """Yield once for each step that is due; a caller that leaves early owes the rest."""
        while self._owed_s >= self._period_s - 1e-9:
            self._owed_s -= self._period_s
            yield

    def forgive(self) -> None:
        """Owe nothing: the machine cannot keep up, or the simulation was paused."""
        self._owed_s = 0.0


def clamp_speed(speed: float) -> float:
    """Return the nearest speed within bounds."""
    return min(max(speed, SLOWEST), FASTEST)


def snapped(speed: float) -> float:
    """Return real time for a speed near it, which a slider alone would hardly ever hit."""
    return 1.0 if abs(math.log2(speed)) < SNAP else speed


def faster(speed: float) -> float:
    """Return the next speed up."""
    return next((step for step in SPEEDS if step > speed + 1e-6), FASTEST)


def slower(speed: float) -> float:
    """Return the next speed down."""
    return next((step for step in reversed(SPEEDS) if step < speed - 1e-6), SLOWEST)
