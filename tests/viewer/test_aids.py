"""What can be drawn besides the model, against plain mechanics."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from workbench.viewer import aids
from workbench.viewer.aids import Arrows, Balls

RESTING = """<mujoco><option timestep='.002'/><worldbody><geom type='plane' size='5 5 1'/>
<body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1' mass='2'/></body></worldbody></mujoco>"""
UPSIDE = """<mujoco><worldbody><body pos='0 0 .1'><freejoint/><geom size='.1' mass='3'/></body>
<body pos='0 0 -1'><geom type='box' size='1 1 1'/></body></worldbody></mujoco>"""
LEVER = """<mujoco><worldbody><body name='arm' pos='1 0 0' euler='0 0 90'><joint type='slide' axis='1 0 0'/>
<joint type='hinge' axis='0 0 1' pos='.2 0 0'/><geom size='.1' mass='1' pos='.5 0 0'/><body pos='1 0 0'>
<joint type='ball'/><geom size='.1' mass='3'/></body></body></worldbody></mujoco>"""


def settled(xml: str, seconds: float = 2.0) -> tuple[Any, Any]:
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, max(1, round(seconds / model.opt.timestep)))
    mujoco.mj_forward(model, data)
    return model, data


@pytest.mark.parametrize(("xml", "mass"), [(RESTING, 2.0), (UPSIDE, 3.0)])
def test_contacts_carry_what_rests_on_them_whichever_geom_is_named_first(xml: str, mass: float) -> None:
    model, data = settled(xml)
    points, forces = aids.contact_points(model, data)
    assert len(points) == data.ncon > 0
    assert forces.sum(axis=0) == pytest.approx([0, 0, 9.81 * mass], rel=0.01, abs=0.01)
    assert points[:, 2] == pytest.approx(0.0, abs=0.01)
    norms = np.linalg.norm(forces, axis=1)
    assert (np.diff(norms) <= 1e-9).all()
    arrows = aids.force_arrows(model, points, forces, radius=0.5)
    assert np.linalg.norm(arrows.vectors, axis=1).sum() == pytest.approx(0.5, rel=0.02)
    longest = aids.force_arrows(model, points, 1e6 * forces, radius=0.5).vectors
    assert np.linalg.norm(longest, axis=1) == pytest.approx(aids.LONGEST * 0.5)


def test_axes_are_those_of_hinges_and_slides_where_they_are() -> None:
    model, data = settled(LEVER, 0.0)
    mujoco.mj_resetData(model, data)
    mujoco.mj_forward(model, data)
    arrows = aids.joint_arrows(model, data, radius=1.0)
    directions = arrows.vectors / np.linalg.norm(arrows.vectors, axis=1, keepdims=True)
    # The arm is turned a quarter: its own x is the world's y.
    assert directions == pytest.approx(np.array([[0, 1, 0], [0, 0, 1]]), abs=1e-9)
    through = arrows.starts[1] + 0.05 * directions[1]
    assert through == pytest.approx([1.0, 0.2, 0.0], abs=1e-9)


def test_the_last_ball_is_the_centre_of_mass_of_the_whole() -> None:
    model, data = settled(LEVER, 0.0)
    mujoco.mj_resetData(model, data)
    mujoco.mj_forward(model, data)
    balls = aids.mass_balls(model, data, radius=1.0)
    assert balls.centres == pytest.approx(np.array([[1, 0.5, 0], [1, 1, 0], [1, 0.875, 0]]), abs=1e-9)
    assert (balls.radii[1] / balls.radii[0]) ** 3 == pytest.approx(3.0)


def test_arrows_point_from_their_start_to_their_end_and_look_outwards() -> None:
    arrows = Arrows(np.array([[1.0, 2, 3], [0, 0, 0]]), np.array([[0, 0, 2.0], [-0.5, 0, 0]]))
    mesh = aids.arrow_mesh(arrows, 0.02, capacity=4)
    first, second, *rest = mesh.vertices.reshape(4, -1, 3)
    assert (first[:, 2].min(), first[:, 2].max()) == pytest.approx((3.0, 5.0))
    assert np.abs(first[:, :2] - (1, 2)).max() == pytest.approx(2.4 * 0.02, rel=0.06)
    assert (second[:, 0].min(), second[:, 0].max()) == pytest.approx((-0.5, 0.0))
    assert all(np.ptp(part, axis=0).max() == 0 for part in rest)
    assert mesh.volume > 0
    same = aids.arrow_mesh(Arrows(np.zeros((0, 3)), np.zeros((0, 3))), 0.02, capacity=4)
    assert (same.faces == mesh.faces).all()


def test_balls_have_their_volume_and_those_left_over_none() -> None:
    one = aids.ball_mesh(Balls(np.array([[1.0, 0, 0]]), np.array([0.5])), capacity=3)
    assert one.volume == pytest.approx(4 / 3 * np.pi * 0.5**3, rel=0.05)
    assert one.vertices.mean(axis=0) == pytest.approx([1, 0, 0.0], abs=0.34)


def test_what_is_moved_towards_the_eye_is_seen_at_the_same_place() -> None:
    eye, points = np.array([0.0, 0, 5]), np.array([[1.0, 2, 0], [0, -1, 1]])
    moved = aids.towards(points, eye, 0.5)
    for before, after in zip(points - eye, moved - eye, strict=True):
        assert np.cross(before, after) == pytest.approx(np.zeros(3), abs=1e-12)
        assert np.linalg.norm(after) == pytest.approx(0.5 * np.linalg.norm(before))
