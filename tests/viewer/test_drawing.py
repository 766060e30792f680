"""Real pictures, drawn through EGL with no display."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest

from tests.viewer.desks import make_orders
from tests.viewer.fakes import Counting, Nodding
from tests.viewer.silhouette import silhouette
from workbench.errors import GraphicsError
from workbench.viewer import framing
from workbench.viewer.camera import View, view_of
from workbench.viewer.frames import MujocoFrames, RenderedFrames
from workbench.viewer.look import THEMES
from workbench.viewer.session import Session
from workbench.viewer.stage import MujocoStage, PictureStage

pytestmark = [
    # Gymnasium's half-cheetah sets an attribute that MuJoCo is about to retire.
    pytest.mark.filterwarnings("ignore:.*settotalmass.*"),
    pytest.mark.xdist_group("polyscope"),
]

SIZE = (320, 240)


class Posed:
    """A model in one pose, dressed as an environment."""

    def __init__(self, model: Any, data: Any) -> None:
        self.model, self.data, self.unwrapped = model, data, self


@pytest.fixture
def opened() -> Iterator[list[Any]]:
    """Things to close, whatever happens."""
    things: list[Any] = []
    yield things
    for thing in reversed(things):
        thing.close()


def picture(frames: Any) -> Any:
    width, height = frames.format.size
    return frames.draw(0.0).reshape(height, width, 4)[::-1, :, :3].astype(int)


@pytest.mark.parametrize("env_id", ["Ant-v5", "Humanoid-v5", "HalfCheetah-v5"])
def test_bodies_are_where_mujocos_own_renderer_puts_them(env_id: str, opened: list[Any], tmp_path: Path) -> None:
    env = gymnasium.make(env_id)
    opened.append(env)
    env.reset(seed=1)
    model, data = env.unwrapped.model, env.unwrapped.data
    # One strong colour, so that what is drawn is told from the grey floor in any light.
    model.geom_matid[:], model.geom_rgba[:, :3] = -1, (0.9, 0.1, 0.1)
    measures = framing.frame(model)
    view, target = view_of(measures), measures.target(data)
    expected = silhouette(tmp_path, model, data, view, target, SIZE)

    frames = MujocoFrames(env, size=SIZE, samples=1, theme=THEMES["light"])
    opened.append(frames)
    drawn = picture(frames)
    found = drawn[..., 0] - drawn[..., 1] > 20
    overlap = (expected & found).sum() / (expected | found).sum()
    assert expected.sum() > 1000
    assert overlap > 0.95


def test_every_kind_of_geom_is_where_mujocos_own_renderer_puts_it(opened: list[Any], tmp_path: Path) -> None:
    kinds = (
        "type='sphere' size='.2'",
        "type='capsule' size='.1 .2' euler='30 40 0'",
        "type='ellipsoid' size='.1 .2 .3' euler='20 0 50'",
        "type='cylinder' size='.15 .2' euler='60 0 10'",
        "type='box' size='.1 .15 .2' euler='10 20 30'",
        "type='mesh' mesh='wedge'",
    )
    geoms = "".join(
        f"<body pos='{0.7 * (i % 3)} {0.7 * (i // 3)} .5'><freejoint/><geom {kind} rgba='.8 .2 .1 1'/></body>"
        for i, kind in enumerate(kinds)
    )
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><asset><mesh name='wedge' vertex='0 0 0 .4 0 0 0 .4 0 0 0 .4'/></asset>"
        f"<worldbody><geom type='plane' size='9 9 1'/>{geoms}</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    view = View(135, -40, 3.5)
    measures = framing.frame(model)
    expected = silhouette(tmp_path, model, data, view, measures.target(data), SIZE)
    frames = MujocoFrames(Posed(model, data), size=SIZE, samples=1, theme=THEMES["dark"], view=view)
    opened.append(frames)
    drawn = picture(frames)
    found = drawn[..., 0] - drawn[..., 2] > 20
    assert (expected & found).sum() / (expected | found).sum() > 0.95


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_theme_surrounds_the_model(name: Any, opened: list[Any]) -> None:
    env = gymnasium.make("Ant-v5")
    opened.append(env)
    env.reset(seed=1)
    frames = MujocoFrames(env, size=SIZE, samples=2, theme=THEMES[name])
    opened.append(frames)
    drawn = picture(frames)
    assert drawn[0, 0] == pytest.approx(np.array(THEMES[name].background) * 255, abs=2)
    # The floor's two tones and the shadow are all there, exactly as the theme has them.
    for tone in (THEMES[name].tile, THEMES[name].tile_other, THEMES[name].shadow):
        assert (np.abs(drawn - np.array(tone) * 255).max(axis=-1) <= 3).sum() > 50


def test_the_floor_does_not_slide_with_what_is_followed(opened: list[Any]) -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom type='plane' size='9 9 1'/><geom type='box' size='.2 .2 .5' pos='0 2 .5'/>"
        "<body name='ball' pos='0 0 .5'><freejoint/><geom size='.5'/></body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    frames = MujocoFrames(Posed(model, data), size=SIZE, samples=1, theme=THEMES["light"])
    opened.append(frames)
    before = picture(frames)
    # Two tiles on, floor and all look the same but for the box, which stayed behind.
    data.qpos[0] = 4.0
    mujoco.mj_forward(model, data)
    frames.restart()
    after = picture(frames)
    floor = slice(200, 240)
    assert np.abs(after[floor] - before[floor]).max() <= 12
    data.qpos[0] = 4.5
    mujoco.mj_forward(model, data)
    frames.restart()
    assert np.abs(picture(frames)[floor] - before[floor]).max() > 12


def test_pictures_of_an_environment_lose_their_odd_edges() -> None:
    env = Counting()
    env.reset(seed=0)
    frames = RenderedFrames(env)
    assert frames.format.size == (64, 48)
    env.step(0)
    assert frames.draw(0.0).shape == (48, 64, 3)
    assert (frames.draw(0.0) == 40).all()


def test_an_environment_without_pictures_is_one_sentence() -> None:
    env = Counting()
    env.render = lambda: None  # type: ignore[method-assign]
    with pytest.raises(GraphicsError, match="Counting renders no pictures"):
        RenderedFrames(env)


def stage_picture(polyscope: Any) -> Any:
    return polyscope.screenshot_to_buffer(False, include_UI=True)[..., :3].astype(int)


def test_the_panel_is_drawn_over_the_scene_and_the_camera_follows(opened: list[Any]) -> None:
    import polyscope

    env = gymnasium.make("HalfCheetah-v5")
    opened.append(env)
    orders = make_orders(Session(env, _still(env), seed=0), title="half_cheetah")
    stage = MujocoStage(orders, THEMES["light"], size=(640, 480), surface="offscreen")
    opened.append(stage)
    stage.show(0.05)
    drawn = stage_picture(polyscope)
    blue = (drawn[..., 2] - drawn[..., 0] > 40)[:200, :300].sum()
    assert blue > 500
    before = np.asarray(polyscope.get_view_center())
    env.unwrapped.data.qpos[0] += 3.0
    mujoco.mj_forward(env.unwrapped.model, env.unwrapped.data)
    for _ in range(10):
        stage.show(0.5)
    assert np.asarray(polyscope.get_view_center()) - before == pytest.approx([3, 0, 0], abs=0.01)


def test_an_error_in_the_panel_surfaces_and_the_window_lives_on(opened: list[Any]) -> None:
    env = gymnasium.make("HalfCheetah-v5")
    opened.append(env)
    orders = make_orders(Session(env, _still(env), seed=0), title="half_cheetah")
    stage = MujocoStage(orders, THEMES["dark"], size=(320, 240), surface="offscreen")
    opened.append(stage)
    draw = stage._panel.draw
    stage._panel.draw = lambda: 1 / 0  # type: ignore[method-assign,assignment,return-value]
    with pytest.raises(ZeroDivisionError):
        stage.show(0.05)
    stage._panel.draw = draw  # type: ignore[method-assign]
    stage.show(0.05)


def test_pictures_of_an_environment_fill_the_window(opened: list[Any]) -> None:
    import polyscope

    env = Counting(100)
    orders = make_orders(Session(env, Nodding(), seed=0), title="counting")
    player = orders.player
    stage = PictureStage(orders, THEMES["light"], width=400, surface="offscreen")
    opened.append(stage)
    for _ in range(3):
        player.step_once()
    stage.show(player.advance(0.0))
    assert stage_picture(polyscope)[-20:, -20:] == pytest.approx(120, abs=2)


def _still(env: Any) -> Any:
    from workbench.policies import make_agent

    return make_agent("zero", env)


def test_a_body_that_runs_towards_the_camera_stays_in_the_picture(opened: list[Any]) -> None:
    env = gymnasium.make("HalfCheetah-v5")
    opened.append(env)
    env.reset(seed=1)
    model, data = env.unwrapped.model, env.unwrapped.data
    frames = MujocoFrames(env, size=(160, 120), samples=1, theme=THEMES["light"])
    opened.append(frames)
    contrast = []
    for step in range(120):
        data.qpos[0] = -0.05 * step * (1 + step / 60)
        mujoco.mj_forward(model, data)
        contrast.append(frames.draw(0.05).reshape(120, 160, 4)[..., :3].std())
    assert min(contrast) > 0.8 * contrast[0]
