"""Contacts, forces, axes and centres of mass in the picture: one mesh each, there only while it is wanted."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from workbench.viewer import aids
from workbench.viewer.aids import Arrows, Balls
from workbench.viewer.backend import import_polyscope
from workbench.viewer.camera import Vector
from workbench.viewer.geometry import Mesh
from workbench.viewer.look import Colour

COLOURS: dict[str, Colour] = {
    "contacts": (0.95, 0.65, 0.10),
    "forces": (0.86, 0.22, 0.20),
    "joints": (0.12, 0.45, 0.85),
    "mass": (0.55, 0.25, 0.70),
}

SEEN_THROUGH = ("joints", "mass")
"""They lie within bodies, and are drawn as if those were not in the way."""

_NEARER = 0.5


class Marks:
    """The marks of one model.

    Args:
        model: The `MjModel`.
        radius: Of the model, in metres.
        name: What the structures' names begin with.
    """

    def __init__(self, model: Any, radius: float, *, name: str = "") -> None:
        self._model = model
        self._radius = radius
        self._name = name
        self._polyscope = import_polyscope()
        self._drawn: dict[str, Any] = {}
        self._make: dict[str, Callable[[Any], Mesh]] = {
            "contacts": self._contacts,
            "forces": self._forces,
            "joints": lambda data: aids.arrow_mesh(
                aids.joint_arrows(model, data, radius), 0.012 * radius, max(1, model.njnt)
            ),
            "mass": lambda data: aids.ball_mesh(aids.mass_balls(model, data, radius), model.nbody + 1),
        }

    def update(self, data: Any, wanted: Collection[str], eye: Vector, offset: Vector | None = None) -> None:
        """Draw the wanted marks of a state, and no others.

        Args:
            data: The `MjData`, its derived fields current.
            wanted: Which of contacts, forces, joints and mass.
            eye: Where the camera is, `(3,)`.
            offset: How far beside its place the model is drawn, `(3,)`.
        """
        for what in self._drawn.keys() - set(wanted):
            self._drawn.pop(what).remove()
        for what in wanted:
            mesh = self._make[what](data)
            vertices = mesh.vertices if offset is None else mesh.vertices + offset
            if what in SEEN_THROUGH:
                vertices = aids.towards(vertices, eye, _NEARER)
            if what in self._drawn:
                self._drawn[what].update_vertex_positions(vertices)
            else:
                self._drawn[what] = self._register(what, vertices, mesh.faces)

    def close(self) -> None:
        """Draw none."""
        for structure in self._drawn.values():
            structure.remove()
        self._drawn.clear()

    def _register(self, what: str, vertices: Any, faces: Any) -> Any:
        structure = self._polyscope.register_surface_mesh(f"{self._name}{what}", vertices, faces)
        structure.set_color(COLOURS[what])
        structure.set_material("flat")
        structure.set_back_face_policy("identical")
        return structure

    def _contacts(self, data: Any) -> Mesh:
        points, _ = aids.contact_points(self._model, data)
        return aids.ball_mesh(Balls(points, np.full(len(points), 0.02 * self._radius)), aids.MOST_CONTACTS)

    def _forces(self, data: Any) -> Mesh:
        points, forces = aids.contact_points(self._model, data)
        arrows: Arrows = aids.force_arrows(self._model, points, forces, self._radius)
        return aids.arrow_mesh(arrows, 0.014 * self._radius, aids.MOST_CONTACTS)
