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

ISLAND_TILES = 16
"""Tiles along each side of the floor of one of several models that each have their own."""

ISLAND_RADIUS = 1.5
"""Where such a floor has faded, in radii of the model."""

LIGHT = (0.35, 0.25, 1.0)
"""The direction towards the light; its length does not matter."""

_FADE_FROM = 0.30
_FADE_TO = 0.95


def tile_size(radius: float) -> float:
    """Return the side of a tile for a model of this radius: 1, 2 or 5 times a power of ten, in metres."""
    wanted = max(0.8 * radius, 1e-6)
    power = 10.0 ** math.floor(math.log10(wanted))
    return min((step * power for step in (1.0, 2.0, 5.0, 10.0)), key=lambda size: abs(math.log(size / wanted)))


def checker(tile: float, tiles: int = TILES) -> Mesh:
    """Return the patch of tiles around the origin in the plane z = 0, each tile with four vertices of its own."""
    edges = (np.arange(tiles) - tiles / 2) * tile
    x, y = (axis.ravel() for axis in np.meshgrid(edges, edges))
    corners = [(0, 0), (1, 0), (1, 1), (0, 1)]
    vertices = np.stack([np.column_stack([x + i * tile, y + j * tile, np.zeros_like(x)]) for i, j in corners], axis=1)
    start = 4 * np.arange(tiles * tiles)[:, None]
    faces = np.concatenate([start + np.array(triangle) for triangle in ([0, 1, 2], [0, 2, 3])])
    return Mesh(vertices.reshape(-1, 3), faces)


def checker_colours(
    mesh: Mesh,
    tile: float,
    theme: Theme,
    *,
    tiles: int = TILES,
    around: tuple[float, float] = (0.0, 0.0),
    reach: float | None = None,
) -> Floats:
    """Return a colour for each vertex of the patch, `(v, 3)`: two tones that fade into the background outwards.

    Args:
        mesh: The patch.
        tile: The side of its tiles.
        theme: The colours.
        tiles: How many there are along a side.
        around: The point of the patch that they fade around.
        reach: How far from there they have faded, in metres; None for the patch's own half side.
    """
    column, row = np.meshgrid(np.arange(tiles), np.arange(tiles))
    odd = ((column + row) % 2).ravel().repeat(4)[:, None]
    tones = np.where(odd == 1, np.array(theme.tile_other), np.array(theme.tile))
    distance = np.hypot(mesh.vertices[:, 0] - around[0], mesh.vertices[:, 1] - around[1])
    distance = distance / (tiles / 2 * tile if reach is None else reach)
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


def disc(tile: float) -> Mesh:
    """Return the patch without the tiles in its corners, which have faded: they would be drawn for nothing."""
    return _within(checker(tile), tile, _FADE_TO * TILES / 2 * tile)


def island(radius: float) -> Mesh:
    """Return the floor of one of several models of this radius: the tiles of a patch that lie within a circle."""
    tile = island_tile(radius)
    # A tile more than has faded, for it scrolls by up to a tile.
    return _within(checker(tile, ISLAND_TILES), tile, (ISLAND_TILES / 2 - 1) * tile)


def _within(patch: Mesh, tile: float, reach: float) -> Mesh:
    """Return a patch with the faces of those tiles only that a circle around its middle touches."""
    middles = patch.vertices.reshape(-1, 4, 3).mean(axis=1)
    kept = np.flatnonzero(np.hypot(middles[:, 0], middles[:, 1]) < reach + tile)
    faces = np.concatenate([4 * kept[:, None] + np.array(triangle) for triangle in ([0, 1, 2], [0, 2, 3])])
    return Mesh(patch.vertices, faces)


def island_tile(radius: float) -> float:
    """Return the side of a tile of the floor of one of several models of this radius, in metres."""
    return ISLAND_RADIUS * radius / (ISLAND_TILES / 2 - 1)


def island_phase(point: Floats, tile: float) -> tuple[float, float]:
    """Return how far a floor that scrolls below a model at `point` has come: within a tile either way."""
    return tuple((float(part) + tile) % (2 * tile) - tile for part in point[:2])  # type: ignore[return-value]
