"""Terms of where bodies are. Positions are those of a body's frame, in the world."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from workbench.simulation.episodes import Floats
from workbench.simulation.terms.keywords import Body, Flag, Number, Point, Tolerance
from workbench.simulation.terms.naming import SpecNames
from workbench.simulation.terms.registry import Reader, Values, entry
from workbench.simulation.terms.scene import Scene
from workbench.simulation.terms.touching import Touch


@entry("bool")
def body_above_z(scene: Scene, body: Body, z: Number) -> Reader:
    """The body is higher than `z`, in m."""
    where = scene.position(body)
    return lambda: where[:, 2] > z


@entry("bool")
def body_below_z(scene: Scene, body: Body, z: Number) -> Reader:
    """The body is lower than `z`, in m."""
    where = scene.position(body)
    return lambda: where[:, 2] < z


@entry("bool")
def distance_less_than(scene: Scene, body_a: Body, body_b: Body, threshold: Tolerance) -> Reader:
    """The bodies are less than `threshold` apart, in m."""
    one, other = scene.position(body_a), scene.position(body_b)
    return lambda: distance(one, other) < threshold


def _region_rises(values: Values) -> None:
    if any(low > high for low, high in zip(values["min"], values["max"], strict=True)):
        raise ValueError(f"min {list(values['min'])} must be at most max {list(values['max'])} along every axis")


@entry("bool", check=_region_rises)
def inside_region(scene: Scene, body: Body, min: Point, max: Point) -> Reader:
    """The body is in the box between the corners `min` and `max`, its sides included."""
    where, low, high = scene.position(body), np.array(min), np.array(max)
    return lambda: np.logical_and.reduce((low <= where) & (where <= high), axis=1)


def _on(names: SpecNames, values: Values) -> Sequence[Touch]:
    one, other = names.body(values["body_a"]), names.body(values["body_b"])
    return (_contact(one, other),) if values["require_contact"] else ()


@entry("bool", touches=_on)
def body_on(
    scene: Scene,
    body_a: Body,
    body_b: Body,
    z_offset: Number = 0.02,
    xy_tol: Tolerance = 0.15,
    require_contact: Flag = False,
) -> Reader:
    """The first body is more than `z_offset` above the second, at most `xy_tol` beside it, and touches it if asked."""
    one, other = scene.position(body_a), scene.position(body_b)
    touching = scene.touching(_contact(body_a, body_b)) if require_contact else None

    def read() -> NDArray[np.bool_]:
        beside = np.hypot(one[:, 0] - other[:, 0], one[:, 1] - other[:, 1])
        holds: NDArray[np.bool_] = (beside <= xy_tol) & (one[:, 2] > other[:, 2] + z_offset)
        return holds if touching is None else holds & touching()

    return read


@entry("bool")
def body_inside(scene: Scene, body: Body, container: Body, xy_tol: Tolerance = 0.15, z_tol: Tolerance = 0.15) -> Reader:
    """The body is in the box around the container's frame that reaches `xy_tol` and `z_tol` to each side."""
    where, middle, reach = scene.position(body), scene.position(container), np.array([xy_tol, xy_tol, z_tol])
    return lambda: np.logical_and.reduce(np.abs(where - middle) <= reach, axis=1)


@entry("bool")
def body_upright(scene: Scene, body: Body, tol: Tolerance = 0.15) -> Reader:
    """The body's z-axis is upright: 1 − cos of its tilt is less than `tol`."""
    turn = scene.orientation(body)
    return lambda: lean(turn) < tol


@entry("float")
def distance_neg(scene: Scene, body_a: Body, body_b: Body) -> Reader:
    """Minus the distance between the bodies, in m."""
    one, other = scene.position(body_a), scene.position(body_b)
    return lambda: -distance(one, other)


@entry("float")
def constant(scene: Scene, value: Number) -> Reader:
    """The same at every step, for being alive or for taking time."""
    return lambda: np.full(scene.n_envs, value)


def distance(one: Floats, other: Floats) -> Floats:
    """Return how far points (n, 3) are apart (n,)."""
    apart: Floats = np.sqrt(np.square(one - other).sum(axis=1))
    return apart


def lean(quaternions: Floats) -> Floats:
    """Return 1 − cos of the angle (n,) between the z-axes of frames and the world's; any length of quaternion."""
    square = np.square(quaternions)
    leaning: Floats = 2.0 * (square[:, 1] + square[:, 2]) / square.sum(axis=1)
    return leaning


def _contact(body_a: str, body_b: str) -> Touch:
    return Touch(("body", body_a), ("body", body_b))
