"""Every predicate and reward, against values computed with MuJoCo's own data and functions."""

import math
from typing import Any

import mujoco
import numpy as np
import pytest

from tests.simulation.terms.hosts import ARM, BEADS, arm_states, expected, host, read
from workbench.simulation.terms import make_predicate, make_term, names, predicate_kind

EXPECTED_NAMES = [
    "body_above_z",
    "body_below_z",
    "distance_less_than",
    "inside_region",
    "body_on",
    "body_inside",
    "body_upright",
    "joint_above",
    "joint_below",
    "contact_between",
    "contact_any",
    "grasped",
    "base_tipped",
    "base_below_z",
    "base_beyond_x",
    "base_beyond_y",
    "base_yaw_beyond",
    "particles_inside",
    "particles_spilled",
    "distance_neg",
    "joint_progress",
    "particles_inside_fraction",
    "constant",
    "base_velocity",
    "base_velocity_tracking",
    "base_height",
    "base_orientation",
    "base_lin_vel_z",
    "base_ang_vel_xy",
    "staged_reward",
]
"""Those of strands-robots 0.5.3."""


def position(data: Any, name: str) -> Any:
    return data.body(name).xpos.copy()


def up(data: Any, name: str) -> float:
    return float(data.body(name).xmat[8])


def touching(model: Any, data: Any, one: set[str], other: set[str] | None) -> bool:
    """Whether the solver works on a contact between geoms of two sets; any other geom where the second is None."""
    for contact in data.contact[: data.ncon]:
        if contact.efc_address < 0:
            continue
        first, second = (model.geom(int(geom)).name for geom in contact.geom)
        for a, b in ((first, second), (second, first)):
            if a in one and (other is None or b in other):
                return True
    return False


def twist(model: Any, data: Any) -> tuple[Any, Any]:
    """Linear and angular velocity of the cube in its own axes."""
    six = np.zeros(6)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, model.body("cube").id, six, 1)
    return six[3:], six[:3]


def region(_: Any, data: Any) -> bool:
    x, y, z = position(data, "cube")
    return 0.3 <= x <= 0.5 and -0.1 <= y <= 0.05 and 0.2 <= z <= 0.4


def on_table(_: Any, data: Any) -> bool:
    apart = position(data, "cube") - position(data, "table")
    return math.dist(apart[:2], (0, 0)) <= 0.12 and apart[2] > 0.03


def inside_table(_: Any, data: Any) -> bool:
    apart = np.abs(position(data, "cube") - position(data, "table"))
    return bool(apart[0] <= 0.08 and apart[1] <= 0.08 and apart[2] <= 0.12)


def clearance(data: Any) -> float:
    """The height of the cube above the table, whose top is at 0.32 m, where it is over it, and above the floor."""
    x, y, z = position(data, "cube")
    return float(z - 0.32 if abs(x - 0.35) <= 0.15 and abs(y) <= 0.15 and z >= 0.32 else z)


def tracking(model: Any, data: Any) -> float:
    (vx, vy, _), (_, _, wz) = twist(model, data)
    return 2.0 * math.exp(-((vx - 0.5) ** 2 + vy**2) / 0.3) + 0.25 * math.exp(-((wz + 0.2) ** 2) / 0.3)


def outside_limits(model: Any, data: Any) -> float:
    total = 0.0
    for name in ("lift", "turn", "squeeze_left"):
        low, high = model.joint(name).range
        margin = 0.1 * (high - low)
        place = float(data.joint(name).qpos[0])
        total += max(0.0, low + margin - place) + max(0.0, place - (high - margin))
    return -total


def orientation(data: Any) -> float:
    turn = data.body("cube").xmat.reshape(3, 3)
    gravity = turn.T @ [0, 0, -1]
    return -float(gravity[0] ** 2 + gravity[1] ** 2)


def grip_turn(model: Any, data: Any) -> float:
    """The angle between the site and the cube, by MuJoCo's own difference of quaternions."""
    site, difference = np.zeros(4), np.zeros(3)
    mujoco.mju_mat2Quat(site, data.site("grip").xmat)
    mujoco.mju_subQuat(difference, site, data.body("cube").xquat)
    return float(np.linalg.norm(difference))


def grip_to_fixed(model: Any, data: Any) -> float:
    site, difference, fixed = np.zeros(4), np.zeros(3), np.array([0.6, 0, 0.8, 0])
    mujoco.mju_mat2Quat(site, data.site("grip").xmat)
    mujoco.mju_subQuat(difference, site, fixed)
    return -float(np.linalg.norm(difference))


FINGERS = {"palm", "pad_left", "nail_left"}

PREDICATES: list[tuple[str, dict[str, Any], Any]] = [
    ("body_above_z", {"body": "cube", "z": 0.3}, lambda m, d: position(d, "cube")[2] > 0.3),
    ("body_below_z", {"body": "tip_left", "z": 0.3}, lambda m, d: position(d, "tip_left")[2] < 0.3),
    (
        "distance_less_than",
        {"body_a": "cube", "body_b": "tip_left", "threshold": 0.1},
        lambda m, d: math.dist(position(d, "cube"), position(d, "tip_left")) < 0.1,
    ),
    ("inside_region", {"body": "cube", "min": [0.3, -0.1, 0.2], "max": [0.5, 0.05, 0.4]}, region),
    ("body_on", {"body_a": "cube", "body_b": "table", "z_offset": 0.03, "xy_tol": 0.12}, on_table),
    (
        "body_on",
        {"body_a": "cube", "body_b": "table", "z_offset": -1, "xy_tol": 9, "require_contact": True},
        lambda m, d: touching(m, d, {"cube_geom"}, {"top"}),
    ),
    ("body_inside", {"body": "cube", "container": "table", "xy_tol": 0.08, "z_tol": 0.12}, inside_table),
    ("body_upright", {"body": "cube"}, lambda m, d: up(d, "cube") > 1 - 0.15),
    ("joint_above", {"joint": "turn", "value": 0.1}, lambda m, d: d.joint("turn").qpos[0] > 0.1),
    ("joint_below", {"joint": "lift", "value": 0.05}, lambda m, d: d.joint("lift").qpos[0] < 0.05),
    (
        "contact_between",
        {"geom_a": "pad_left", "geom_b": "cube_geom"},
        lambda m, d: touching(m, d, {"pad_left"}, {"cube_geom"}),
    ),
    ("contact_any", {}, lambda m, d: any(contact.efc_address >= 0 for contact in d.contact[: d.ncon])),
    ("grasped", {"body": "cube", "gripper_prefix": "arm"}, lambda m, d: touching(m, d, {"cube_geom"}, FINGERS)),
    ("foot_contact", {"foot": "cube"}, lambda m, d: touching(m, d, {"cube_geom"}, None)),
    (
        "foot_contact",
        {"foot": "cube", "ground": "top"},
        lambda m, d: touching(m, d, {"cube_geom"}, {"top"}),
    ),
    ("base_tipped", {"tol": 0.7}, lambda m, d: up(d, "cube") < 1 - 0.7),
    ("base_below_z", {"z": 0.1}, lambda m, d: clearance(d) < 0.1),
    ("base_beyond_x", {"x": 0.35}, lambda m, d: position(d, "cube")[0] > 0.35),
    ("base_beyond_y", {"y": -0.02, "robot": "cube"}, lambda m, d: position(d, "cube")[1] > -0.02),
    (
        "base_yaw_beyond",
        {"yaw": 0.4},
        lambda m, d: math.atan2(d.body("cube").xmat[3], d.body("cube").xmat[0]) > 0.4,
    ),
    (
        "end_effector_at",
        {"frame": "grip", "target": [0.32, 0, 0.3], "tol": 0.15},
        lambda m, d: math.dist(d.site("grip").xpos, (0.32, 0, 0.3)) <= 0.15,
    ),
    ("end_effector_aligned", {"frame": "grip", "target": "cube", "tol": 1.2}, lambda m, d: grip_turn(m, d) <= 1.2),
]

REWARDS: list[tuple[str, dict[str, Any], Any]] = [
    (
        "distance_neg",
        {"body_a": "tip_left", "body_b": "cube", "weight": 2.0},
        lambda m, d: -2 * math.dist(position(d, "tip_left"), position(d, "cube")),
    ),
    ("joint_progress", {"joint": "turn", "target": 0.5}, lambda m, d: -abs(d.joint("turn").qpos[0] - 0.5)),
    ("constant", {"value": 0.25}, lambda m, d: 0.25),
    (
        "base_velocity",
        {"vx": 0.5, "wz": -0.2},
        lambda m, d: -math.dist((*twist(m, d)[0][:2], twist(m, d)[1][2]), (0.5, 0.0, -0.2)),
    ),
    (
        "base_velocity_tracking",
        {"vx": 0.5, "wz": -0.2, "lin_weight": 2.0, "ang_weight": 0.25, "tracking_sigma": 0.3},
        tracking,
    ),
    ("base_height", {"target": 0.4, "weight": 3.0}, lambda m, d: -3 * (clearance(d) - 0.4) ** 2),
    ("base_orientation", {}, lambda m, d: orientation(d)),
    ("base_lin_vel_z", {}, lambda m, d: -(twist(m, d)[0][2] ** 2)),
    ("base_ang_vel_xy", {}, lambda m, d: -float(np.square(twist(m, d)[1][:2]).sum())),
    ("joint_limits", {"soft": 0.8}, outside_limits),
    ("torque", {}, lambda m, d: -float(np.square(d.actuator_force).sum())),
    ("torque", {"prefix": "turn"}, lambda m, d: -float(d.actuator("turn_servo").force[0] ** 2)),
    ("energy", {}, lambda m, d: -float(np.abs(d.actuator_force * d.actuator_velocity).sum()) * 0.004),
    (
        "end_effector_position_error",
        {"frame": "grip", "target": "cube"},
        lambda m, d: -math.dist(d.site("grip").xpos, position(d, "cube")),
    ),
    ("end_effector_orientation_error", {"frame": "grip", "target": "cube"}, lambda m, d: -grip_turn(m, d)),
    ("end_effector_orientation_error", {"frame": "grip", "target": [0.3, 0, 0.4, 0]}, grip_to_fixed),
]


@pytest.mark.parametrize(("name", "keywords", "reference"), PREDICATES)
def test_a_predicate_holds_where_mujoco_says_so(name: str, keywords: dict[str, Any], reference: Any) -> None:
    starts = arm_states()
    told = read(make_predicate(name, **keywords), ARM, starts)
    assert told.dtype == bool
    assert told.tolist() == expected(reference, ARM, starts).tolist()
    assert told.any() and not told.all()


@pytest.mark.parametrize(("name", "keywords", "reference"), REWARDS)
def test_a_reward_is_what_mujoco_gives(name: str, keywords: dict[str, Any], reference: Any) -> None:
    starts = arm_states()
    told = read(make_predicate(name, **keywords), ARM, starts)
    assert told == pytest.approx(expected(reference, ARM, starts), abs=1e-9)


def test_all_thirty_names_are_there() -> None:
    assert len(EXPECTED_NAMES) == 30
    assert set(EXPECTED_NAMES) <= set(names())
    kinds = {name: predicate_kind(name) for name in EXPECTED_NAMES}
    assert [name for name, kind in kinds.items() if kind == "float"] == EXPECTED_NAMES[19:]


def test_beads_are_counted_in_their_containers() -> None:
    random = np.random.default_rng(0)
    starts = random.uniform(-0.3, 0.3, (50, 12)), np.zeros((50, 12))
    starts[0][::3, :3] = (0.5, 0.0, 0.1)

    def inside(data: Any, *containers: str) -> int:
        def is_in(bead: int, container: str) -> bool:
            apart = np.abs(data.body(f"bead_{bead}").xpos - data.body(container).xpos)
            return bool((apart <= (0.15, 0.15, 0.2)).all())

        return sum(any(is_in(bead, container) for container in containers) for bead in range(4))

    beads = {"particles": [f"bead_{index}" for index in range(4)], "z_tol": 0.2}
    by_prefix = {"prefix": "bead_", "z_tol": 0.2}
    cases: list[tuple[str, dict[str, Any], Any]] = [
        ("particles_inside", {"container": "tray", "min_fraction": 0.25}, lambda m, d: inside(d, "tray") >= 1),
        ("particles_inside", {"container": "tray", "min_fraction": 0.3}, lambda m, d: inside(d, "tray") >= 2),
        (
            "particles_spilled",
            {"containers": ["tray", "bead_tray"], "max_spilled": 2},
            lambda m, d: 4 - inside(d, "tray", "bead_tray") > 2,
        ),
        ("particles_inside_fraction", {"container": "tray", "weight": 2}, lambda m, d: inside(d, "tray") / 2),
    ]
    for name, keywords, reference in cases:
        right = expected(reference, BEADS, starts)
        assert read(make_predicate(name, **keywords, **beads), BEADS, starts).tolist() == right.tolist()
        if name == "particles_spilled":
            # The containers themselves are none of the beads, though one's name begins as theirs do.
            assert read(make_predicate(name, **keywords, **by_prefix), BEADS, starts).tolist() == right.tolist()


def test_what_is_near_but_outside_of_the_gap_does_not_touch() -> None:
    xml = """
    <mujoco>
      <worldbody>
        <geom name="floor" type="plane" size="1 1 1" margin="0.1" gap="0.1"/>
        <body name="ball"><joint name="z" type="slide" axis="0 0 1"/><geom name="ball" size="0.1"/></body>
      </worldbody>
    </mujoco>
    """
    heights = np.array([0.05, 0.15, 0.25, 0.35])
    starts = heights[:, None], np.zeros((4, 1))
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qpos[0] = 0.25
    mujoco.mj_forward(model, data)
    assert data.ncon == 1 and data.contact[0].efc_address < 0
    right = [True, True, False, False]
    for term in (make_predicate("contact_any"), make_predicate("contact_between", geom_a="ball", geom_b="floor")):
        assert read(term, xml, starts).tolist() == right


def test_a_body_that_folds_touches_itself() -> None:
    xml = """
    <mujoco>
      <worldbody>
        <geom type="plane" size="1 1 1"/>
        <body name="upper" pos="0 0 0.05"><joint type="slide" axis="0 0 1"/>
          <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0"/>
          <body pos="0.3 0 0"><joint name="a" axis="0 0 1"/><geom type="capsule" size="0.03" fromto="0 0 0 0.1 0 0"/>
            <body pos="0.1 0 0"><joint name="b" axis="0 0 1"/>
              <geom type="capsule" size="0.03" fromto="0.02 0 0 0.3 0 0"/>
            </body>
          </body>
        </body>
      </worldbody>
    </mujoco>
    """
    starts = np.array([[0.0, 0.0, 0.0], [0.0, 1.5, 2.0]]), np.zeros((2, 3))
    assert expected(lambda m, d: d.ncon, xml.replace('pos="0 0 0.05"', 'pos="0 0 5"'), starts).tolist() == [0, 1]
    assert read(make_predicate("self_contact", body="upper"), xml, starts).tolist() == [False, True]


def test_the_ground_is_what_a_ray_meets() -> None:
    random = np.random.default_rng(2)
    heights = " ".join(f"{value:.3f}" for value in random.uniform(0, 1, 6 * 5))
    xml = f"""
    <mujoco>
      <asset><hfield name="hills" nrow="6" ncol="5" size="2 1.5 0.8 0.1" elevation="{heights}"/></asset>
      <worldbody>
        <geom type="hfield" hfield="hills" pos="0.5 0.2 0.3" euler="0 0 30"/>
        <geom type="plane" size="9 9 1" pos="0 0 0.2" euler="5 0 0"/>
        <geom type="box" size="0.4 0.3 0.5" pos="2.6 0 0.4" euler="0 0 20"/>
        <geom type="box" size="9 9 0.1" pos="0 0 9"/>
        <body name="walker" pos="0 0 5"><freejoint/><geom size="0.01" contype="0" conaffinity="0"/></body>
      </worldbody>
    </mujoco>
    """
    qpos = np.zeros((200, 7))
    qpos[:, :3], qpos[:, 3] = random.uniform([-3, -3, 4], [3, 3, 5], (200, 3)), 1.0

    def clearance(model: Any, data: Any) -> float:
        below = np.zeros(1, np.int32)
        walker = model.body("walker").id
        return float(
            mujoco.mj_ray(model, data, data.body("walker").xpos, np.array([0, 0, -1.0]), None, 1, walker, below)
        )

    starts = qpos, np.zeros((200, 6))
    told = read(make_predicate("base_height", target=0.0), xml, starts)
    assert np.sqrt(-told) == pytest.approx(expected(clearance, xml, starts), abs=1e-6)


def test_after_a_step_joints_are_now_and_bodies_one_simulation_step_ago() -> None:
    qpos, qvel = arm_states(8)
    watched = {
        "joint": make_predicate("joint_progress", joint="turn", target=0.0),
        "base": make_predicate("base_ang_vel_xy"),
        "body": make_predicate("distance_neg", body_a="tip_left", body_b="cube"),
    }
    env = host(starts=(qpos, qvel), n_envs=8, frame_skip=3, watched=watched)
    env.reset(seed=0)
    told = env.step_arrays(np.zeros((8, 2), np.float32)).infos
    model = mujoco.MjModel.from_xml_string(ARM)
    for copy in range(8):
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = qpos[copy], qvel[copy]
        mujoco.mj_step(model, data, nstep=3)
        assert told["joint"][copy] == pytest.approx(-abs(data.joint("turn").qpos[0]), abs=1e-9)
        assert told["base"][copy] == pytest.approx(-np.square(data.qvel[6:8]).sum(), abs=1e-9)
        # `mj_step` leaves positions of bodies where it began, as it does here.
        assert told["body"][copy] == pytest.approx(
            -math.dist(position(data, "tip_left"), position(data, "cube")), abs=1e-9
        )
    env.close()


def test_the_change_of_an_action_is_paid_for_from_the_second_step_on() -> None:
    rewards = {"rate": make_term("action_rate", weight=0.5), "size": make_term("action_size")}
    env = host(n_envs=2, rewards=rewards)
    env.reset(seed=0)
    actions = np.array([[0.5, -1.0], [0.0, 0.25]], np.float32)
    first = env.step_arrays(actions).reward_terms
    second = env.step_arrays(actions[::-1]).reward_terms
    assert first["rate"].tolist() == [0, 0]
    assert first["size"].tolist() == [-1.25, -0.0625]
    assert second["rate"].tolist() == [-0.5 * (0.25 + 1.5625)] * 2
    env.reset(ids=[1])
    third = env.step_arrays(actions).reward_terms
    assert third["rate"].tolist() == [-0.5 * (0.25 + 1.5625), 0]
    env.close()


def test_a_foot_is_paid_for_its_time_in_the_air_where_it_lands() -> None:
    xml = """
    <mujoco>
      <option timestep="0.01"/>
      <worldbody>
        <geom name="floor" type="plane" size="1 1 1"/>
        <body name="foot"><joint type="slide" axis="0 0 1"/><geom size="0.1" mass="1"/></body>
      </worldbody>
    </mujoco>
    """
    starts = np.array([[0.2], [0.0995]]), np.zeros((2, 1))
    rewards = {"air": make_term("feet_air_time", feet=["foot"], threshold=0.05, ground="floor")}
    env = host(xml, starts=starts, n_envs=2, rewards=rewards)
    env.reset(seed=0)
    told = np.array([env.step_arrays(np.zeros((2, 1), np.float32)).reward_terms["air"] for _ in range(40)])
    # A fall of 0.1 m takes sqrt(2 * 0.1 / 9.81) = 0.1428 s; semi-implicit steps of 0.01 s pass it at the fourteenth,
    # and what the step after that sees is the contact.
    landed = np.flatnonzero(told[:, 0])
    assert len(landed) >= 1 and landed[0] in (13, 14)
    assert told[landed[0], 0] == pytest.approx((landed[0] + 1) * 0.01 - 0.05)
    # The other one never left the ground.
    assert not told[:5, 1].any()
    env.close()


def test_a_predicate_as_a_reward_counts_its_weight() -> None:
    starts = arm_states(6)
    env = host(starts=starts, n_envs=6, rewards={"high": make_term("body_above_z", weight=3, body="cube", z=0.3)})
    env.reset(seed=0)
    told = env.step_arrays(np.zeros((6, 2), np.float32)).reward_terms["high"]
    assert told.tolist() == (3.0 * (starts[0][:, 5] > 0.3)).tolist()
    env.close()
