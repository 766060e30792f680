"""What can be drawn besides the model: contacts and their forces, joints' axes, centres of mass. Pure MuJoCo, NumPy."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from workbench.viewer.geometry import Floats, Mesh, sphere

AROUND = 10
"""Corners around an arrow."""

MOST_CONTACTS = 64
"""The strongest are drawn."""

LONGEST = 2.0
"""The longest arrow of a force, in radii of the model."""

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)
_HINGE = int(mujoco.mjtJoint.mjJNT_HINGE)
_SLIDE = int(mujoco.mjtJoint.mjJNT_SLIDE)


@dataclass(frozen=True)
class Arrows:
    """Arrows in the world."""

    starts: Floats
    """Where they begin, `(n, 3)`."""
    vectors: Floats
    """Where to and how far, `(n, 3)`."""


@dataclass(frozen=True)
class Balls:
    """Balls in the world."""

    centres: Floats
    """`(n, 3)`."""
    radii: Floats
    """`(n,)`."""


def contact_points(model: Any, data: Any) -> tuple[Floats, Floats]:
    """Return the places of the contacts `(n, 3)` and the forces on what moves, in newtons `(n, 3)`, strongest first.

    A contact pushes both of its geoms; the force is that on the second, as MuJoCo counts them, unless only the first
    can move.
    """
    points, forces = np.zeros((data.ncon, 3)), np.zeros((data.ncon, 3))
    wrench = np.zeros(6)
    for index in range(data.ncon):
        contact = data.contact[index]
        mujoco.mj_contactForce(model, data, index, wrench)
        points[index] = contact.pos
        forces[index] = contact.frame.reshape(3, 3).T @ wrench[:3]
        if contact.geom2 >= 0 and int(model.body_weldid[model.geom_bodyid[contact.geom2]]) == 0:
            forces[index] *= -1
    order = np.argsort(-np.linalg.norm(forces, axis=1), kind="stable")[:MOST_CONTACTS]
    return points[order], forces[order]


def force_arrows(model: Any, points: Floats, forces: Floats, radius: float) -> Arrows:
    """Return arrows for forces: the weight of all that moves is as long as the model's radius."""
    gravity = float(np.linalg.norm(model.opt.gravity)) or 9.81
    moving = np.asarray(model.body_weldid) != 0
    weight = max(float(model.body_mass[moving].sum()) * gravity, 1e-9)
    vectors = forces * (radius / weight)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors * np.minimum(1.0, LONGEST * radius / np.maximum(lengths, 1e-12))
    return Arrows(points, vectors)


def joint_arrows(model: Any, data: Any, radius: float) -> Arrows:
    """Return an arrow along the axis of each hinge and slide, where it is."""
    kinds = np.asarray(model.jnt_type)
    chosen = np.flatnonzero((kinds == _HINGE) | (kinds == _SLIDE))
    axes = np.asarray(data.xaxis)[chosen]
    return Arrows(np.array(data.xanchor)[chosen] - 0.05 * radius * axes, 0.22 * radius * axes)


def mass_balls(model: Any, data: Any, radius: float) -> Balls:
    """Return a ball at the centre of mass of each body, as large as its share, and one for the whole, the last."""
    masses = np.asarray(model.body_mass)
    moving = np.flatnonzero((masses > 0) & (np.asarray(model.body_weldid) != 0))
    if not len(moving):
        return Balls(np.zeros((0, 3)), np.zeros(0))
    whole = float(masses[moving].sum())
    centre = masses[moving] @ np.asarray(data.xipos)[moving] / whole
    sizes = 0.06 * radius * np.cbrt(masses[moving] / whole)
    return Balls(np.vstack([data.xipos[moving], centre]), np.append(sizes, 0.05 * radius))


def towards(points: Floats, eye: Floats, share: float) -> Floats:
    """Return points moved to `share` of their distance from the eye.

    Everything shrunk so is seen where it was and as large as it was, but in front of what was before it.
    """
    moved: Floats = eye + share * (points - eye)
    return moved


_RINGS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (2.4, 1.0, 0.0), (0.0, 1.0, 1.0))
"""The outline of an arrow: distance from its axis in shaft radii, share of the shaft, share of the head."""


def arrow_mesh(arrows: Arrows, width: float, capacity: int) -> Mesh:
    """Return so many arrows as one mesh; those beyond the given ones have no size.

    Args:
        arrows: At most `capacity` of them.
        width: The radius of a shaft, in metres.
        capacity: How many the mesh has room for; its faces depend on nothing else.
    """
    turns = np.linspace(0, 2 * np.pi, AROUND, endpoint=False)
    ring = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    out, shaft, head = (np.array(part).repeat(AROUND) for part in zip(*_RINGS, strict=True))
    ring = np.tile(ring, (len(_RINGS), 1))
    count = min(len(arrows.starts), capacity)
    vectors = arrows.vectors[:count]
    lengths = np.linalg.norm(vectors, axis=1)
    heads = np.minimum(6 * width, 0.5 * lengths)
    along = (lengths - heads)[:, None] * shaft + heads[:, None] * head
    wide = width * np.minimum(1.0, lengths / (6 * width + 1e-12))
    z = vectors / np.maximum(lengths, 1e-12)[:, None]
    x, y = _across(z)
    flat = wide[:, None] * out
    vertices = arrows.starts[:count, None, :] + along[..., None] * z[:, None, :]
    vertices = (
        vertices + (flat * ring[:, 0])[..., None] * x[:, None, :] + (flat * ring[:, 1])[..., None] * y[:, None, :]
    )
    return Mesh(_padded(vertices, capacity, len(ring)), _repeated(_arrow_faces(), capacity, len(ring)))


def ball_mesh(balls: Balls, capacity: int) -> Mesh:
    """Return so many balls as one mesh; those beyond the given ones have no size."""
    one = sphere(1.0)
    count = min(len(balls.centres), capacity)
    vertices = balls.centres[:count, None, :] + balls.radii[:count, None, None] * one.vertices
    return Mesh(_padded(vertices, capacity, len(one.vertices)), _repeated(one.faces, capacity, len(one.vertices)))


def _across(z: Floats) -> tuple[Floats, Floats]:
    """Return two unit vectors across each of `z`, `(n, 3)`."""
    least = np.eye(3)[np.argmin(np.abs(z), axis=1)] if len(z) else np.zeros((0, 3))
    x = np.cross(z, least)
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    return x, np.cross(z, x)


def _arrow_faces() -> NDArray[np.int64]:
    faces = []
    for ring, corner in itertools.product(range(len(_RINGS) - 1), range(AROUND)):
        a, b = ring * AROUND + corner, ring * AROUND + (corner + 1) % AROUND
        faces += [(a, b, b + AROUND), (a, b + AROUND, a + AROUND)]
    return np.array(faces)


def _padded(vertices: Floats, capacity: int, each: int) -> Floats:
    """Return the vertices `(capacity * each, 3)`, what is left over gathered in one point that is on the model."""
    whole = np.zeros((capacity, each, 3))
    whole[: len(vertices)] = vertices
    if len(vertices):
        whole[len(vertices) :] = vertices[0, 0]
    return whole.reshape(-1, 3)


def _repeated(faces: Any, capacity: int, each: int) -> NDArray[np.int64]:
    starts = each * np.arange(capacity)[:, None, None]
    repeated: NDArray[np.int64] = (starts + np.asarray(faces)[None]).reshape(-1, 3)
    return repeated
