"""Terms of a floating base: the body with a free joint, or that named `robot` where there are several.

Velocities are in the body's own axes, as is what walking robots are told to do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workbench.simulation.episodes import Floats
from workbench.simulation.terms.bodies import lean
from workbench.simulation.terms.ground import Ground
from workbench.simulation.terms.keywords import Base, GoalName, Heading, Number, Positive, Tolerance
from workbench.simulation.terms.registry import Reader, Values, entry
from workbench.simulation.terms.scene import FloatingBase, Scene


@entry("bool")
def base_tipped(scene: Scene, tol: Tolerance = 0.15, robot: Base | None = None) -> Reader:
    """The base is tilted: 1 − cos of its tilt is more than `tol`."""
    base = scene.base(robot)
    return lambda: lean(base.quaternion) > tol


@entry("bool")
def base_below_z(scene: Scene, z: Number, robot: Base | None = None) -> Reader:
    """The base is less than `z` above the ground below it, in m."""
    height = _height(scene, scene.base(robot))
    return lambda: height() < z


@entry("bool")
def base_beyond_x(scene: Scene, x: Number, robot: Base | None = None) -> Reader:
    """The base is beyond `x`, in m."""
    base = scene.base(robot)
    return lambda: base.position[:, 0] > x


@entry("bool")
def base_beyond_y(scene: Scene, y: Number, robot: Base | None = None) -> Reader:
    """The base is beyond `y`, in m."""
    base = scene.base(robot)
    return lambda: base.position[:, 1] > y


@entry("bool")
def base_yaw_beyond(scene: Scene, yaw: Heading, robot: Base | None = None) -> Reader:
    """The base's heading is beyond `yaw`, in rad, to the left of the x-axis; it jumps from π to −π."""
    base = scene.base(robot)

    def read() -> NDArray[np.bool_]:
        w, x, y, z = base.quaternion.T
        heading = np.arctan2(2 * (w * z + x * y), w * w + x * x - y * y - z * z)
        beyond: NDArray[np.bool_] = heading > yaw
        return beyond

    return read


def _one_command(values: Values) -> None:
    if values["command"] is not None and any(values[name] for name in ("vx", "vy", "wz")):
        raise ValueError("command names a goal of vx, vy and wz, so that none of them can be given too")


@entry("float", check=_one_command)
def base_velocity(
    scene: Scene,
    vx: Number = 0.0,
    vy: Number = 0.0,
    wz: Number = 0.0,
    command: GoalName | None = None,
    robot: Base | None = None,
) -> Reader:
    """Minus how far forward and sideways velocity (m/s) and yaw rate (rad/s) are from `vx`, `vy`, `wz`, or a goal."""
    base, wanted = scene.base(robot), _wanted(scene, vx, vy, wz, command)
    return lambda: -np.sqrt(np.square(_twist(base) - wanted).sum(axis=1))


@entry("float", check=_one_command)
def base_velocity_tracking(
    scene: Scene,
    vx: Number = 0.0,
    vy: Number = 0.0,
    wz: Number = 0.0,
    lin_weight: Number = 1.0,
    ang_weight: Number = 0.5,
    tracking_sigma: Positive = 0.25,
    command: GoalName | None = None,
    robot: Base | None = None,
) -> Reader:
    """How near velocity and yaw rate are to `vx`, `vy`, `wz`, or a goal: weights times exp(−squared error / sigma)."""
    base, wanted = scene.base(robot), _wanted(scene, vx, vy, wz, command)

    def read() -> Floats:
        error = np.square(_twist(base) - wanted)
        near: Floats = lin_weight * np.exp(-(error[:, 0] + error[:, 1]) / tracking_sigma)
        return near + ang_weight * np.exp(-error[:, 2] / tracking_sigma)

    return read


@entry("float")
def base_height(scene: Scene, target: Number, robot: Base | None = None) -> Reader:
    """Minus the squared difference between `target` and the base's height above the ground below it, in m²."""
    height = _height(scene, scene.base(robot))
    return lambda: -np.square(height() - target)


@entry("float")
def base_orientation(scene: Scene, robot: Base | None = None) -> Reader:
    """Minus the squared sine of the base's tilt."""
    base = scene.base(robot)

    def read() -> Floats:
        leaning = lean(base.quaternion)
        return -leaning * (2.0 - leaning)

    return read


@entry("float")
def base_lin_vel_z(scene: Scene, robot: Base | None = None) -> Reader:
    """Minus the squared velocity along the base's own z-axis, in m²/s²."""
    base = scene.base(robot)
    return lambda: -np.square(inward(base.quaternion, base.velocity)[:, 2])


@entry("float")
def base_ang_vel_xy(scene: Scene, robot: Base | None = None) -> Reader:
    """Minus the squared rate of roll and pitch, in rad²/s²."""
    base = scene.base(robot)
    return lambda: -np.square(base.turning[:, :2]).sum(axis=1)


def inward(quaternions: Floats, vectors: Floats) -> Floats:
    """Return vectors (n, 3) of the world in the axes of frames with quaternions (n, 4) of any length."""
    unit = quaternions / np.sqrt(np.square(quaternions).sum(axis=1, keepdims=True))
    w, axis = unit[:, :1], unit[:, 1:]
    # v' = v + 2 (w (v × u) + u × (u × v)) for the inverse rotation.
    turned: Floats = vectors + 2 * (w * _cross(vectors, axis) + _cross(axis, _cross(axis, vectors)))
    return turned


def _cross(one: Floats, other: Floats) -> Floats:
    product = np.empty_like(one)
    for axis, (right, left) in enumerate(((1, 2), (2, 0), (0, 1))):
        product[:, axis] = one[:, right] * other[:, left] - one[:, left] * other[:, right]
    return product


def _twist(base: FloatingBase) -> Floats:
    """Return forward velocity, sideways velocity and yaw rate (n, 3) in the body's axes."""
    twist = inward(base.quaternion, base.velocity)
    twist[:, 2] = base.turning[:, 2]
    return twist


def _wanted(scene: Scene, vx: float, vy: float, wz: float, command: str | None) -> Floats:
    return np.array([[vx, vy, wz]]) if command is None else scene.goal(command, 3)


def _height(scene: Scene, base: FloatingBase) -> Reader:
    ground = Ground(scene.model)
    return lambda: base.position[:, 2] - ground.below(base.position)
