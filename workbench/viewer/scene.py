"""A MuJoCo model as Polyscope structures: registered once, moved every frame.

One mesh for each geom, moved by its transform, and a second one for its shadow; the floor; a curve for each tendon;
a mesh whose vertices move for each flex and skin.
Polyscope must have been started before a scene is built, and the scene closed before it is stopped.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.viewer import floor
from workbench.viewer.backend import import_polyscope
from workbench.viewer.camera import Vector
from workbench.viewer.framing import Framing
from workbench.viewer.geometry import Mesh
from workbench.viewer.look import STUDIO, Colour, Theme, blend, linear
from workbench.viewer.shapes import SHOWN_GROUPS, Shape, drawable_shapes, drawable_tendons, shadow_mesh
from workbench.viewer.soft import Soft, drawable_soft

PASSES = 4
"""Layers that are seen through one another; each costs as much again as a picture without."""

TINTED = 0.85
"""How far a tinted model's colours go towards its tint: so far that it looks like its caption."""


@dataclass(frozen=True)
class Dress:
    """How one of several models in a scene is told from the others."""

    name: str = ""
    """What its structures' names begin with; all different."""
    tint: Colour | None = None
    """What the colours of all that can move go towards."""
    opacity: float = 1.0
    has_floor: bool = True
    has_scenery: bool = True
    """Whether what is fixed to the world is drawn."""


@dataclass
class _Moved:
    """A shape that is drawn, and its shadow."""

    kind: str
    index: int
    body: int
    drawn: Any
    shadow: Any | None


class Scene:
    """The structures of one model.

    Args:
        model: The `mujoco.MjModel`.
        framing: Its measures.
        theme: The colours around it.
        casts_shadows: Whether shadows lie on the floor.
        groups: The groups of geoms that are shown.
        dress: How it is told from other scenes that are drawn together with it.
        sees_through: Draw see-through what the model says is, which takes several times as long where anything is.
    """

    def __init__(
        self,
        model: Any,
        framing: Framing,
        theme: Theme,
        *,
        casts_shadows: bool = True,
        groups: Collection[int] = SHOWN_GROUPS,
        dress: Dress = Dress(),
        sees_through: bool = False,
    ) -> None:
        self._polyscope = import_polyscope()
        self._framing = framing
        self._theme = theme
        self._dress = dress
        self._matrix = np.eye(4, dtype=np.float32)
        radius = framing.radius
        # The length scale sets the near and far planes and must hold the floor's patch.
        self._polyscope.set_length_scale(length_scale(framing))
        low, high = framing.centre - radius, framing.centre + radius
        self._polyscope.set_bounding_box(tuple(low), tuple(high))

        self._tile = floor.tile_size(radius)
        self._structures: list[Any] = []
        self._floor: Any | None = None
        if dress.has_floor:
            patch = floor.disc(self._tile)
            self._floor = self._register("floor", patch, None)
            self._floor.add_color_quantity("tiles", floor.checker_colours(patch, self._tile, theme), enabled=True)
            self._floor.set_back_face_policy("cull")
        self._flattened = floor.shadow_matrix(framing.floor_height, radius).astype(np.float32)

        ground = frozenset() if framing.floor_geom is None else frozenset({framing.floor_geom})
        self._moved: list[_Moved] = []
        shapes = drawable_shapes(model, skip=ground, reach=10 * radius, groups=groups, sees_through=sees_through)
        if not dress.has_scenery:
            shapes = [shape for shape in shapes if not _is_fixed(model, shape)]
        softs = drawable_soft(model, groups=groups, sees_through=sees_through)
        if min([1.0, *(shape.alpha for shape in shapes), *(soft.alpha for soft in softs)]) < 1:
            self._polyscope.set_transparency_mode("pretty")
            self._polyscope.set_transparency_render_passes(PASSES)
        for number, shape in enumerate(shapes):
            drawn = self._draw(f"{number} {shape.name}", shape, keeps_colour=_is_fixed(model, shape))
            shadow = None
            if casts_shadows and shape.has_shadow:
                shadow = self._draw_shadow(f"{number} {shape.name} shadow", shadow_mesh(model, shape))
            self._moved.append(_Moved(shape.kind, shape.index, _body(model, shape), drawn, shadow))
        self._softs = [self._draw_soft(soft, casts_shadows=casts_shadows) for soft in softs]
        self._tendons: list[tuple[int, int, Any]] = []
        for index, colour in drawable_tendons(model):
            nodes = 2 * int(model.tendon_num[index])
            curve = self._polyscope.register_curve_network(f"{dress.name}tendon {index}", np.zeros((nodes, 3)), "line")
            curve.set_radius(float(model.tendon_width[index]), relative=False)
            curve.set_color(linear(self._tinted(colour)))
            curve.set_material(STUDIO)
            self._structures.append(curve)
            self._tendons.append((index, nodes, curve))

    def update(self, data: Any, target: Vector, offset: Vector | None = None) -> None:
        """Move everything to where it is in `data`, and the floor's patch to around `target`.

        Args:
            data: The `MjData`.
            target: What the camera looks at, `(3,)`.
            offset: How far beside its place the model is drawn, `(3,)`.
        """
        geoms = _transforms(data.geom_xpos, data.geom_xmat)
        sites = _transforms(data.site_xpos, data.site_xmat)
        flattened = self._flattened @ geoms
        if offset is not None:
            for placed in (geoms, sites, flattened):
                placed[:, :3, 3] += offset
        for one in self._moved:
            one.drawn.bound_instance.set_transform((geoms if one.kind == "geom" else sites)[one.index])
            if one.shadow is not None:
                one.shadow.bound_instance.set_transform(flattened[one.index])
        if self._floor is not None:
            self._matrix[:3, 3] = floor.patch_position(target, self._tile, self._framing.floor_height)
            self._floor.bound_instance.set_transform(self._matrix)
        for soft, drawn, shadow in self._softs:
            vertices = soft.positions(data)
            moved = vertices if offset is None else vertices + offset
            if soft.faces is None:
                drawn.update_node_positions(moved)
            else:
                drawn.update_vertex_positions(moved)
            if shadow is not None:
                fallen = vertices @ self._flattened[:3, :3].T + self._flattened[:3, 3]
                shadow.update_vertex_positions(fallen if offset is None else fallen + offset)
        for index, nodes, curve in self._tendons:
            start, count = int(data.ten_wrapadr[index]), int(data.ten_wrapnum[index])
            # How many points a tendon runs through changes; a curve's does not, so the last point is repeated.
            which = np.minimum(np.arange(nodes), max(count - 1, 0)) + start
            points = data.wrap_xpos.reshape(-1, 3)[which]
            curve.update_node_positions(points if offset is None else points + offset)

    def show(self, hidden: Collection[int], parts: Collection[str]) -> None:
        """Show all but the bodies in `hidden`, and of the rest only `parts`: floor, shadows, sites, tendons."""
        for one in self._moved:
            visible = one.body not in hidden and (one.kind == "geom" or "sites" in parts)
            one.drawn.set_enabled(visible)
            if one.shadow is not None:
                one.shadow.set_enabled(visible and "shadows" in parts)
        for _, _, shadow in self._softs:
            if shadow is not None:
                shadow.set_enabled("shadows" in parts)
        for _, _, curve in self._tendons:
            curve.set_enabled("tendons" in parts)
        if self._floor is not None:
            self._floor.set_enabled("floor" in parts)

    def close(self) -> None:
        """Let go of every structure."""
        self._moved.clear()
        self._softs.clear()
        self._tendons.clear()
        self._floor = None
        for structure in self._structures:
            structure.remove()
        self._structures.clear()

    def _register(self, name: str, mesh: Mesh, colour: Colour | None, alpha: float = 1.0) -> Any:
        name = f"{self._dress.name}{name}"
        structure = self._polyscope.register_surface_mesh(name, mesh.vertices, mesh.faces, smooth_shade=True)
        # Polyscope remembers all of this by name, beyond the structure that it was set for.
        structure.set_enabled(True)
        structure.set_transparency(1.0 if colour is None else alpha * self._dress.opacity)
        structure.set_material("flat" if colour is None else STUDIO)
        if colour is not None:
            structure.set_color(linear(self._tinted(colour)))
        self._structures.append(structure)
        return structure

    def _tinted(self, colour: Colour) -> Colour:
        return colour if self._dress.tint is None else blend(colour, self._dress.tint, TINTED)

    def _draw(self, name: str, shape: Shape, *, keeps_colour: bool) -> Any:
        structure = self._register(name, shape.mesh, shape.colour, alpha=shape.alpha)
        if keeps_colour:
            structure.set_color(linear(shape.colour))
        # Only primitives are sure to be closed; meshes from files may have holes and faces turned inwards.
        structure.set_back_face_policy("cull" if shape.closed else "identical")
        plain = self._dress.tint is not None and not keeps_colour
        if shape.texture is not None and shape.mesh.uv is not None and not plain:
            structure.add_parameterization_quantity("uv", shape.mesh.uv, defined_on="corners")
            structure.add_color_quantity(
                "texture",
                shape.texture**2.2 / 1.1,
                defined_on="texture",
                param_name="uv",
                image_origin="lower_left",
                filter_mode="linear",
                enabled=True,
            )
        return structure

    def _draw_soft(self, soft: Soft, *, casts_shadows: bool) -> tuple[Soft, Any, Any | None]:
        name = f"{self._dress.name}{soft.name}"
        if soft.faces is None:
            assert soft.edges is not None
            nodes = np.zeros((int(soft.edges.max()) + 1, 3))
            cord = self._polyscope.register_curve_network(name, nodes, soft.edges)
            cord.set_radius(soft.radius, relative=False)
            cord.set_color(linear(self._tinted(soft.colour)))
            cord.set_material(STUDIO)
            self._structures.append(cord)
            return soft, cord, None
        mesh = Mesh(np.zeros((int(soft.faces.max()) + 1, 3)), soft.faces)
        drawn = self._register(soft.name, mesh, soft.colour, alpha=soft.alpha)
        drawn.set_back_face_policy("identical")
        drawn.set_smooth_shade(soft.is_smooth)
        if not casts_shadows:
            return soft, drawn, None
        shadow = self._register(f"{soft.name} shadow", mesh, None)
        shadow.set_color(self._theme.shadow)
        shadow.set_back_face_policy("identical")
        return soft, drawn, shadow

    def _draw_shadow(self, name: str, mesh: Mesh) -> Any:
        structure = self._register(name, mesh, None)
        structure.set_color(self._theme.shadow)
        # Flattened meshes show either side; drawn in two colours they would flicker against themselves.
        structure.set_back_face_policy("identical")
        return structure


def length_scale(framing: Framing) -> float:
    """Return the measure that Polyscope takes of the scene, in metres."""
    return 2 * framing.radius


def _body(model: Any, shape: Shape) -> int:
    return int((model.geom_bodyid if shape.kind == "geom" else model.site_bodyid)[shape.index])


def _is_fixed(model: Any, shape: Shape) -> bool:
    """Tell whether a shape can never move: it is the same for all models in a scene."""
    body = _body(model, shape)
    return int(model.body_weldid[body]) == 0 and int(model.body_mocapid[model.body_rootid[body]]) < 0


def _transforms(positions: Any, rotations: Any) -> NDArray[np.float32]:
    """Return the matrices `(n, 4, 4)` of `n` frames."""
    matrices = np.zeros((len(positions), 4, 4), dtype=np.float32)
    matrices[:, :3, :3] = rotations.reshape(-1, 3, 3)
    matrices[:, :3, 3] = positions
    matrices[:, 3, 3] = 1
    return matrices
