"""The height of the ground below a point: planes, height fields and level boxes that cannot move."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from workbench.simulation.episodes import Floats

LEVEL = 1e-6
"""What 1 − cos of the tilt of a height field or a box may be for its top to count as level."""


class Ground:
    """What stands still in a model, to walk on.

    A plane or a height field is ground wherever it reaches; the top of a box is where it is not above the point that
    is asked about, so that a table or a bridge one walks below is none. Zero where there is no ground.

    Args:
        model: The compiled `MjModel`.
    """

    def __init__(self, model: Any) -> None:
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        still = np.flatnonzero(model.body_weldid[model.geom_bodyid] == 0)
        self._planes: list[tuple[Floats, Floats]] = []
        self._boxes: list[tuple[Floats, Floats, Floats]] = []
        self._fields: list[_Field] = []
        for geom in still:
            if not (model.geom_contype[geom] or model.geom_conaffinity[geom]):
                continue
            place, turn = data.geom_xpos[geom].copy(), data.geom_xmat[geom].reshape(3, 3).copy()
            kind = int(model.geom_type[geom])
            if kind == int(mujoco.mjtGeom.mjGEOM_PLANE) and turn[2, 2] > LEVEL:
                self._planes.append((place, turn[:, 2]))
            elif kind == int(mujoco.mjtGeom.mjGEOM_BOX) and turn[2, 2] > 1 - LEVEL:
                self._boxes.append((place, turn, model.geom_size[geom].copy()))
            elif kind == int(mujoco.mjtGeom.mjGEOM_HFIELD) and turn[2, 2] > 1 - LEVEL:
                self._fields.append(_Field(model, int(model.geom_dataid[geom]), place, turn))

    def below(self, points: Floats) -> Floats:
        """Return the height of the ground (n,) below points (n, 3)."""
        height = np.full(len(points), -np.inf)
        for place, normal in self._planes:
            level = place[2] - ((points[:, :2] - place[:2]) @ normal[:2]) / normal[2]
            np.maximum(height, level, out=height)
        for field in self._fields:
            np.maximum(height, field.height(points), out=height)
        for place, turn, size in self._boxes:
            local = (points - place) @ turn
            top = place[2] + size[2]
            over = (np.abs(local[:, :2]) <= size[:2]).all(axis=1) & (points[:, 2] >= top)
            np.maximum(height, np.where(over, top, -np.inf), out=height)
        return np.where(np.isfinite(height), height, 0.0)


class _Field:
    """One height field, triangulated as MuJoCo collides with it."""

    def __init__(self, model: Any, field: int, place: Floats, turn: Floats) -> None:
        rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
        first = int(model.hfield_adr[field])
        self._data: NDArray[Any] = model.hfield_data[first : first + rows * columns].reshape(rows, columns)
        self._size = model.hfield_size[field].copy()
        self._place, self._turn = place, turn

    def height(self, points: Floats) -> Floats:
        rows, columns = self._data.shape
        local = (points - self._place) @ self._turn
        x = (local[:, 0] / self._size[0] + 1) * (columns - 1) / 2
        y = (local[:, 1] / self._size[1] + 1) * (rows - 1) / 2
        inside = (x >= 0) & (x <= columns - 1) & (y >= 0) & (y <= rows - 1)
        column = np.clip(np.floor(x), 0, columns - 2).astype(np.intp)
        row = np.clip(np.floor(y), 0, rows - 2).astype(np.intp)
        along, across = x - column, y - row
        near, right = self._data[row, column], self._data[row, column + 1]
        far, beyond = self._data[row + 1, column], self._data[row + 1, column + 1]
        # The diagonal of a cell goes from its near left to its far right corner.
        lower = near + along * (right - near) + across * (beyond - right)
        upper = near + across * (far - near) + along * (beyond - far)
        level = np.where(along >= across, lower, upper) * self._size[2] + self._place[2]
        return np.where(inside, level, -np.inf)
