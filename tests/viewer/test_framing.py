from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from workbench.viewer import framing
from workbench.viewer.camera import Follower, View, view_of


def model(body: str, world: str = "", head: str = "") -> Any:
    return mujoco.MjModel.from_xml_string(
        f"<mujoco>{head}<worldbody>{world}<body name='root' pos='0 0 1'>{body}</body></worldbody></mujoco>"
    )


def test_what_floats_is_followed_and_the_ground_is_found() -> None:
    found = framing.frame(model("<freejoint/><geom size='.5'/>", "<geom type='plane' pos='0 0 .2' size='40 40 1'/>"))
    assert found.follow_body == 1
    assert found.floor_geom == 0
    assert found.floor_height == pytest.approx(0.2)
    # The ground counts for nothing; the gap under the ball does.
    assert found.radius == pytest.approx(np.linalg.norm([1, 1, 1.3]) / 2)


def test_the_view_is_centred_on_what_moves_not_on_its_mass() -> None:
    pole = "<freejoint/><geom type='box' size='.2 .2 .2' mass='99'/><geom pos='0 0 2' size='.2' mass='1'/>"
    found = framing.frame(model(pole, "<geom type='plane' size='1 1 1' pos='0 0 .8'/>"))
    data = mujoco.MjData(model(pole))
    mujoco.mj_forward(model(pole), data)
    assert found.target(data)[2] == pytest.approx(2.0, abs=0.01)


def test_an_arm_is_not_followed_and_all_of_its_reach_is_shown() -> None:
    arm = "<joint axis='0 1 0' limited='true' range='-90 90'/><geom type='capsule' size='.05' fromto='0 0 0 0 0 1'/>"
    found = framing.frame(model(arm))
    assert found.follow_body is None
    assert found.radius > 1.0


def test_what_lies_beside_an_arm_on_a_fixed_base_is_not_followed() -> None:
    upper = "<body><joint axis='0 1 0'/><geom type='capsule' size='.05' fromto='0 0 0 0 0 1'/></body>"
    arm = "<geom size='.1'/>" + upper
    found = framing.frame(model(arm + "</body><body name='target'><freejoint/><geom size='.1'/>"))
    assert found.follow_body is None


def test_a_body_on_a_long_slide_is_followed_and_on_a_short_one_not() -> None:
    cart = "<joint type='slide' axis='1 0 0' limited='true' range='-{0} {0}'/><geom type='box' size='.2 .2 .2'/>"
    assert framing.frame(model(cart.format(5))).follow_body == 1
    assert framing.frame(model(cart.format(0.1))).follow_body is None


def test_a_far_slide_does_not_make_the_rest_tiny() -> None:
    goal = "</body><body><joint type='slide' axis='1 0 0' limited='true' range='-50 50'/><geom size='.1'/>"
    found = framing.frame(model("<joint axis='0 0 1' limited='true' range='-1 1'/><geom size='.3'/>" + goal))
    assert found.radius < 2


def test_the_environment_may_name_what_to_follow() -> None:
    two = "<joint/><geom size='.1'/><body name='tip' pos='0 0 1'><joint/><geom size='.1'/></body>"
    assert framing.frame(model(two), follow="tip").follow_body == 2


def test_without_a_plane_the_floor_lies_under_everything() -> None:
    found = framing.frame(model("<freejoint/><geom size='.5'/>", "<geom type='box' size='.1 .1 .1' pos='0 0 .3'/>"))
    assert found.floor_geom is None
    assert found.floor_height == pytest.approx(0.2)


def test_motion_in_a_level_plane_is_seen_from_above() -> None:
    assert framing.frame(model("<joint axis='0 0 1'/><geom size='.1'/>")).elevation_deg == framing.SEEN_FROM_ABOVE
    assert framing.frame(model("<joint axis='0 1 0'/><geom size='.1'/>")).elevation_deg == framing.SEEN_AT[1]


def test_the_models_own_view_is_taken() -> None:
    head = "<visual><global azimuth='90' elevation='-8'/></visual>"
    found = framing.frame(model("<joint/><geom size='.1'/>", head=head))
    assert (found.azimuth_deg, found.elevation_deg) == (90, -8)


def test_a_model_in_which_nothing_moves_is_framed_too() -> None:
    still = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='.5'/></worldbody></mujoco>")
    assert framing.frame(still).radius == pytest.approx(np.sqrt(3) / 2)
    empty = mujoco.MjModel.from_xml_string("<mujoco/>")
    assert framing.frame(empty).radius > 0


def test_marks_that_are_put_somewhere_do_not_make_the_rest_tiny() -> None:
    bodies = "<body pos='0 0 1'><joint axis='0 1 0'/><geom size='.1 .3' type='capsule'/></body>"
    alone = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    mark = "<body mocap='true' pos='0 0 1'><geom type='box' size='5 .01 .01'/></body>"
    marked = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{bodies}{mark}</worldbody></mujoco>")
    assert framing.frame(marked).radius < 1.5 * framing.frame(alone).radius


def test_an_arm_that_turns_all_round_is_shown_with_all_that_it_sweeps() -> None:
    arm = "<joint axis='0 0 1'/><geom type='capsule' size='.05' fromto='0 0 0 1 0 0'/>"
    found = framing.frame(model(arm))
    # Around its axle, but for the rarest poses, rather than around where it begins.
    assert found.centre[:2] == pytest.approx([0, 0], abs=0.15)
    assert found.radius > 1.2


def test_the_corners_are_those_of_what_moves_as_it_is_now() -> None:
    box = "<freejoint/><geom type='box' size='.1 .2 .3'/>"
    made = model(box, "<geom type='box' size='9 9 .1'/>")
    data = mujoco.MjData(made)
    data.qpos[:] = [5, 0, 2, np.sqrt(0.5), 0, 0, np.sqrt(0.5)]  # A quarter turn about z.
    mujoco.mj_forward(made, data)
    found = framing.corners(made, data)
    assert len(found) == 8
    assert found.min(axis=0) == pytest.approx([4.8, -0.1, 1.7])
    assert found.max(axis=0) == pytest.approx([5.2, 0.1, 2.3])
    fixed = model("<geom size='.1'/>")
    assert framing.corners(fixed, mujoco.MjData(fixed)).shape == (0, 3)


def on_screen(height: float, view: View) -> float:
    """Return where something above what is looked at is seen: 1 is the upper edge of a picture, -1 the lower one."""
    tilt = np.radians(view.elevation_deg)
    return float(height * np.cos(tilt) / ((view.distance + height * np.sin(tilt)) * np.tan(np.radians(20))))


LEG = "<geom type='capsule' size='.05' fromto='0 0 -.65 0 0 .65'/>"


def test_what_hops_keeps_its_head_and_its_foot_in_the_picture() -> None:
    hopper = "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 0 1'/>" + LEG
    view = view_of(framing.frame(model(hopper)), None, 4 / 3)
    follower = Follower()
    for moment in np.arange(0, 3, 0.01):
        # It falls down from 0.3 m and bounces, again and again.
        height = 0.3 - 9.81 / 2 * ((moment + 0.247) % 0.494 - 0.247) ** 2
        ahead = height - follower.update(np.array([0.0, 0.0, height]), 0.01)[2]
        assert -1 < on_screen(-0.7 + ahead, view) < on_screen(0.7 + ahead, view) < 1


def test_what_cannot_hop_or_lies_flat_fills_the_picture() -> None:
    pinned = framing.frame(model("<joint type='slide' axis='1 0 0'/>" + LEG))
    flat = framing.frame(model("<freejoint/><geom type='box' size='.5 .5 .1'/>"))
    for found in (pinned, flat):
        assert view_of(found, None, 4 / 3).distance == pytest.approx(2.9 * found.radius)


def test_a_pole_that_turns_all_round_on_a_cart_hangs_above_the_floor_and_in_the_picture() -> None:
    pole = "<joint axis='0 1 0'/><geom type='capsule' size='.02' fromto='0 0 0 0 0 .6'/>"
    cart = f"<joint type='slide' axis='1 0 0' range='-2 2'/><geom type='box' size='.1 .1 .05'/><body>{pole}</body>"
    made = mujoco.MjModel.from_xml_string(
        "<mujoco><compiler autolimits='true'/><worldbody><geom type='cylinder' size='.02' fromto='-2 0 .9 2 0 .9'/>"
        f"<body pos='0 0 .9'>{cart}</body></worldbody></mujoco>"
    )
    found = framing.frame(made)
    assert found.floor_geom is None and found.floor_height < 0.9 - 0.5
    data = mujoco.MjData(made)
    data.qpos[:] = [1.0, np.pi]
    mujoco.mj_forward(made, data)
    view, target = view_of(found, None, 4 / 3), found.target(data)
    assert on_screen(0.9 - 0.6 - target[2], view) > -1
