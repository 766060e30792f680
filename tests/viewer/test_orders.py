"""Commands, without graphics: what each changes, what it refuses, and that the panel has no other way."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest

import workbench.viewer
from tests.viewer.desks import make_orders
from tests.viewer.fakes import Counting, Nodding
from tests.viewer.test_history import Falling
from workbench.errors import RequestError
from workbench.remote.declaration import COMMANDS, HIGHEST_SEED
from workbench.remote.lines import command
from workbench.viewer import clock, posing, tab_play, tab_scene, telling
from workbench.viewer.session import Session
from workbench.viewer.widgets import Widgets

VIEWER = Path(workbench.viewer.__file__).parent

BY_THE_APP = {"preview", "state", "window", "skip"}
"""What only another program needs: where pictures go, and steps by time, for which the window has its slider."""


class Leaning(gymnasium.Env[Any, Any]):
    """A pole on a cart that ticks with its own counters; the observation is its state, as Gymnasium's tasks have it."""

    observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (4,))
    action_space = gymnasium.spaces.Box(np.array([-1.0, -2.0]), np.array([1.0, 2.0]), dtype=np.float64)
    observation_names = ("x", "angle", "speed", "turning")

    def __init__(self) -> None:
        self.model = mujoco.MjModel.from_xml_string(
            "<mujoco><worldbody><geom name='rail' type='box' size='2 .1 .1' pos='0 0 -.3'/><body name='cart'>"
            "<joint name='slide' type='slide' axis='1 0 0'/><geom size='.1'/><body name='pole'>"
            "<joint name='hinge' axis='0 1 0' limited='true' range='-30 30'/><geom type='capsule' size='.02 .2'/>"
            "</body></body></worldbody></mujoco>"
        )
        self.data = mujoco.MjData(self.model)
        self.acted: list[Any] = []
        self.counter = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[0] = self.np_random.uniform(-0.1, 0.1)
        mujoco.mj_forward(self.model, self.data)
        self.counter = 0
        return self._get_obs(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.acted.append(np.array(action))
        mujoco.mj_step(self.model, self.data)
        self.counter += 1
        return self._get_obs(), 1.0, False, False, {"reward_upright": 1.0, "where": np.array([1.0, np.nan])}

    def _get_obs(self) -> Any:
        return np.concatenate([self.data.qpos, self.data.qvel])


class Seeing(Nodding):
    """Notes what it saw."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    def act(self, observations: Any) -> Any:
        self.seen.append(np.array(observations[0]))
        return np.zeros((1, 2))


@pytest.fixture
def leaning() -> Any:
    orders = make_orders(Session(Leaning(), Seeing(), seed=0))
    orders.do("pause")
    return orders


def test_each_command_is_obeyed_and_each_action_of_the_panel_is_a_command(leaning: Any) -> None:
    declared = {message.name for message in COMMANDS}
    assert leaning._obeyed.keys() == declared
    given: set[str] = set()
    for file in VIEWER.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                given |= {str(node.args[0].value)} if name == "do" else set()
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.IfExp):
                either = (node.args[0].body, node.args[0].orelse)
                given |= {str(item.value) for item in either if isinstance(item, ast.Constant)} & declared
    assert given | BY_THE_APP == declared


def test_the_panel_reaches_the_player_only_by_commands() -> None:
    changing = {"toggle", "step_once", "step_by", "restart", "skip", "seek", "set_speed", "begin_seed", "choose"}
    for file in [*VIEWER.glob("tab_*.py"), VIEWER / "panel.py", VIEWER / "mouse.py", VIEWER / "widgets.py"]:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert node.func.attr not in changing, f"{file.name}:{node.lineno}"


def test_a_pose_set_by_hand_is_what_acts_sees_and_where_it_goes_on_from(leaning: Any) -> None:
    session = leaning.player.session
    leaning.do("step", n=3)
    session.env.data.qvel[:] = 5.0
    leaning.do("pose", joint="hinge", value=0.4)
    assert leaning.notice == ""
    leaning.do("step", n=1)
    assert session.actor.seen[-1][1:] == pytest.approx([0.4, 0.0, 0.0])
    # A step of 2 ms from rest leaves it where it was put.
    assert session.env.data.qpos[1] == pytest.approx(0.4, abs=1e-3)
    leaning.do("seek", step=3)
    assert leaning.player.data.qpos[1] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("joint", "value", "words"),
    [("hinge", 0.6, "goes from -0.5236 to 0.5236"), ("hnge", 0.1, "Did you mean hinge"), ("x", 0.0, "no joint `x`")],
)
def test_a_pose_that_cannot_be_is_refused(leaning: Any, joint: str, value: float, words: str) -> None:
    before = leaning.player.session.env.data.qpos.copy()
    leaning.do("pose", joint=joint, value=value)
    assert words in leaning.notice
    assert leaning.player.session.env.data.qpos == pytest.approx(before)


def test_only_a_paused_model_at_its_newest_state_is_moved(leaning: Any) -> None:
    leaning.do("step", n=2)
    leaning.do("seek", step=1)
    with pytest.raises(RequestError, match="what is over"):
        leaning.obey(command("pose", joint="hinge", value=0.1))
    leaning.do("play")
    with pytest.raises(RequestError, match="only a paused model"):
        leaning.obey(command("action", index=0, value=0.1))


def test_the_numbers_of_a_free_joint_are_slid_one_by_one_and_stay_a_rotation() -> None:
    orders = make_orders(Session(Falling(), Nodding(), seed=0))
    orders.do("pause")
    orders.do("pose", joint="joint 0.z", value=7.0)
    orders.do("pose", joint="joint 0.qx", value=1.0)
    qpos = orders.player.session.env.data.qpos
    assert qpos[2] == 7.0
    assert qpos[3:5] == pytest.approx([np.sqrt(0.5)] * 2)


def test_a_slider_without_limits_goes_as_far_to_both_sides_of_where_the_joint_is(leaning: Any) -> None:
    slide, hinge = posing.sliders(leaning.player.session.env.unwrapped.model)
    assert slide.span(17.65) == pytest.approx((12.65, 22.65))
    assert hinge.span(0.1) == pytest.approx((-np.pi / 6, np.pi / 6))
    # Soft limits are exceeded: the slider must still show where the joint is.
    assert hinge.span(0.6) == pytest.approx((-np.pi / 6, 0.6))
    falling = make_orders(Session(Falling(), Nodding(), seed=0))
    free = {slider.name: slider for slider in posing.sliders(falling.player.session.env.unwrapped.model)}
    assert free["joint 0.x"].span(-40.0) == (-45.0, -35.0)
    assert free["joint 0.qw"].span(1.0) == (-1.0, 1.0)


def test_a_slider_keeps_its_range_while_it_is_dragged(leaning: Any) -> None:
    leaning.do("pose", joint="slide", value=17.65)
    imgui = Sliding()
    widgets = Widgets(imgui)
    for drag, chosen, low in (("", 17.65, 12.65), ("slide", 21.0, 12.65), ("slide", 22.0, 12.65), ("", 22.0, 17.0)):
        imgui.dragged, imgui.to = drag, chosen
        tab_scene.draw(widgets, leaning)
        tab_scene.draw(widgets, leaning)
        assert imgui.ranges["slide"] == pytest.approx((low, low + 10))
        assert leaning.player.session.env.data.qpos[0] == pytest.approx(chosen)
        assert leaning.notice == ""


class Sliding:
    """An ImGui of which only the sliders can be dragged, one at a time."""

    def __init__(self) -> None:
        self.dragged, self.to = "", 0.0
        self.ranges: dict[str, tuple[float, float]] = {}
        self.last = ""

    def SliderFloat(self, label: str, value: float, low: float, high: float, *rest: Any) -> tuple[bool, float]:  # noqa: N802
        self.last = label.split("##")[0]
        self.ranges[self.last] = (low, high)
        return (True, self.to) if self.last == self.dragged else (False, value)

    def IsItemActive(self) -> bool:  # noqa: N802
        return self.last == self.dragged

    def Checkbox(self, label: str, on: bool) -> tuple[bool, bool]:  # noqa: N802
        return False, on

    def GetFrameHeightWithSpacing(self) -> float:  # noqa: N802
        return 20.0

    def __getattr__(self, name: str) -> Any:
        return 0 if name.startswith("ImGui") else lambda *given: name == "CollapsingHeader"


def test_a_pose_is_within_what_something_may_be_pulled_to(leaning: Any) -> None:
    leaning.do("pose", joint="slide", value=1e12)
    assert "from -10000 to 10000" in leaning.notice
    leaning.do("pose", joint="slide", value=1e4)
    assert leaning.player.session.env.data.qpos[0] == 1e4


def test_an_action_by_hand_is_taken_by_steps_by_hand_until_it_plays_on(leaning: Any) -> None:
    env = leaning.player.session.env
    leaning.do("step")
    leaning.do("action", index=1, value=-1.5)
    leaning.do("step", n=2)
    assert [action.tolist() for action in env.acted] == [[0, 0], [0, -1.5], [0, -1.5]]
    leaning.do("action", index=1, value=3.0)
    assert "number 1 goes from -2 to 2, not to 3" in leaning.notice
    leaning.do("action", index=2, value=0.0)
    assert "has 2 numbers" in leaning.notice
    leaning.do("play")
    leaning.player.advance(0.05)
    assert env.acted[-1].tolist() == [0, 0]


def test_a_reset_redoes_the_counters_the_noise_and_what_was_moved(leaning: Any) -> None:
    env = leaning.player.session.env
    first = float(env.data.qpos[0])
    leaning.do("step", n=4)
    leaning.do("pose", joint="slide", value=1.0)
    leaning.do("pull", body="pole", to=[0, 0, 2])
    leaning.do("step", n=2)
    leaning.do("reset")
    assert (env.counter, float(env.data.qpos[0])) == (0, first)
    leaning.do("next", n=1)
    assert float(env.data.qpos[0]) != first
    leaning.do("seed", value=0)
    assert float(env.data.qpos[0]) == first


def test_no_episode_has_a_seed_that_the_command_refuses(leaning: Any) -> None:
    session = leaning.player.session
    leaning.do("seed", value=HIGHEST_SEED - 1)
    leaning.do("next", n=1)
    assert (session.seed, leaning.notice) == (HIGHEST_SEED, "")
    leaning.do("step", n=2)
    leaning.do("next", n=1)
    assert (session.seed, session.steps) == (HIGHEST_SEED, 2)
    assert "seeds go to 2147483647" in leaning.notice
    leaning.do("next", n=-1)
    assert session.seed == HIGHEST_SEED - 1


def test_after_the_highest_seed_its_episode_is_played_again() -> None:
    orders = make_orders(Session(Counting(length=3), Nodding(), seed=0))
    orders.do("seed", value=HIGHEST_SEED)
    for _ in range(8):
        orders.do("step", n=1)
    assert set(orders.player.session.env.seeds[1:]) == {HIGHEST_SEED}
    assert len(orders.player.session.env.seeds) == 4


@pytest.mark.parametrize(
    ("text", "seed", "words"),
    [
        ("7", 7, ""),
        ("2147483647", 2147483647, ""),
        ("99999999999", 3, "from 0 to 2147483647"),
        ("-5", 3, "not `-5`"),
        ("1.5", 3, "whole number"),
        ("9" * 5000, 3, "whole number"),
        ("", 3, ""),
    ],
)
def test_a_seed_that_is_typed_is_checked_as_the_command_is(leaning: Any, text: str, seed: int, words: str) -> None:
    leaning.do("seed", value=3)
    tab_play.take_seed(leaning, text)
    assert leaning.player.session.seed == seed
    assert words in leaning.notice and bool(words) == bool(leaning.notice)


def test_the_last_step_is_told_whole_and_as_json(leaning: Any) -> None:
    told: list[dict[str, Any]] = []
    leaning.on_inspect = told.append
    leaning.do("step", n=2)
    leaning.do("inspect")
    assert told[0]["observation"].keys() == {"x", "angle", "speed", "turning"}
    assert (told[0]["step"], told[0]["action"], told[0]["terms"]) == (2, {"0": 0.0, "1": 0.0}, {"upright": 1.0})
    assert told[0]["info"]["where"] == [1.0, None]
    assert json.loads(telling.as_json(leaning.player.session)) == told[0]


def test_what_is_drawn_follows_commands(leaning: Any) -> None:
    view = leaning.view
    leaning.do("mark", what="forces", on=True)
    leaning.do("body", name="pole", on=False)
    leaning.do("group", index=3, on=True)
    leaning.do("part", what="shadows", on=False)
    leaning.do("gizmo", on=False)
    leaning.do("track", on=False, seconds=1.5)
    leaning.do("panel", on=True, tab="scene")
    leaning.do("camera", azimuth=90, elevation=-30, distance=2)
    assert (view.marks, view.hidden, view.groups) == ({"forces"}, {"pole"}, {0, 1, 2, 3})
    assert (view.parts, view.gizmo, view.track) == ({"floor", "sites", "tendons"}, False, False)
    assert (view.smoothing_s, view.tab, view.camera.distance, view.version) == (1.5, "scene", 2.0, 8)
    leaning.do("frame")
    assert (view.camera.azimuth_deg, view.camera.distance) == (90, 0.0)
    leaning.do("body", name="pol", on=False)
    assert "Did you mean pole" in leaning.notice


def test_a_body_is_called_by_its_name_or_its_number(leaning: Any) -> None:
    leaning.do("body", name="body 1", on=False)
    leaning.do("body", name="world", on=False)
    assert leaning.view.hidden == {"cart", "world"}
    leaning.do("body", name="cart", on=True)
    leaning.do("pull", body="body 2", to=[0, 0, 1])
    assert (leaning.view.hidden, leaning.pulled) == ({"world"}, "pole")
    for name in ("body 3", "body -1", "body 1e3"):
        with pytest.raises(RequestError) as refused:
            leaning.obey(command("body", name=name, on=False))
        assert refused.value.hint == "There are world, cart, pole."


def test_what_the_window_says_is_at_most_two_lines(leaning: Any) -> None:
    leaning.notify(RequestError("there is no run.", hint="There are " + "half_cheetah_20261130-032958_4e6f, " * 40))
    assert len(leaning.notice) <= 150
    assert leaning.notice.startswith("there is no run. There are half_cheetah") and leaning.notice.endswith("…")


@pytest.mark.parametrize(
    ("speed", "held"), [(0.96, 1.0), (1.05, 1.0), (1.0, 1.0), (0.9, 0.9), (1.1, 1.1), (0.25, 0.25)]
)
def test_a_slider_of_speed_holds_at_real_time(speed: float, held: float) -> None:
    assert clock.snapped(speed) == held


def test_an_environment_without_a_model_has_nothing_to_move() -> None:
    orders = make_orders(Session(Counting(), Nodding(), seed=0))
    orders.do("pause")
    for name, given in (("pose", {"joint": "x", "value": 0}), ("pull", {"body": "x", "to": [0, 0, 0]})):
        with pytest.raises(RequestError, match="no MuJoCo model"):
            orders.obey(command(name, **given))


def test_a_choice_is_one_whole_number() -> None:
    env = Counting()
    env.action_space = gymnasium.spaces.Discrete(3)  # type: ignore[assignment]
    orders = make_orders(Session(env, Nodding(), seed=0))
    orders.do("pause")
    orders.do("action", index=0, value=2)
    orders.do("step")
    assert orders.player.session.action == 2
    orders.do("action", index=0, value=3)
    assert "from 0 to 2" in orders.notice
