"""The checkered floor that fades into the background, and the shadows that lie on it.

Pure NumPy. The floor is a patch that follows what the camera looks at in steps of two tiles, which nobody can see;
a shadow is the mesh that throws it, flattened along the light by one matrix.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.viewer.geometry import Mesh
from workbench.viewer.look import Theme

Floats = NDArray[np.floating[Any]]

TILES = 40
"""Tiles along each side of the patch."""

LIGHT = (0.35, 0.25, 1.0)
"""The direction towards the light; its length does not matter."""

_FADE_FROM = 0.30
_FADE_TO = 0.95


def tile_size(radius: float) -> float:
    """Return the side of a tile for a model of this radius: 1, 2 or 5 times a power of ten, in metres."""
    wanted = max(0.8 * radius, 1e-6)
    power = 10.0 ** math.floor(math.log10(wanted))
    return min((step * power for step in (1.0, 2.0, 5.0, 10.0)), key=lambda size: abs(math.log(size / wanted)))


def checker(tile: float) -> Mesh:
    """Return the patch of tiles around the origin in the plane z = 0, each tile with four vertices of its own."""
    edges = (np.arange(TILES) - TILES / 2) * tile
    x, y = (axis.ravel() for axis in np.meshgrid(edges, edges))
    corners = [(0, 0), (1, 0), (1, 1), (0, 1)]
    vertices = np.stack([np.column_stack([x + i * tile, y + j * tile, np.zeros_like(x)]) for i, j in corners], axis=1)
    start = 4 * np.arange(TILES * TILES)[:, None]
    faces = np.concatenate([start + np.array(triangle) for triangle in ([0, 1, 2], [0, 2, 3])])
    return Mesh(vertices.reshape(-1, 3), faces)


def checker_colours(mesh: Mesh, tile: float, theme: Theme) -> Floats:
    """Return a colour for each vertex of the patch, `(v, 3)`: two tones that fade into the background outwards."""
    column, row = np.meshgrid(np.arange(TILES), np.arange(TILES))
    odd = ((column + row) % 2).ravel().repeat(4)[:, None]
    tones = np.where(odd == 1, np.array(theme.tile_other), np.array(theme.tile))
    distance = np.hypot(mesh.vertices[:, 0], mesh.vertices[:, 1]) / (TILES / 2 * tile)
    share = np.clip((distance - _FADE_FROM) / (_FADE_TO - _FADE_FROM), 0, 1)[:, None]
    share = share * share * (3 - 2 * share)
    colours: Floats = tones + share * (np.array(theme.background) - tones)
    return colours


def patch_position(point: Floats, tile: float, height: float) -> Floats:
    """Return where the patch goes so that it surrounds `point` and its tiles stay where they were in the world."""
    step = 2 * tile
    return np.array([round(float(point[0]) / step) * step, round(float(point[1]) / step) * step, height])


def shadow_matrix(height: float, radius: float) -> Floats:
    """Return the matrix `(4, 4)` that flattens the world along the light, a hair above the floor at `height`."""
    x, y = LIGHT[0] / LIGHT[2], LIGHT[1] / LIGHT[2]
    z = height + 0.002 * 2 * radius
    return np.array([[1, 0, -x, x * z], [0, 1, -y, y * z], [0, 0, 0, z], [0, 0, 0, 1.0]])
