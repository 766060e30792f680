"""Where points of the world are in the window, and the way back; and the axes in its corner. Pure arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.viewer.camera import FIELD_OF_VIEW_DEG, View

Vector = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Lens:
    """A camera and the window it fills."""

    view_matrix: NDArray[np.floating[Any]]
    """From the world to the camera, `(4, 4)`; it looks along its -z."""
    width: float
    height: float

    @property
    def eye(self) -> Vector:
        """Where the camera is, `(3,)`."""
        rotation, shift = self.view_matrix[:3, :3], self.view_matrix[:3, 3]
        place: Vector = -rotation.T @ shift
        return place

    @property
    def _scale(self) -> float:
        return 0.5 * self.height / math.tan(math.radians(FIELD_OF_VIEW_DEG) / 2)

    def to_screen(self, point: Vector) -> tuple[float, float] | None:
        """Return the pixel of a point, from the upper left; None behind the camera."""
        x, y, z = self.view_matrix[:3, :3] @ point + self.view_matrix[:3, 3]
        if z >= -1e-9:
            return None
        scale = self._scale / -z
        return float(self.width / 2 + scale * x), float(self.height / 2 - scale * y)

    def pixels(self, metres: float, point: Vector) -> float:
        """Return how long something at a point is seen that lies across the view; 0 behind the camera."""
        z = float(self.view_matrix[2, :3] @ point + self.view_matrix[2, 3])
        return 0.0 if z >= -1e-9 else self._scale * metres / -z

    def ray(self, x: float, y: float) -> Vector:
        """Return the unit vector from the camera through a pixel, `(3,)`."""
        seen = np.array([x - self.width / 2, self.height / 2 - y, -self._scale])
        direction: Vector = self.view_matrix[:3, :3].T @ seen
        return direction / float(np.linalg.norm(direction))

    def at_depth(self, x: float, y: float, point: Vector) -> Vector:
        """Return the point below a pixel that is as far along the camera's axis as `point` is, `(3,)`."""
        axis = -self.view_matrix[2, :3]
        direction = self.ray(x, y)
        depth = float(axis @ (point - self.eye))
        found: Vector = self.eye + direction * (depth / float(axis @ direction))
        return found


@dataclass(frozen=True)
class Knob:
    """The end of one of the six half axes of the gizmo."""

    name: str
    """`x`, or `-x` for the half that points backwards."""
    axis: int
    x: float
    y: float
    """Where it is, in pixels from the gizmo's middle."""
    depth: float
    """Larger is nearer."""
    view: View
    """What looks at the model from there."""


def knobs(view_matrix: NDArray[np.floating[Any]], radius: float) -> list[Knob]:
    """Return the six ends of the axes, the farthest first.

    Args:
        view_matrix: From the world to the camera, `(4, 4)`.
        radius: Of the gizmo, in pixels.
    """
    found = []
    for axis, letter in enumerate("xyz"):
        for sign in (1, -1):
            x, y, z = sign * view_matrix[:3, axis]
            looks = np.zeros(3)
            looks[axis] = -sign
            # Straight up and down no side of the picture is up.
            view = View.along(looks, 0.0)
            view = View(view.azimuth_deg if axis < 2 else 90.0, min(max(view.elevation_deg, -89), 89), 0.0)
            name = letter if sign > 0 else f"-{letter}"
            found.append(Knob(name, axis, float(radius * x), float(-radius * y), float(z), view))
    return sorted(found, key=lambda knob: knob.depth)


def nearest_body(model: Any, data: Any, eye: Vector, direction: Vector, hidden: set[int]) -> tuple[int, Vector] | None:
    """Return the body that a ray from the eye hits first and where, or None; what is fixed to the world is hit by none.

    Args:
        model: The `MjModel`.
        data: Its `MjData`.
        eye: Where the ray begins, `(3,)`.
        direction: Its unit vector, `(3,)`.
        hidden: Bodies that are not shown, which it goes through.
    """
    import mujoco

    geom, start = np.zeros(1, np.int32), np.array(eye, dtype=float)
    travelled = 0.0
    # What is gone through is hit twice: from outside and from within.
    for _ in range(2 * model.ngeom + 1):
        distance = mujoco.mj_ray(model, data, start, direction, None, 1, -1, geom, None)
        if distance < 0:
            return None
        body = int(model.geom_bodyid[geom[0]])
        travelled += distance
        if body not in hidden and int(model.body_weldid[body]) != 0:
            return body, eye + travelled * direction
        if body not in hidden:
            return None
        travelled += 1e-6
        start = eye + travelled * direction
    return None
