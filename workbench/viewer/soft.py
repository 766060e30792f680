"""What of a MuJoCo model bends: flexes and skins, as meshes whose vertices move.

Pure MuJoCo and NumPy, no graphics, like the shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from workbench.viewer.look import Colour
from workbench.viewer.shapes import FAINT, FAINTEST, SHOWN_GROUPS, colour_of

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Soft:
    """Vertices that move by themselves, with faces or edges between them."""

    name: str
    colour: Colour
    positions: Callable[[Any], Floats]
    """Where the vertices are in the state of an `MjData`, `(v, 3)`."""
    faces: NDArray[np.integer[Any]] | None
    """Vertex numbers `(f, 3)`; None for a cord."""
    edges: NDArray[np.integer[Any]] | None = None
    """Vertex numbers `(e, 2)` of a cord."""
    radius: float = 0.0
    """That of a cord."""
    alpha: float = 1.0
    is_smooth: bool = True
    """Whether its faces run into each other; solids have edges."""


def drawable_soft(model: Any, *, groups: Collection[int] = SHOWN_GROUPS, sees_through: bool = False) -> list[Soft]:
    """Return the flexes and the skins that are shown; see `drawable_shapes`."""
    found = []
    faintest = FAINTEST if sees_through else FAINT
    for index in range(model.nflex):
        colour, alpha = colour_of(model, model.flex_rgba[index], int(model.flex_matid[index]))
        if alpha >= faintest and int(model.flex_group[index]) in groups:
            found.append(_flex(model, index, colour, alpha if sees_through else 1.0))
    for index in range(model.nskin):
        colour, alpha = colour_of(model, model.skin_rgba[index], int(model.skin_matid[index]))
        if alpha >= faintest and int(model.skin_group[index]) in groups:
            found.append(_skin(model, index, colour, alpha if sees_through else 1.0))
    return found


def _flex(model: Any, index: int, colour: Colour, alpha: float) -> Soft:
    start, count = int(model.flex_vertadr[index]), int(model.flex_vertnum[index])
    dimension = int(model.flex_dim[index])
    name = mujoco.mj_id2name(model, int(mujoco.mjtObj.mjOBJ_FLEX), index) or f"flex {index}"

    def positions(data: Any) -> Floats:
        vertices: Floats = data.flexvert_xpos[start : start + count]
        return vertices

    if dimension == 1:
        edges = _part(model.flex_elem, model.flex_elemdataadr, model.flex_elemnum, index, 2)
        return Soft(name, colour, positions, None, edges, max(float(model.flex_radius[index]), 1e-4), alpha)
    if dimension == 2:
        faces = _part(model.flex_elem, model.flex_elemdataadr, model.flex_elemnum, index, 3)
    else:
        faces = _part(model.flex_shell, model.flex_shelldataadr, model.flex_shellnum, index, 3)
    return Soft(name, colour, positions, faces, alpha=alpha, is_smooth=dimension == 2)


def _skin(model: Any, index: int, colour: Colour, alpha: float) -> Soft:
    """Return a skin, whose vertices are weighted means of where each bone would carry them."""
    start, count = int(model.skin_vertadr[index]), int(model.skin_vertnum[index])
    rest = np.array(model.skin_vert[start : start + count], dtype=float)
    bones = range(int(model.skin_boneadr[index]), int(model.skin_boneadr[index]) + int(model.skin_bonenum[index]))
    parts = []
    for bone in bones:
        first, number = int(model.skin_bonevertadr[bone]), int(model.skin_bonevertnum[bone])
        ids = np.array(model.skin_bonevertid[first : first + number])
        weights = np.array(model.skin_bonevertweight[first : first + number], dtype=float)[:, None]
        local = (rest[ids] - model.skin_bonebindpos[bone]) @ _rotation(model.skin_bonebindquat[bone])
        parts.append((int(model.skin_bonebodyid[bone]), ids, weights, local))
    whole = np.zeros((count, 1))
    for _, ids, weights, _ in parts:
        np.add.at(whole, ids, weights)
    whole[whole == 0] = 1.0

    def positions(data: Any) -> Floats:
        moved = np.zeros((count, 3))
        for body, ids, weights, local in parts:
            np.add.at(moved, ids, weights * (local @ data.xmat[body].reshape(3, 3).T + data.xpos[body]))
        return moved / whole

    faces = _part(model.skin_face, model.skin_faceadr, model.skin_facenum, index)
    name = mujoco.mj_id2name(model, int(mujoco.mjtObj.mjOBJ_SKIN), index) or f"skin {index}"
    return Soft(name, colour, positions, faces, alpha=alpha)


def _part(values: Any, starts: Any, counts: Any, index: int, width: int | None = None) -> NDArray[np.integer[Any]]:
    """Return the vertex numbers of one of many, in rows."""
    start, count = int(starts[index]), int(counts[index])
    if width is None:
        return np.array(values[start : start + count])
    return np.array(values[start : start + width * count]).reshape(count, width)


def _rotation(quaternion: Any) -> Floats:
    """Return the matrix of a unit quaternion (w, x, y, z)."""
    w, x, y, z = (float(part) for part in quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
