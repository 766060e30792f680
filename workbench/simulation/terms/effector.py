"""Terms of the pose of an end effector: a site or a body, against a place that is fixed, moving or a sampled goal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.simulation.episodes import Floats
from workbench.simulation.terms.bodies import distance
from workbench.simulation.terms.keywords import Frame, Place, Tolerance, Turn
from workbench.simulation.terms.registry import Reader, Values, entry
from workbench.simulation.terms.scene import Scene


@entry("float")
def end_effector_position_error(scene: Scene, frame: Frame, target: Place) -> Reader:
    """Minus how far the frame is from the target, in m."""
    where, goal = scene.frame(frame)[0], scene.place(target)
    return lambda: -distance(where, goal)


def _turns(values: Values) -> None:
    if not isinstance(values["target"], str) and not any(values["target"]):
        raise ValueError("target must not be all zeros: that is no rotation")


@entry("float", check=_turns)
def end_effector_orientation_error(scene: Scene, frame: Frame, target: Turn) -> Reader:
    """Minus the angle by which the frame is turned against the target, in rad."""
    turn, goal = scene.frame(frame)[1], _rotation(scene, target)
    return lambda: -_angle(turn, goal)


@entry("bool")
def end_effector_at(scene: Scene, frame: Frame, target: Place, tol: Tolerance) -> Reader:
    """The frame is at most `tol` from the target, in m."""
    where, goal = scene.frame(frame)[0], scene.place(target)
    return lambda: distance(where, goal) <= tol


@entry("bool", check=_turns)
def end_effector_aligned(scene: Scene, frame: Frame, target: Turn, tol: Tolerance) -> Reader:
    """The frame is turned by at most `tol` against the target, in rad."""
    turn, goal = scene.frame(frame)[1], _rotation(scene, target)
    return lambda: _angle(turn, goal) <= tol


def _rotation(scene: Scene, target: str | Sequence[float]) -> Floats:
    if isinstance(target, str):
        return scene.frame(target)[1]
    w, x, y, z = np.array(target) / np.linalg.norm(target)
    matrix = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.array([matrix])


def _angle(one: Floats, other: Floats) -> Floats:
    """Return the angles (n,) between rotations (n, 3, 3)."""
    between = np.swapaxes(one, 1, 2) @ other
    # Sine and cosine together: the inverse cosine alone has no digits near zero and π.
    cosine = (np.trace(between, axis1=1, axis2=2) - 1) / 2
    apart = (between - np.swapaxes(between, 1, 2)) / 2
    sine = np.sqrt(np.square(apart).sum(axis=(1, 2)) / 2)
    angle: Floats = np.arctan2(sine, cosine)
    return angle
