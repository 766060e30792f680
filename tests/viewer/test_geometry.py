from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from workbench.viewer import geometry
from workbench.viewer.geometry import Mesh

SOLIDS = [
    (geometry.sphere(0.5), 4 / 3 * math.pi * 0.5**3),
    (geometry.ellipsoid((0.2, 0.3, 0.7)), 4 / 3 * math.pi * 0.2 * 0.3 * 0.7),
    (geometry.capsule(0.1, 0.4), math.pi * 0.1**2 * 0.8 + 4 / 3 * math.pi * 0.1**3),
    (geometry.cylinder(0.3, 0.2), math.pi * 0.3**2 * 0.4),
    (geometry.box((0.1, 0.2, 0.3)), 0.2 * 0.4 * 0.6),
]
NAMES = ["sphere", "ellipsoid", "capsule", "cylinder", "box"]


def open_edges(mesh: Mesh) -> int:
    """Count the directed edges without a partner the other way, vertices at one place taken as one."""
    _, places = np.unique(mesh.vertices.round(9), axis=0, return_inverse=True)
    faces = places.ravel()[mesh.faces]
    edges = {(int(face[k]), int(face[(k + 1) % 3])) for face in faces for k in range(3)}
    return sum((b, a) not in edges for a, b in edges)


@pytest.mark.parametrize(("mesh", "volume"), SOLIDS, ids=NAMES)
def test_a_primitive_is_closed_and_looks_outwards(mesh: Mesh, volume: float) -> None:
    assert open_edges(mesh) == 0
    # A polyhedron inside a curved solid has a little less than its volume, and the right sign only outside out.
    assert 0.93 * volume < mesh.volume <= volume * (1 + 1e-9)


@pytest.mark.parametrize("around", [12, 48])
def test_finer_spheres_come_nearer_to_the_true_volume(around: int) -> None:
    true = 4 / 3 * math.pi
    coarse, fine = geometry.sphere(around=around), geometry.sphere(around=2 * around)
    assert 0 < true - fine.volume < 0.3 * (true - coarse.volume)


def test_a_capsule_ends_where_mujoco_says() -> None:
    mesh = geometry.capsule(0.1, 0.4)
    assert mesh.vertices[:, 2].max() == pytest.approx(0.5)
    assert np.hypot(mesh.vertices[:, 0], mesh.vertices[:, 1]).max() == pytest.approx(0.1)


def test_a_height_field_has_its_heights_at_its_corners() -> None:
    heights = np.array([[0.0, 0.1, 0.2], [0.3, 0.4, 0.5]])
    mesh = geometry.height_field(heights, half_x=2.0, half_y=1.0)
    assert mesh.vertices[0] == pytest.approx([-2, -1, 0.0])
    assert mesh.vertices[-1] == pytest.approx([2, 1, 0.5])
    normals = np.cross(*(mesh.vertices[mesh.faces[:, k]] - mesh.vertices[mesh.faces[:, 0]] for k in (1, 2)))
    assert (normals[:, 2] > 0).all()


def test_a_fine_height_field_is_thinned_and_keeps_its_edges() -> None:
    mesh = geometry.height_field(np.zeros((1000, 3)), half_x=1.0, half_y=5.0)
    assert len(mesh.vertices) < 3 * (geometry.GRID_LIMIT + 2)
    assert mesh.vertices[:, 1].max() == pytest.approx(5.0)


def welded(mesh: Mesh) -> Mesh:
    vertices, places = np.unique(mesh.vertices.round(9), axis=0, return_inverse=True)
    return Mesh(vertices, places.ravel()[mesh.faces])


def test_the_edges_of_a_welded_box_are_cut() -> None:
    box = welded(geometry.box((1, 1, 1)))
    assert len(box.vertices) == 8
    cut = geometry.split_creases(box)
    assert len(cut.vertices) == 24
    assert cut.volume == pytest.approx(8)


def test_a_sphere_stays_in_one_piece() -> None:
    ball = geometry.sphere()
    cut = geometry.split_creases(ball)
    assert len(cut.vertices) == len(ball.vertices)
    assert cut.volume == pytest.approx(ball.volume)


def test_only_the_rims_of_a_welded_cylinder_are_cut() -> None:
    cut = geometry.split_creases(welded(geometry.cylinder(1, 1, around=32)))
    assert len(cut.vertices) == 4 * 32 + 2


def test_faces_that_only_touch_at_a_vertex_do_not_share_it() -> None:
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0.0]])
    cut = geometry.split_creases(Mesh(vertices, np.array([[0, 1, 2], [0, 3, 4]])))
    assert len(cut.vertices) == 6


@pytest.mark.parametrize("normal", [(1, 1, 0), (0.3, -0.2, 0.9), (0, 0, 1)])
@pytest.mark.parametrize(
    "mesh", [geometry.box((1, 2, 3)), geometry.sphere(0.5), geometry.capsule(0.3, 0.6), geometry.cylinder(0.4, 0.2)]
)
def test_a_cut_leaves_the_surface_and_no_face_across_the_plane(mesh: Any, normal: Any) -> None:
    parts = geometry.cut(mesh, np.array(normal, dtype=float))
    side = (parts.vertices @ np.array(normal, dtype=float))[parts.faces]
    assert not ((side.min(axis=1) < -1e-5) & (side.max(axis=1) > 1e-5)).any()
    assert parts.volume == pytest.approx(mesh.volume)
    assert len(parts.faces) >= len(mesh.faces)
