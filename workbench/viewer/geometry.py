"""The meshes a scene is drawn with: primitives, height fields, and meshes cut along their creases.

Pure NumPy. Every mesh is in the local frame of its geom, faces are counter-clockwise seen from outside, and edges
that should look sharp have their vertices duplicated: Polyscope shades with normals averaged at shared vertices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.integer[Any]]

ROUND = 24
"""Vertices around a primitive: more is slower and cannot be told apart at video sizes."""

CREASE_DEG = 38.0
"""Faces that meet at a sharper angle than this keep an edge between them."""

GRID_LIMIT = 256
"""Rows and columns that a height field is thinned to."""


@dataclass(frozen=True)
class Mesh:
    """Triangles in a local frame."""

    vertices: Floats
    """Positions, `(v, 3)`."""
    faces: Ints
    """Vertex numbers, `(f, 3)`."""
    uv: Floats | None = None
    """Texture coordinates of each face corner, `(3 f, 2)`."""

    @property
    def volume(self) -> float:
        """The volume enclosed, positive when the faces look outwards; only closed meshes have one."""
        a, b, c = (self.vertices[self.faces[:, corner]] for corner in range(3))
        return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def sphere(radius: float = 1.0, *, around: int = ROUND) -> Mesh:
    """Return a sphere of latitude rings with one vertex at each pole."""
    return ellipsoid((radius, radius, radius), around=around)


def ellipsoid(radii: tuple[float, float, float], *, around: int = ROUND) -> Mesh:
    """Return an ellipsoid with the half axes `radii`."""
    latitudes = np.linspace(np.pi / 2, -np.pi / 2, around // 2 + 1)[1:-1]
    rings = [(np.cos(angle), np.sin(angle)) for angle in latitudes]
    mesh = _lathe(rings, top=1.0, bottom=-1.0, around=around)
    return Mesh(mesh.vertices * np.asarray(radii), mesh.faces)


def capsule(radius: float, half_length: float, *, around: int = ROUND) -> Mesh:
    """Return a cylinder along z with a half sphere at each end; `half_length` is that of the cylinder."""
    latitudes = np.linspace(np.pi / 2, 0, around // 4 + 1)[1:]
    upper = [(radius * np.cos(angle), half_length + radius * np.sin(angle)) for angle in latitudes]
    lower = [(ring, -height) for ring, height in reversed(upper)]
    end = half_length + radius
    return _lathe(upper + lower, top=end, bottom=-end, around=around)


def cylinder(radius: float, half_length: float, *, around: int = ROUND) -> Mesh:
    """Return a cylinder along z whose rims stay sharp."""
    rim = [(radius, half_length), (radius, -half_length)]
    side = _rings(rim, around)
    top, bottom = _rings(rim[:1], around), _rings(rim[1:], around)
    centres = np.array([[0, 0, half_length], [0, 0, -half_length]])
    vertices = np.concatenate([side, top, bottom, centres])
    here = np.arange(around)
    following = (here + 1) % around
    upper, lower = 4 * around, 4 * around + 1
    faces = np.concatenate(
        [
            _band(0, around),
            np.stack([np.full(around, upper), 2 * around + here, 2 * around + following], axis=1),
            np.stack([np.full(around, lower), 3 * around + following, 3 * around + here], axis=1),
        ]
    )
    return Mesh(vertices, faces)


def box(half_sizes: tuple[float, float, float]) -> Mesh:
    """Return a box with four vertices of its own for each side."""
    vertices: list[Floats] = []
    faces: list[list[int]] = []
    for axis in range(3):
        first, second = (axis + 1) % 3, (axis + 2) % 3
        for sign in (1.0, -1.0):
            corners = np.zeros((4, 3))
            corners[:, axis] = sign
            corners[:, first] = np.array([-1, 1, 1, -1]) * sign
            corners[:, second] = [-1, -1, 1, 1]
            start = 4 * len(vertices)
            vertices.append(corners)
            faces += [[start, start + 1, start + 2], [start, start + 2, start + 3]]
    return Mesh(np.concatenate(vertices) * np.asarray(half_sizes), np.array(faces))


def rectangle(half_x: float, half_y: float) -> Mesh:
    """Return a flat rectangle in the plane z = 0 that looks up."""
    vertices = np.array([[-half_x, -half_y, 0], [half_x, -half_y, 0], [half_x, half_y, 0], [-half_x, half_y, 0]])
    return Mesh(vertices, np.array([[0, 1, 2], [0, 2, 3]]))


def height_field(heights: Floats, half_x: float, half_y: float) -> Mesh:
    """Return the surface over a grid of heights `(rows, columns)`, rows along y, thinned where it is very fine."""
    rows, columns = heights.shape
    keep_rows = _thinned(rows)
    keep_columns = _thinned(columns)
    x = np.linspace(-half_x, half_x, columns)[keep_columns]
    y = np.linspace(-half_y, half_y, rows)[keep_rows]
    grid_x, grid_y = np.meshgrid(x, y)
    vertices = np.stack([grid_x, grid_y, heights[np.ix_(keep_rows, keep_columns)]], axis=-1).reshape(-1, 3)
    index = np.arange(len(vertices)).reshape(len(y), len(x))
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]
    faces = np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)])
    return Mesh(vertices, faces)


def split_creases(mesh: Mesh, *, angle_deg: float = CREASE_DEG) -> Mesh:
    """Return the same surface with vertices duplicated along its sharp edges, and unused ones left out.

    Corners of two faces stay one vertex only where the faces share an edge and turn by less than `angle_deg` over
    it. Texture coordinates belong to corners and stay as they are.
    """
    faces = np.asarray(mesh.faces, dtype=np.int64)
    count = len(faces)
    a, b, c = (mesh.vertices[faces[:, corner]] for corner in range(3))
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0)

    # Each face has three directed edges, from its corner k to its corner k + 1; sorting them by their two vertices
    # brings the two sides of an edge together.
    corners = np.arange(3 * count).reshape(count, 3)
    start, end = corners.ravel(), np.roll(corners, -1, axis=1).ravel()
    low = np.minimum(faces.ravel()[start], faces.ravel()[end])
    high = np.maximum(faces.ravel()[start], faces.ravel()[end])
    order = np.lexsort((high, low))
    first, second = order[:-1], order[1:]
    shared = (low[first] == low[second]) & (high[first] == high[second])
    first, second = first[shared], second[shared]
    turn = np.einsum("ij,ij->i", normals[first // 3], normals[second // 3])
    smooth = turn > np.cos(np.radians(angle_deg))
    first, second = first[smooth], second[smooth]

    vertex = faces.ravel()
    aligned = vertex[start[first]] == vertex[start[second]]
    pairs = np.concatenate(
        [
            np.stack([start[first], np.where(aligned, start[second], end[second])], axis=1),
            np.stack([end[first], np.where(aligned, end[second], start[second])], axis=1),
        ]
    )
    groups = _joined(3 * count, pairs)
    kept, numbers = np.unique(groups, return_inverse=True)
    return Mesh(mesh.vertices[vertex[kept]], numbers.reshape(count, 3), mesh.uv)


def cut(mesh: Mesh, normal: Floats) -> Mesh:
    """Return the same surface with every face that crosses the plane through the origin divided along it.

    Neighbours stay neighbours: they share the vertices on the plane. Texture coordinates are left out.
    """
    side = mesh.vertices @ normal
    side = np.where(np.abs(side) < 1e-6 * max(1e-9, float(np.abs(side).max(initial=0.0))), 0.0, side)
    faces = np.asarray(mesh.faces, dtype=np.int64)
    signs = np.sign(side[faces])
    crossing = (signs.min(axis=1) < 0) & (signs.max(axis=1) > 0)
    if not crossing.any():
        return Mesh(mesh.vertices, faces)
    # Each crossing face is turned so that its first corner is alone on its side, or lies on the plane.
    crossed, their = faces[crossing], signs[crossing]
    flat = their == 0
    alone = their == -np.sign(their.sum(axis=1, keepdims=True))
    first = np.where(flat.any(axis=1), flat.argmax(axis=1), alone.argmax(axis=1))
    turned = np.take_along_axis(crossed, (first[:, None] + np.arange(3)) % 3, axis=1)
    through_corner = flat.any(axis=1)
    one, two = turned[~through_corner], turned[through_corner]
    edges = np.concatenate([one[:, [0, 1]], one[:, [0, 2]], two[:, [1, 2]]])
    unique, where = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True)
    low, high = unique[:, 0], unique[:, 1]
    share = (side[low] / (side[low] - side[high]))[:, None]
    points = mesh.vertices[low] + share * (mesh.vertices[high] - mesh.vertices[low])
    new = len(mesh.vertices) + where.ravel()
    here, there, across = np.split(new, [len(one), 2 * len(one)])
    pieces = [
        faces[~crossing],
        np.column_stack([one[:, 0], here, there]),
        np.column_stack([here, one[:, 1], one[:, 2]]),
        np.column_stack([here, one[:, 2], there]),
        np.column_stack([two[:, 0], two[:, 1], across]),
        np.column_stack([two[:, 0], across, two[:, 2]]),
    ]
    return Mesh(np.concatenate([mesh.vertices, points]), np.concatenate(pieces))


def _joined(count: int, pairs: Ints) -> Ints:
    """Return for each of `count` items the smallest item that `pairs` connect it with."""
    labels = np.arange(count)
    while True:
        least = np.minimum(labels[pairs[:, 0]], labels[pairs[:, 1]])
        updated = labels.copy()
        np.minimum.at(updated, pairs[:, 0], least)
        np.minimum.at(updated, pairs[:, 1], least)
        updated = updated[updated]
        if np.array_equal(updated, labels):
            return labels
        labels = updated


def _thinned(count: int) -> Ints:
    step = -(-count // GRID_LIMIT)
    return np.unique(np.append(np.arange(0, count, step), count - 1))


def _rings(profile: list[tuple[float, float]], around: int) -> Floats:
    angles = np.linspace(0, 2 * np.pi, around, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.concatenate([np.column_stack([radius * circle, np.full(around, z)]) for radius, z in profile])


def _band(start: int, around: int) -> Ints:
    """Return the faces between the ring that starts at vertex `start` and the one below it."""
    here = np.arange(around)
    following = (here + 1) % around
    upper, lower = start, start + around
    return np.concatenate(
        [
            np.stack([upper + here, lower + here, lower + following], axis=1),
            np.stack([upper + here, lower + following, upper + following], axis=1),
        ]
    )


def _lathe(profile: list[tuple[float, float]], *, top: float, bottom: float, around: int) -> Mesh:
    """Return the surface of rings `(radius, z)` from top to bottom, closed by one vertex at each end."""
    rings = _rings(profile, around)
    upper, lower = len(rings), len(rings) + 1
    vertices = np.concatenate([rings, [[0, 0, top], [0, 0, bottom]]])
    here = np.arange(around)
    following = (here + 1) % around
    last = (len(profile) - 1) * around
    faces = [_band(ring * around, around) for ring in range(len(profile) - 1)]
    faces.append(np.stack([np.full(around, upper), here, following], axis=1))
    faces.append(np.stack([np.full(around, lower), last + following, last + here], axis=1))
    return Mesh(vertices, np.concatenate(faces))
