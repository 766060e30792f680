"""The pictures that MuJoCo puts on geoms, laid out for meshes: one picture and a coordinate for each face corner.

Pure NumPy and MuJoCo. Three ways of putting them there: a mesh from a file brings coordinates of its own; a flat
picture lies on anything else as seen from above, along z; six pictures are wrapped around as a cube.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from workbench.viewer import geometry
from workbench.viewer.geometry import Mesh

Picture = NDArray[np.floating[Any]]

_ROLES = (int(mujoco.mjtTextureRole.mjTEXROLE_RGB), int(mujoco.mjtTextureRole.mjTEXROLE_RGBA))
_FLAT = int(mujoco.mjtTexture.mjTEXTURE_2D)
_CUBE = int(mujoco.mjtTexture.mjTEXTURE_CUBE)

PLAIN = 0.9
"""The share of a picture in one colour from which on it is only that colour; the rest is a mark on it."""

LARGEST = 1024
"""Pixels along a side of a picture that is repeated."""

_SEAMS = ((1, 1, 0), (1, -1, 0), (0, 1, 1), (0, 1, -1), (1, 0, 1), (1, 0, -1), (1, 0, 0), (0, 1, 0), (0, 0, 1))
"""Where the six sides of a cube meet, seen from its middle, and where crosses on them run, which stay straight so."""

# The sides in the order of the file: +x, -x, +y, -y, +z, -z, and for each which axis runs along the rows of its
# picture and which down its columns, as OpenGL lays cube maps out.
_ACROSS = np.array([[0, 0, -1], [0, 0, 1], [1, 0, 0], [1, 0, 0], [1, 0, 0], [-1, 0, 0]], dtype=float)
_DOWN = np.array([[0, -1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1], [0, -1, 0], [0, -1, 0]], dtype=float)


def textured(
    model: Any, material: int, mesh: Mesh, half: NDArray[np.floating[Any]], stretch: NDArray[np.floating[Any]]
) -> tuple[Mesh, Picture | None]:
    """Return the mesh with coordinates, and the picture that they are in, `(height, width, 3)` in 0..1.

    Args:
        model: The `MjModel`.
        material: The number of the material; negative for none.
        mesh: What it is put on.
        half: Half the size of that along x, y and z, `(3,)`.
        stretch: What a cube is stretched to where the material asks for no uniform one, `(3,)`.

    Returns:
        The first row of the picture is at v = 0. Without one, or with one of a single pixel, the mesh is as it was.
    """
    if material < 0:
        return mesh, None
    named = (int(model.mat_texid[material][role]) for role in _ROLES)
    index = next((texture for texture in named if texture >= 0), None)
    if index is None:
        return mesh, None
    kind = int(model.tex_type[index])
    pixels = _pixels(model, index)
    tone = np.median(pixels.reshape(-1, 3), axis=0)
    if (np.abs(pixels - tone).max(axis=-1) < 0.02).mean() > PLAIN:
        return mesh, np.broadcast_to(tone, (1, 1, 3))
    repeat = np.array(model.mat_texrepeat[material], dtype=float)
    if kind == _FLAT and mesh.uv is not None:
        return mesh, pixels
    if kind == _FLAT:
        # A picture is repeated over the whole, or over each metre.
        spans = 2 * np.maximum(half[:2], 1e-9) if model.mat_texuniform[material] else np.ones(2)
        times = np.maximum(repeat * spans, 1e-9)
        share = (mesh.vertices[:, :2] + half[:2]) / (2 * np.maximum(half[:2], 1e-9))
        return _repeated(mesh, pixels, share, times)
    if kind == _CUBE:
        size = np.ones(3) if model.mat_texuniform[material] else np.maximum(stretch, 1e-9)
        return wrapped(mesh, size), pixels
    return mesh, None


def wrapped(mesh: Mesh, size: NDArray[np.floating[Any]]) -> Mesh:
    """Return the mesh with coordinates in six pictures, one above the other, that are wrapped around it as a cube.

    Args:
        mesh: Around the origin; it is cut where two sides of the cube meet, and along their middles.
        size: What the cube is stretched to, `(3,)`.
    """
    cut = Mesh(mesh.vertices / size, mesh.faces)
    for seam in _SEAMS:
        cut = geometry.cut(cut, np.array(seam, dtype=float))
    corners = cut.vertices[cut.faces]
    middle = corners.mean(axis=1)
    axis = np.abs(middle).argmax(axis=1)
    side = 2 * axis + (np.take_along_axis(middle, axis[:, None], axis=1)[:, 0] < 0)
    depth = np.maximum(np.abs(np.take_along_axis(corners, axis[:, None, None].repeat(3, axis=1), axis=2)[..., 0]), 1e-9)
    across = np.einsum("fcx,fx->fc", corners, _ACROSS[side]) / depth
    down = np.einsum("fcx,fx->fc", corners, _DOWN[side]) / depth
    # A hair inside, or the side above or below shows through at the edge.
    inside = 0.998 * np.clip(np.stack([across, down], axis=-1), -1, 1)
    u = (inside[..., 0] + 1) / 2
    v = (side[:, None] + (inside[..., 1] + 1) / 2) / 6
    return Mesh(cut.vertices * size, cut.faces, np.stack([u, v], axis=-1).reshape(-1, 2))


def _pixels(model: Any, index: int) -> Picture:
    height, width, channels, start = (
        int(part[index]) for part in (model.tex_height, model.tex_width, model.tex_nchannel, model.tex_adr)
    )
    picture = model.tex_data[start : start + height * width * channels].reshape(height, width, channels)
    if channels < 3:
        picture = np.repeat(picture[..., :1], 3, axis=-1)
    colours: Picture = picture[..., :3].astype(float) / 255
    return colours


def _repeated(
    mesh: Mesh, pixels: Picture, share: NDArray[np.floating[Any]], times: NDArray[np.floating[Any]]
) -> tuple[Mesh, Picture]:
    """Return a picture of all repetitions, and coordinates in it for a mesh that it covers once."""
    height, width = pixels.shape[:2]
    columns = min(LARGEST, max(1, round(width * times[0])))
    rows = min(LARGEST, max(1, round(height * times[1])))
    x = ((np.arange(columns) + 0.5) / columns * times[0] * width).astype(int) % width
    y = ((np.arange(rows) + 0.5) / rows * times[1] * height).astype(int) % height
    return replace(mesh, uv=share[mesh.faces.ravel()]), pixels[np.ix_(y, x)]
