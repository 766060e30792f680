"""What the library refuses, and what it says."""

import math
from typing import Any

import mujoco
import numpy as np
import pytest

from tests.simulation.terms.hosts import ARM, host
from workbench.errors import NotFoundError, RequestError, SimulationError
from workbench.simulation.terms import (
    Body,
    Number,
    Reader,
    Scene,
    TermSet,
    make_predicate,
    make_term,
    names,
    predicate_kind,
    register_predicate,
)
from workbench.simulation.terms.registry import REGISTRY


def refusal(name: str, **keywords: Any) -> str:
    with pytest.raises(RequestError) as caught:
        make_predicate(name, **keywords)
    return str(caught.value)


def unbuilt(**declared: Any) -> str:
    with pytest.raises(RequestError) as caught:
        host(**declared)
    return str(caught.value)


def test_an_unknown_name_is_told_the_nearest_and_all() -> None:
    with pytest.raises(NotFoundError) as caught:
        make_predicate("body_above", body="cube", z=0.1)
    said = str(caught.value)
    assert "there is no predicate body_above. Did you mean body_above_z?" in said
    assert all(name in said for name in names())
    with pytest.raises(NotFoundError):
        predicate_kind("nothing_like_it")


def test_a_name_is_never_evaluated() -> None:
    with pytest.raises(NotFoundError):
        make_predicate("__import__('os').system('true')")


def test_an_unknown_keyword_is_told_what_is_accepted_and_required() -> None:
    said = refusal("body_on", body_a="cube", body_b="table", xy_tolerance=0.1)
    assert "body_on has no keyword xy_tolerance" in said
    assert "it accepts body_a, body_b, z_offset, xy_tol, require_contact, and requires body_a, body_b" in said
    assert "Did you mean xy_tol?" in said


def test_a_missing_keyword_is_told_what_is_accepted_and_required() -> None:
    said = refusal("body_on", body_a="cube")
    assert said == (
        "body_on needs body_b; it accepts body_a, body_b, z_offset, xy_tol, require_contact, "
        "and requires body_a, body_b."
    )
    assert refusal("contact_any", geom="x") == "contact_any has no keyword geom; it accepts none."


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "1", True, None, [1.0]])
def test_a_number_is_finite_and_no_flag(value: Any) -> None:
    assert refusal("body_above_z", body="cube", z=value) == (f"body_above_z: z must be a finite number, got {value!r}.")


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf, False])
@pytest.mark.parametrize(
    ("name", "keyword", "others"),
    [
        ("body_on", "xy_tol", {"body_a": "a", "body_b": "b"}),
        ("body_inside", "z_tol", {"body": "a", "container": "b"}),
        ("body_upright", "tol", {"body": "a"}),
        ("distance_less_than", "threshold", {"body_a": "a", "body_b": "b"}),
        ("base_tipped", "tol", {}),
    ],
)
def test_a_tolerance_is_at_least_nothing(name: str, keyword: str, others: dict[str, Any], value: Any) -> None:
    said = refusal(name, **others, **{keyword: value})
    assert said == f"{name}: {keyword} must be a finite number of at least 0, got {value!r}."
    make_predicate(name, **others, **{keyword: 0})


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (90.0, "probably degrees: 90° are 1.571 rad"),
        (180, "probably degrees: 180° are 3.142 rad"),
        (-57.3, "probably degrees: -57.3° are -1 rad"),
        (-4.0, "every heading is beyond that"),
        (math.pi, "no heading is beyond that"),
        (-math.pi, "every heading is beyond that"),
    ],
)
def test_a_heading_that_tells_nothing_apart_is_refused(value: float, why: str) -> None:
    said = refusal("base_yaw_beyond", yaw=value)
    assert f"yaw must be an angle strictly between -π and π, in rad, got {value!r} ({why})." in said


@pytest.mark.parametrize("value", [1.0, 0.0, -1, math.pi - 1e-6, -math.pi + 1e-6])
def test_a_heading_within_half_a_turn_is_taken(value: float) -> None:
    assert make_predicate("base_yaw_beyond", yaw=value).values["yaw"] == value


@pytest.mark.parametrize("value", ["", "  ", 3, None, ["cube"]])
def test_the_name_of_an_entity_is_a_word(value: Any) -> None:
    assert refusal("body_above_z", body=value, z=0.0) == (
        f"body_above_z: body must be the name of a body, got {value!r}."
    )


def test_an_empty_prefix_matches_everything_and_is_refused() -> None:
    said = refusal("grasped", body="cube", gripper_prefix="")
    assert (
        "gripper_prefix must be what some names begin with, not empty, got '' (an empty prefix matches everything)"
        in said
    )
    assert "an empty prefix" in refusal("particles_inside", prefix="", container="tray")


def test_a_region_has_three_numbers_a_corner_and_rises() -> None:
    for bad in ([0, 0], "000", [0, 0, math.nan], {"x": 0, "y": 0, "z": 0}, 3):
        assert "min must be three finite numbers" in refusal("inside_region", body="a", min=bad, max=[1, 1, 1])
    said = refusal("inside_region", body="a", min=[0, 2, 0], max=[1, 1, 1])
    assert said == "inside_region: min [0.0, 2.0, 0.0] must be at most max [1.0, 1.0, 1.0] along every axis."


def test_a_flag_is_a_flag() -> None:
    assert "require_contact must be true or false, got 1" in refusal(
        "body_on", body_a="a", body_b="b", require_contact=1
    )


@pytest.mark.parametrize("value", [0.0, -0.5, 1.5, math.nan])
def test_a_share_is_above_nothing_and_up_to_all(value: float) -> None:
    said = refusal("particles_inside", particles=["a"], container="tray", min_fraction=value)
    assert "min_fraction must be a number above 0 and up to 1" in said


@pytest.mark.parametrize("value", [-1, 1.5, True])
def test_how_many_may_spill_is_a_whole_number(value: Any) -> None:
    said = refusal("particles_spilled", particles=["a"], containers=["tray"], max_spilled=value)
    assert "max_spilled must be a whole number of at least 0" in said


def test_lists_of_bodies_are_lists_of_different_names() -> None:
    assert "name at least one body" in refusal("particles_inside", particles=[], container="tray")
    assert "a single string is not a list: write ['bead']" in refusal(
        "particles_inside", particles="bead", container="t"
    )
    assert "'a' is there twice" in refusal("particles_inside", particles=["a", "a"], container="tray")
    assert "name at least one body" in refusal("particles_spilled", particles=["a"], containers=[])
    assert "give either particles" in refusal("particles_inside", container="tray")
    assert "give either particles" in refusal("particles_inside", container="tray", particles=["a"], prefix="b")


def test_a_spread_is_above_nothing_and_a_weight_finite() -> None:
    assert "tracking_sigma must be a finite number above 0" in refusal("base_velocity_tracking", tracking_sigma=0)
    assert "weight must be a finite number" in refusal("distance_neg", body_a="a", body_b="b", weight=math.inf)
    assert "body_above_z has no keyword weight" in refusal("body_above_z", body="a", z=0, weight=2.0)
    with pytest.raises(RequestError, match="weight must be a finite number, got nan"):
        make_term("body_above_z", body="a", z=0, weight=math.nan)


@pytest.mark.parametrize(
    ("name", "keywords", "said"),
    [
        ("body_above_z", {"body": "cubes", "z": 0}, "there is no body cubes in the model. Nearest: cube."),
        ("joint_above", {"joint": "lfit", "value": 0}, "there is no joint lfit in the model. Nearest: lift."),
        ("joint_above", {"joint": "cube_free", "value": 0}, "neither a hinge nor a slide"),
        (
            "contact_between",
            {"geom_a": "pad_lef", "geom_b": "top"},
            "there is no geom pad_lef in the model. Nearest: pad_left",
        ),
        ("grasped", {"body": "cube", "gripper_prefix": "jaw"}, "there is no body that begins with jaw in the model."),
        ("grasped", {"body": "cube", "gripper_prefix": "cub"}, "cub begins the name of nothing but cube itself."),
        ("base_height", {"target": 1, "robot": "arm"}, "there is no body with a free joint arm in the model."),
        (
            "end_effector_at",
            {"frame": "gripp", "target": "cube", "tol": 0},
            "no site or body gripp in the model. Nearest: grip",
        ),
        ("end_effector_at", {"frame": "grip", "target": "goul", "tol": 0}, "there is no goal, site or body goul"),
        (
            "torque",
            {"prefix": "lift_moter"},
            "no actuator that begins with lift_moter in the model. Nearest: lift_motor",
        ),
        ("base_velocity", {"command": "walk"}, "there is no goal walk in the model."),
    ],
)
def test_a_name_that_the_model_lacks_is_an_error_when_it_is_made(
    name: str, keywords: dict[str, Any], said: str
) -> None:
    found = unbuilt(watched={"mine": make_predicate(name, **keywords)})
    assert found.startswith(f"the term mine cannot be built: {name}: ")
    assert said in found


def test_a_nested_name_that_the_model_lacks_is_one_too() -> None:
    stages = [{"reward": {"predicate": "joint_progress", "joint": "tilt", "target": 0.0}}]
    said = unbuilt(rewards={"steps": make_term("staged_reward", stages=stages)})
    assert said.startswith("the term steps cannot be built: staged_reward: joint_progress: there is no joint tilt")


def test_an_arm_that_stands_fast_has_no_base() -> None:
    xml = ARM.replace('<freejoint name="cube_free"/>', "")
    said = unbuilt(xml=xml, watched={"tipped": make_predicate("base_tipped")})
    assert "no body of the model has a free joint: there is no floating base." in said


def test_of_two_bases_one_must_be_named() -> None:
    xml = ARM.replace("</worldbody>", '<body name="ball" pos="0 2 1"><freejoint/><geom size="0.1"/></body></worldbody>')
    said = unbuilt(xml=xml, watched={"tipped": make_predicate("base_tipped")})
    assert "2 bodies have free joints: cube, ball. Name one as robot=." in said
    host(xml=xml, watched={"tipped": make_predicate("base_tipped", robot="ball")}).close()


def test_a_model_without_limits_has_none_to_keep() -> None:
    xml = "<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody></mujoco>"
    assert "no hinge or slide of the model has limits" in unbuilt(
        xml=xml, watched={"l": make_predicate("joint_limits")}
    )
    assert "the model has no actuator" in unbuilt(xml=xml, watched={"l": make_predicate("energy")})


def test_a_reward_ends_no_episode() -> None:
    said = unbuilt(endings={"near": make_predicate("distance_neg", body_a="cube", body_b="table")})
    assert "the ending near must be a predicate, and distance_neg is a reward." in said


@pytest.mark.parametrize("bounds", [([0, 0], [1]), ([1.0], [0.0]), ([math.nan], [1.0]), 3, ([], [])])
def test_a_goal_has_a_box(bounds: Any) -> None:
    assert "the goal where must be the lowest and the highest value" in unbuilt(goals={"where": bounds})


def test_a_goal_has_the_numbers_that_its_term_reads() -> None:
    said = unbuilt(
        goals={"where": ([0, 0], [1, 1])},
        watched={"far": make_predicate("end_effector_position_error", frame="grip", target="where")},
    )
    assert "the goal where has 2 numbers, and 3 are due." in said
    assert "command names a goal" in refusal("base_velocity", vx=1, command="walk")


def test_terms_need_a_model_that_can_still_be_added_to() -> None:
    with pytest.raises(RequestError, match="terms are declared over an MjSpec"):
        TermSet(mujoco.MjModel.from_xml_string(ARM), rewards={})
    with pytest.raises(RequestError, match="the term high must be what make_term or make_predicate gives"):
        host(rewards={"high": {"predicate": "constant", "value": 1}})


def test_terms_that_were_never_bound_say_how_they_are() -> None:
    loose = TermSet(mujoco.MjSpec.from_string(ARM), rewards={})
    with pytest.raises(SimulationError, match=r"keep it as `self.terms`"):
        loose.rewards()


@pytest.fixture
def registry() -> Any:
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


@pytest.mark.usefixtures("registry")
def test_an_own_predicate_is_checked_like_the_others() -> None:
    def body_left_of(scene: Scene, body: Body, y: Number = 0.0) -> Reader:
        where = scene.position(body)
        return lambda: where[:, 1] > y

    register_predicate("body_left_of", body_left_of, kind="bool")
    assert predicate_kind("body_left_of") == "bool"
    assert "y must be a finite number" in refusal("body_left_of", body="cube", y=math.nan)
    assert "body_left_of needs body; it accepts body, y, and requires body." in refusal("body_left_of")
    assert "there is no body cup" in unbuilt(watched={"left": make_predicate("body_left_of", body="cup")})
    qpos = np.array([[0, 0, 0, 0.3, y, 0.5, 1, 0, 0, 0] for y in (-0.1, 0.1)], dtype=float)
    env = host(starts=(qpos, np.zeros((2, 9))), n_envs=2, watched={"left": make_predicate("body_left_of", body="cube")})
    env.reset(seed=0)
    assert env.step_arrays(np.zeros((2, 2))).infos["left"].tolist() == [False, True]
    env.close()


@pytest.mark.usefixtures("registry")
def test_a_name_that_is_taken_is_not_shadowed() -> None:
    def mine(scene: Scene) -> Reader:
        return lambda: np.zeros(scene.n_envs)

    with pytest.raises(RequestError, match="body_on would shadow one that workbench has"):
        register_predicate("body_on", mine, kind="bool")
    register_predicate("mine", mine, kind="float")
    with pytest.raises(RequestError, match="mine would shadow one that is registered already"):
        register_predicate("mine", mine, kind="float")
    with pytest.raises(RequestError, match="must be callable"):
        register_predicate("other", 3, kind="float")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="must be 'bool' or 'float'"):
        register_predicate("other", mine, kind="int")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="hides which keywords"):
        register_predicate("other", lambda scene, **anything: None, kind="float")
