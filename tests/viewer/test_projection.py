from __future__ import annotations

import mujoco
import numpy as np
import pytest

from workbench.viewer.camera import FIELD_OF_VIEW_DEG, View
from workbench.viewer.projection import Lens, knobs, nearest_body


def matrix(eye: list[float], forward: list[float], up: tuple[float, float, float] = (0, 0, 1)) -> np.ndarray:
    """The view matrix as every OpenGL book has it."""
    f = np.array(forward) / np.linalg.norm(forward)
    s = np.cross(f, up) / np.linalg.norm(np.cross(f, up))
    rotation = np.stack([s, np.cross(s, f), -f])
    whole = np.eye(4)
    whole[:3, :3], whole[:3, 3] = rotation, -rotation @ np.array(eye)
    return whole


@pytest.fixture
def lens() -> Lens:
    return Lens(matrix([4, 0, 0], [-1, 0, 0]), 800, 600)


def test_points_are_where_the_angle_of_view_puts_them(lens: Lens) -> None:
    assert lens.eye == pytest.approx([4, 0, 0])
    assert lens.to_screen(np.zeros(3)) == pytest.approx((400, 300))
    top = 4 * np.tan(np.radians(FIELD_OF_VIEW_DEG / 2))
    assert lens.to_screen(np.array([0, 0, top])) == pytest.approx((400, 0))
    # Looking along -x, y is to the right.
    assert lens.to_screen(np.array([0, top, 0])) == pytest.approx((700, 300))
    assert lens.to_screen(np.array([5, 0, 0])) is None


def test_a_pixel_and_a_depth_give_the_point_back(lens: Lens) -> None:
    point = np.array([0.5, -0.7, 0.3])
    pixel = lens.to_screen(point)
    assert pixel is not None
    assert lens.at_depth(*pixel, point) == pytest.approx(point)
    aside = lens.at_depth(pixel[0] + 50, pixel[1], point)
    assert (aside[0], aside[2]) == pytest.approx((0.5, 0.3))
    assert aside[1] > point[1]


def test_each_end_of_the_axes_looks_at_the_model_from_its_own_side() -> None:
    found = {knob.name: knob for knob in knobs(matrix([4, 0, 0], [-1, 0, 0]), 40)}
    assert len(found) == 6
    assert (found["y"].x, found["y"].y) == pytest.approx((40, 0))
    assert (found["z"].x, found["z"].y) == pytest.approx((0, -40))
    assert found["x"].depth == pytest.approx(1)
    for axis, letter in enumerate("xyz"):
        for sign, name in ((1, letter), (-1, f"-{letter}")):
            place = found[name].view.position(np.zeros(3)) if found[name].view.distance else -found[name].view.direction
            assert sign * place[axis] > 0.99


def test_a_direction_and_its_view_agree() -> None:
    for view in (View(30, -20), View(-170, 60), View(90, 0)):
        again = View.along(view.direction, 3.0)
        assert (again.azimuth_deg, again.elevation_deg, again.distance) == pytest.approx(
            (view.azimuth_deg, view.elevation_deg, 3.0)
        )


def test_a_ray_finds_the_first_body_that_is_shown_and_moves() -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom type='plane' size='9 9 1' pos='0 0 -1'/>"
        "<body name='near' pos='2 0 0'><freejoint/><geom size='.2'/></body>"
        "<body name='far'><freejoint/><geom size='.2'/></body>"
        "<body name='wall' pos='-2 0 0'><geom type='box' size='.1 1 1'/></body>"
        "<body name='behind' pos='-4 0 0'><freejoint/><geom size='.2'/></body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    eye, ahead = np.array([4.0, 0, 0]), np.array([-1.0, 0, 0])
    first = nearest_body(model, data, eye, ahead, set())
    assert first is not None
    assert (first[0], first[1].tolist()) == (1, pytest.approx([2.2, 0, 0]))
    second = nearest_body(model, data, eye, ahead, {1})
    assert second is not None
    assert (second[0], second[1].tolist()) == (2, pytest.approx([0.2, 0, 0], abs=1e-5))
    # A wall that stands is in the way; what is hidden is not.
    assert nearest_body(model, data, eye, ahead, {1, 2}) is None
    behind = nearest_body(model, data, eye, ahead, {1, 2, 3})
    assert behind is not None and behind[0] == 4
    assert nearest_body(model, data, eye, np.array([0, 0, 1.0]), set()) is None
