"""What of a MuJoCo model is drawn: one shape for each visible geom and site, in its own frame.

Pure MuJoCo and NumPy, no graphics: the scene registers these with Polyscope and moves them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from workbench.viewer import geometry
from workbench.viewer.geometry import Mesh
from workbench.viewer.look import Colour
from workbench.viewer.textures import textured

SHOWN_GROUPS = (0, 1, 2)
"""The groups of geoms, sites and tendons that MuJoCo's own viewer shows unasked."""

FAINT = 0.2
"""Where nothing is drawn see-through, what is fainter than this is left out."""

FAINTEST = 0.02
"""What is fainter than this is never drawn."""

# MuJoCo's enums compare equal to NumPy integers on one side only, and never hash alike: plain numbers do both.
PLANE = int(mujoco.mjtGeom.mjGEOM_PLANE)
HFIELD = int(mujoco.mjtGeom.mjGEOM_HFIELD)
SPHERE = int(mujoco.mjtGeom.mjGEOM_SPHERE)
CAPSULE = int(mujoco.mjtGeom.mjGEOM_CAPSULE)
ELLIPSOID = int(mujoco.mjtGeom.mjGEOM_ELLIPSOID)
CYLINDER = int(mujoco.mjtGeom.mjGEOM_CYLINDER)
BOX = int(mujoco.mjtGeom.mjGEOM_BOX)
MESH = int(mujoco.mjtGeom.mjGEOM_MESH)
SDF = int(mujoco.mjtGeom.mjGEOM_SDF)

SHADOW_ROUND = 14
"""Corners around what is round, in its shadow."""

_UNSET = (0.5, 0.5, 0.5, 1.0)


@dataclass(frozen=True)
class Shape:
    """A mesh, its colour, and the geom or site that it moves with."""

    kind: Literal["geom", "site"]
    index: int
    """The number of the geom or site in the model."""
    name: str
    """The name in the model, else its kind and number."""
    mesh: Mesh
    colour: Colour
    closed: bool = True
    """It has no open edges, and so is seen from outside only."""
    has_shadow: bool = True
    """It throws one; ground and marks do not."""
    texture: NDArray[np.floating[Any]] | None = None
    """A picture `(height, width, 3)` in 0..1 for meshes that carry texture coordinates; its first row is at v = 0."""
    alpha: float = 1.0
    """How little of what is behind shows through; 1 for nothing."""


def drawable_shapes(
    model: Any,
    *,
    skip: frozenset[int] = frozenset(),
    reach: float = 1.0,
    groups: Collection[int] = SHOWN_GROUPS,
    sees_through: bool = False,
) -> list[Shape]:
    """Return the shapes of every visible geom and site of `model` but for the geoms in `skip`.

    Args:
        model: The `mujoco.MjModel`.
        skip: Numbers of geoms that are drawn in another way, such as the floor.
        reach: Half the side of planes that have no end.
        groups: The groups of geoms that are shown.
        sees_through: Whether shapes are see-through where the model says so; else they are solid, or left out.
    """
    faintest = FAINTEST if sees_through else FAINT
    shapes = []
    for index in range(model.ngeom):
        colour, alpha = colour_of(model, model.geom_rgba[index], int(model.geom_matid[index]))
        if index in skip or alpha < faintest or int(model.geom_group[index]) not in groups:
            continue
        kind = int(model.geom_type[index])
        mesh = _mesh(model, kind, model.geom_size[index], int(model.geom_dataid[index]), reach)
        if mesh is not None:
            half = model.geom_aabb[index][3:] if kind not in (PLANE, HFIELD) else np.abs(mesh.vertices).max(axis=0)
            # Cubes are stretched to what MuJoCo stretches itself, which meshes from files are not.
            stretch = half if kind not in (MESH, SDF) else np.ones(3)
            mesh, texture = textured(model, int(model.geom_matid[index]), mesh, half, stretch)
            if texture is not None and texture.size == 3:
                colour, texture = _product(colour, texture[0, 0]), None
            elif texture is not None:
                texture = texture * np.array(colour)
            name = model.geom(index).name or f"geom {index}"
            ground = kind in (PLANE, HFIELD)
            closed = not ground and kind not in (MESH, SDF)
            see_through = alpha if sees_through else 1.0
            shapes.append(Shape("geom", index, name, mesh, colour, closed, not ground, texture, see_through))
    for index in range(model.nsite):
        colour, alpha = colour_of(model, model.site_rgba[index], int(model.site_matid[index]))
        if alpha < faintest or model.site_group[index] not in SHOWN_GROUPS:
            continue
        mesh = _mesh(model, int(model.site_type[index]), model.site_size[index], -1, reach)
        if mesh is not None:
            name = model.site(index).name or f"site {index}"
            see_through = alpha if sees_through else 1.0
            shapes.append(Shape("site", index, name, mesh, colour, has_shadow=False, alpha=see_through))
    return shapes


def drawable_tendons(model: Any) -> list[tuple[int, Colour]]:
    """Return the number and colour of each visible tendon that runs through space."""
    found = []
    for index in range(model.ntendon):
        first = model.wrap_type[model.tendon_adr[index]]
        colour, alpha = colour_of(model, model.tendon_rgba[index], int(model.tendon_matid[index]))
        runs = int(first) != int(mujoco.mjtWrap.mjWRAP_JOINT)
        if runs and alpha >= FAINT and model.tendon_group[index] in SHOWN_GROUPS:
            found.append((index, colour))
    return found


def colour_of(model: Any, rgba: Any, material: int) -> tuple[Colour, float]:
    """Return the colour and opacity: the material's, unless the element sets its own."""
    if material >= 0 and np.allclose(rgba, _UNSET):
        rgba = model.mat_rgba[material]
    red, green, blue, alpha = (float(channel) for channel in rgba)
    return (red, green, blue), alpha


def _product(colour: Colour, other: Any) -> Colour:
    red, green, blue = (float(own * theirs) for own, theirs in zip(colour, other, strict=True))
    return red, green, blue


def _mesh(model: Any, kind: int, size: Any, data: int, reach: float) -> Mesh | None:
    x, y, z = (float(value) for value in size)
    if kind == PLANE:
        return geometry.rectangle(x or reach, y or reach)
    if kind == HFIELD:
        return _height_field(model, data)
    if kind == SPHERE:
        return geometry.sphere(x)
    if kind == CAPSULE:
        return geometry.capsule(x, y)
    if kind == ELLIPSOID:
        return geometry.ellipsoid((x, y, z))
    if kind == CYLINDER:
        return geometry.cylinder(x, y)
    if kind == BOX:
        return geometry.box((x, y, z))
    if kind in (MESH, SDF) and data >= 0:
        return _model_mesh(model, data)
    return None


def shadow_mesh(model: Any, shape: Shape) -> Mesh:
    """Return what the shadow of a geom is drawn of: coarser where it is round, for only its outline is seen."""
    kind = int(model.geom_type[shape.index])
    x, y, z = (float(value) for value in model.geom_size[shape.index])
    if kind == SPHERE:
        return geometry.sphere(x, around=SHADOW_ROUND)
    if kind == CAPSULE:
        return geometry.capsule(x, y, around=SHADOW_ROUND)
    if kind == ELLIPSOID:
        return geometry.ellipsoid((x, y, z), around=SHADOW_ROUND)
    if kind == CYLINDER:
        return geometry.cylinder(x, y, around=SHADOW_ROUND)
    return shape.mesh


def _height_field(model: Any, data: int) -> Mesh:
    rows, columns, start = (int(part[data]) for part in (model.hfield_nrow, model.hfield_ncol, model.hfield_adr))
    half_x, half_y, top, _ = (float(value) for value in model.hfield_size[data])
    heights = model.hfield_data[start : start + rows * columns].reshape(rows, columns) * top
    return geometry.height_field(heights, half_x, half_y)


def _model_mesh(model: Any, data: int) -> Mesh:
    vertices = _slice(model.mesh_vert, model.mesh_vertadr, model.mesh_vertnum, data)
    faces = _slice(model.mesh_face, model.mesh_faceadr, model.mesh_facenum, data)
    uv = None
    if model.mesh_texcoordnum[data] > 0:
        coordinates = _slice(model.mesh_texcoord, model.mesh_texcoordadr, model.mesh_texcoordnum, data)
        corners = _slice(model.mesh_facetexcoord, model.mesh_faceadr, model.mesh_facenum, data)
        uv = np.array(coordinates[corners.ravel()], dtype=float)
    return geometry.split_creases(Mesh(np.array(vertices, dtype=float), np.array(faces), uv))


def _slice(values: Any, starts: Any, counts: Any, index: int) -> Any:
    return values[int(starts[index]) : int(starts[index]) + int(counts[index])]
