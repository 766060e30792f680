"""The states of the episode being played, so that it can be gone back in; pure MuJoCo and NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

_S = mujoco.mjtState
_KEPT = int(_S.mjSTATE_FULLPHYSICS) | sum(
    int(part) for part in (_S.mjSTATE_CTRL, _S.mjSTATE_EQ_ACTIVE, _S.mjSTATE_MOCAP_POS, _S.mjSTATE_MOCAP_QUAT)
)
"""Time, positions, velocities, activations, controls and mocap poses: what a picture depends on, in float64."""

LIMIT_BYTES = 128 << 20
"""An episode without end keeps its newer half when its states reach this."""


@dataclass(frozen=True)
class Moment:
    """The numbers of an episode after some of its steps."""

    step: int = 0
    return_: float = 0.0
    reward: float = 0.0
    terms: Mapping[str, float] = field(default_factory=dict)


class EpisodeHistory:
    """The states of one episode, oldest first, and an `MjData` of its own to show any of them in.

    Args:
        model: The `MjModel` whose states are kept.
        limit_bytes: How much they may take.
    """

    def __init__(self, model: Any, *, limit_bytes: int = LIMIT_BYTES) -> None:
        self._model = model
        self._size = mujoco.mj_stateSize(model, _KEPT)
        self._most = max(4, limit_bytes // (8 * max(1, self._size)))
        self._states: NDArray[np.float64] = np.empty((min(256, self._most), self._size))
        self._moments: list[Moment] = []
        self._shown: Any = None

    @property
    def first(self) -> int:
        """The earliest step that is kept."""
        return self._moments[0].step if self._moments else 0

    @property
    def last(self) -> int:
        """The newest step that is kept."""
        return self._moments[-1].step if self._moments else 0

    def begin(self) -> None:
        """Forget the episode."""
        self._moments.clear()

    def add(self, data: Any, moment: Moment) -> None:
        """Keep the state that `data` is in; steps are added in order, none left out."""
        count = len(self._moments)
        if count == self._most:
            half = count // 2
            self._states[: count - half] = self._states[half:count]
            del self._moments[:half]
            count -= half
        elif count == len(self._states):
            grown = np.empty((min(2 * count, self._most), self._size))
            grown[:count] = self._states
            self._states = grown
        mujoco.mj_getState(self._model, data, self._states[count], _KEPT)
        self._moments.append(moment)

    def replace(self, data: Any) -> None:
        """Keep the state that `data` is in instead of the newest one; its numbers stay."""
        mujoco.mj_getState(self._model, data, self._states[len(self._moments) - 1], _KEPT)

    def moment(self, step: int) -> Moment:
        """Return the numbers of a step that is kept."""
        return self._moments[step - self.first]

    def data(self, step: int) -> Any:
        """Return an `MjData` in the state after a step, derived fields and all; the next call changes it."""
        if self._shown is None:
            self._shown = mujoco.MjData(self._model)
        mujoco.mj_setState(self._model, self._shown, self._states[step - self.first], _KEPT)
        mujoco.mj_forward(self._model, self._shown)
        return self._shown
