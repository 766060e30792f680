"""Where the camera stands, and how it follows: smoothing by time, so that the frame rate changes nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NewType

import mujoco
import numpy as np
from numpy.typing import NDArray

from workbench.errors import RequestError
from workbench.suggest import nearest_one
from workbench.viewer.framing import Framing

Vector = NDArray[np.floating[Any]]

ORTHOGRAPHIC = int(mujoco.mjtProjection.mjPROJ_ORTHOGRAPHIC)

FIELD_OF_VIEW_DEG = 40.0
"""The vertical angle of view."""

DISTANCE = 2.9
"""Distance from the camera in radii of the model."""

ALONG_S = 0.2
"""Time constant of following over the ground."""

CameraName = NewType("CameraName", str)
"""A camera that the model has itself."""

UP_S = 1.0
"""Time constant of following upwards: longer, so that a gait's bobbing does not shake the picture."""


@dataclass(frozen=True)
class View:
    """A direction and a distance, in MuJoCo's terms."""

    azimuth_deg: float
    elevation_deg: float
    distance: float = 0.0
    """Metres from the camera to what it looks at; 0 where the model's size decides."""

    @classmethod
    def parse(cls, text: str) -> View:
        """Read `AZIMUTH,ELEVATION[,DISTANCE]`; a distance of 0 means what shows the whole model.

        Raises:
            RequestError: It is not two or three numbers, or looks straight up or down.
        """
        try:
            numbers = [float(part) for part in text.split(",")]
        except ValueError:
            numbers = []
        if len(numbers) not in (2, 3) or not all(math.isfinite(number) for number in numbers):
            raise RequestError(
                f"--camera takes AZIMUTH,ELEVATION[,DISTANCE] such as 135,-16,4, or the name of one of the model's "
                f"cameras, not `{text}`."
            )
        azimuth, elevation, distance = [*numbers, 0.0][:3]
        if not -89 <= elevation <= 89 or distance < 0:
            raise RequestError(f"--camera takes an elevation from -89 to 89 and a distance from 0, not `{text}`.")
        return cls(azimuth, elevation, distance)

    @classmethod
    def along(cls, direction: Vector, distance: float) -> View:
        """Return the view along a unit vector `(3,)`."""
        x, y, z = (float(part) for part in direction)
        return cls(math.degrees(math.atan2(y, x)), math.degrees(math.asin(min(max(z, -1.0), 1.0))), distance)

    @property
    def direction(self) -> Vector:
        """The unit vector that the camera looks along, `(3,)`."""
        azimuth, elevation = math.radians(self.azimuth_deg), math.radians(self.elevation_deg)
        level = math.cos(elevation)
        return np.array([level * math.cos(azimuth), level * math.sin(azimuth), math.sin(elevation)])

    def position(self, target: Vector) -> Vector:
        """Return where the camera stands when it looks at `target`."""
        return target - self.distance * self.direction


def parse_camera(text: str) -> View | CameraName:
    """Read a view, or take `text` for the name of a camera of the model.

    Raises:
        RequestError: It is neither.
    """
    names_one = "," not in text and text.strip() and not _is_number(text)
    return CameraName(text.strip()) if names_one else View.parse(text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def find_camera(model: Any, name: CameraName) -> int:
    """Return the number of a camera of the model.

    Raises:
        RequestError: It has none of that name; says which there are.
    """
    names = [str(model.cam(index).name) for index in range(model.ncam)]
    if name not in names:
        near = nearest_one(name, names)
        known = f"its cameras are {', '.join(filter(None, names))}" if any(names) else "it has none"
        hint = f"Did you mean {near}?" if near else "AZIMUTH,ELEVATION such as 135,-16 needs no camera."
        raise RequestError(f"the model has no camera `{name}`; {known}.", hint=hint)
    return names.index(name)


@dataclass(frozen=True)
class Projection:
    """How a camera maps what it sees."""

    is_orthographic: bool
    fov_deg: float
    """Polyscope's vertical angle of view, which stands for a height in metres where nothing gets smaller far away."""


def projection_of(model: Any, camera: int, length_scale: float) -> Projection:
    """Return the projection of a camera of the model.

    Args:
        model: The `MjModel`.
        camera: Its number.
        length_scale: Polyscope's measure of the scene, in metres. What it shows without perspective is
            `4 * length_scale * tan(angle / 2)` high.
    """
    seen = float(model.cam_fovy[camera])
    if int(model.cam_projection[camera]) != ORTHOGRAPHIC:
        return Projection(False, seen)
    return Projection(True, 2 * math.degrees(math.atan(seen / (4 * length_scale))))


def view_of(framing: Framing, wanted: View | None = None, aspect: float = 1.0) -> View:
    """Return the wanted view with its distance filled in, or one that shows the model well.

    Args:
        framing: The model's measures.
        wanted: The view, its distance 0 where it is to be found.
        aspect: Width of the picture over its height; a model is seen whole in narrow ones too.
    """
    view = wanted or View(framing.azimuth_deg, framing.elevation_deg)
    if view.distance:
        return view
    whole = DISTANCE * framing.radius / min(1.0, max(aspect, 0.1))
    half = math.tan(math.radians(FIELD_OF_VIEW_DEG / 2))
    return replace(view, distance=max(whole, framing.upright(view.elevation_deg) / half))


class Follower:
    """A point that follows another smoothly, and stays behind nothing that moves steadily.

    A critically damped spring that also heeds the velocity of what it follows: plain smoothing would trail a fast
    runner by a whole frame's width. It is solved exactly for a target that moves in a straight line between two
    updates, so that two half steps bring the point where one whole step does. After a jump it moves over the ground as
    fast as what it follows does from there on: one that had to speed up first would be left behind by a runner.

    Args:
        along_s: Time constant over the ground; upwards it is longer in proportion, and 0 follows at once.
    """

    def __init__(self, along_s: float = ALONG_S) -> None:
        self.along_s = along_s
        self._point: Vector | None = None
        self._velocity: Vector = np.zeros(3)
        self._target: Vector = np.zeros(3)
        self._is_fresh = True
        """Nothing has moved since the jump."""

    def reset(self) -> None:
        """Forget where the point was: the next update jumps."""
        self._point = None

    def update(self, target: Vector, elapsed_s: float) -> Vector:
        """Follow to `target`, where what is followed came within `elapsed_s`, and return the new point, `(3,)`."""
        target = np.array(target, dtype=float)
        if self._point is None or self.along_s <= 0:
            self._point, self._velocity, self._is_fresh = target, np.zeros(3), True
        elif elapsed_s > 0:
            pull = 1 / (self.along_s * np.array([1.0, 1.0, UP_S / ALONG_S]))
            speed = (target - self._target) / elapsed_s
            if self._is_fresh:
                # Upwards it does not: a jump into the middle of a leap is no climb.
                self._velocity, self._is_fresh = np.array([speed[0], speed[1], 0.0]), False
            behind, falling_behind = self._target - self._point, speed - self._velocity
            decay = np.exp(-pull * elapsed_s)
            slope = falling_behind + pull * behind
            self._point = target - (behind + slope * elapsed_s) * decay
            self._velocity = speed - (falling_behind - pull * slope * elapsed_s) * decay
        self._target = target
        return self._point.copy()
