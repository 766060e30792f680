"""Real pictures, drawn through EGL with no display."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest
from PIL import Image

from tests.viewer.desks import make_orders
from tests.viewer.fakes import Counting, Nodding
from tests.viewer.silhouette import render, silhouette
from workbench.errors import GraphicsError
from workbench.viewer import framing
from workbench.viewer.camera import CameraName, View, view_of
from workbench.viewer.frames import MujocoFrames, RenderedFrames
from workbench.viewer.look import THEMES
from workbench.viewer.mouse import lens_of
from workbench.viewer.panel import MARGIN, TIMELINE, WIDTH
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


def test_every_picture_of_a_process_is_as_smooth_as_its_first() -> None:
    env = gymnasium.make("Ant-v5")
    env.reset(seed=0)
    pictures = []
    for samples in (2, 2, 1, 2):
        frames = MujocoFrames(env, size=SIZE, samples=samples, theme=THEMES["light"])
        pictures.append(picture(frames))
        frames.close()
    first, second, coarse, last = pictures
    assert np.array_equal(first, second)
    assert np.array_equal(first, last)
    # Fewer colours stand between those of two neighbours.
    assert len(np.unique(coarse.reshape(-1, 3), axis=0)) < len(np.unique(first.reshape(-1, 3), axis=0))


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


SOFT = {
    "cloth": "<flexcomp name='f' type='grid' count='5 5 1' spacing='.2 .2 .2' pos='0 0 .6' euler='20 30 0' dim='2' "
    "radius='.005' rgba='.8 .2 .1 1'><edge equality='true'/></flexcomp>",
    "solid": "<flexcomp name='f' type='grid' count='3 3 3' spacing='.3 .3 .3' pos='0 0 .6' euler='20 30 0' dim='3' "
    "radius='.001' rgba='.8 .2 .1 1'><edge equality='true'/></flexcomp>",
    "cord": "<flexcomp name='f' type='grid' count='6 1 1' spacing='.2 .2 .2' pos='0 0 .6' dim='1' radius='.04' "
    "rgba='.8 .2 .1 1'><edge equality='true'/></flexcomp>",
    "mocap": "<body mocap='true' pos='0 0 .6' euler='10 20 30'>"
    "<geom type='box' size='.3 .2 .1' rgba='.8 .2 .1 1'/></body>",
    "sites and a tendon": "<body pos='0 0 .5'><freejoint/><geom size='.1' rgba='.8 .2 .1 1'/><site name='a' size='.12' "
    "rgba='.8 .2 .1 1'/></body><site name='b' pos='.5 0 1' size='.1' rgba='.8 .2 .1 1'/>",
    "hills": "<geom type='hfield' hfield='hills' rgba='.8 .2 .1 1'/>",
    "groups": "<body pos='0 0 .6'><freejoint/><geom size='.2' group='2' rgba='.8 .2 .1 1'/>"
    "<geom size='.2' pos='.5 0 0' group='3' rgba='.8 .2 .1 1'/></body>",
}
MORE = {
    "sites and a tendon": "<tendon><spatial width='.03' rgba='.8 .2 .1 1'>"
    "<site site='a'/><site site='b'/></spatial></tendon>",
    "hills": "<asset><hfield name='hills' nrow='3' ncol='3' size='.5 .5 .6 .1' elevation='0 0 0 0 1 0 0 0 0'/></asset>",
}


@pytest.mark.parametrize("kind", SOFT)
def test_what_is_no_rigid_primitive_is_where_mujocos_own_renderer_puts_it(
    kind: str, opened: list[Any], tmp_path: Path
) -> None:
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco>{MORE.get(kind, '')}<worldbody><geom type='plane' size='9 9 1'/>{SOFT[kind]}</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    view, measures = View(120, -35, 3.0), framing.frame(model)
    expected = silhouette(tmp_path, model, data, view, measures.target(data), SIZE)
    frames = MujocoFrames(Posed(model, data), size=SIZE, samples=1, theme=THEMES["light"], view=view)
    opened.append(frames)
    drawn = picture(frames)
    found = drawn[..., 0] - drawn[..., 2] > 25
    assert expected.sum() > 500
    assert (expected & found).sum() / (expected | found).sum() > 0.9


def test_a_second_plane_is_where_mujocos_own_renderer_puts_it(opened: list[Any], tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><visual><headlight ambient='1 1 1' diffuse='0 0 0'/></visual><worldbody>"
        "<geom type='plane' size='9 9 1' rgba='.5 .5 .5 1'/>"
        "<geom type='plane' size='.5 .4 .1' pos='0 0 .5' euler='30 10 0' rgba='.9 .1 .1 1'/>"
        "<body pos='0 0 2'><freejoint/><geom size='.1' rgba='.5 .5 .5 1'/></body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    view, measures = View(120, -35, 4.0), framing.frame(model)
    seen = render(tmp_path, model, data, view, measures.target(data), SIZE).astype(int)
    frames = MujocoFrames(Posed(model, data), size=SIZE, samples=1, theme=THEMES["light"], view=view)
    opened.append(frames)
    expected, found = (part[..., 0] - part[..., 2] > 25 for part in (seen, picture(frames)))
    assert expected.sum() > 500
    assert (expected & found).sum() / (expected | found).sum() > 0.9


def test_a_skin_bends_with_its_bones(opened: list[Any], tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><asset/><worldbody><geom type='plane' size='9 9 1'/>"
        "<body name='a' pos='0 0 .5'><geom size='.01' group='4'/>"
        "<body name='b' pos='.5 0 0'><joint axis='0 1 0'/><geom size='.01' group='4'/></body></body></worldbody>"
        "<deformable><skin rgba='.8 .2 .1 1' vertex='0 -.3 .5 0 .3 .5 .5 -.3 .5 .5 .3 .5 1 -.3 .5 1 .3 .5' "
        "face='0 2 1 2 3 1 2 4 3 4 5 3'>"
        "<bone body='a' bindpos='0 0 .5' bindquat='1 0 0 0' vertid='0 1 2 3' vertweight='1 1 .5 .5'/>"
        "<bone body='b' bindpos='.5 0 .5' bindquat='1 0 0 0' vertid='2 3 4 5' vertweight='.5 .5 1 1'/>"
        "</skin></deformable></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qpos[0] = -0.7
    mujoco.mj_forward(model, data)
    view = View(120, -35, 3.0)
    measures = framing.frame(model)
    expected = silhouette(tmp_path, model, data, view, measures.target(data), SIZE)
    frames = MujocoFrames(Posed(model, data), size=SIZE, samples=1, theme=THEMES["light"], view=view)
    opened.append(frames)
    drawn = picture(frames)
    found = drawn[..., 0] - drawn[..., 2] > 25
    assert expected.sum() > 500
    assert (expected & found).sum() / (expected | found).sum() > 0.9


@pytest.mark.parametrize("lens", ["fovy='62'", "projection='orthographic' fovy='1.6'"])
def test_a_camera_of_the_model_sees_what_it_sees_in_mujocos_own_renderer(
    lens: str, opened: list[Any], tmp_path: Path
) -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom type='plane' size='9 9 1'/><body name='box' pos='0 0 .5'><freejoint/>"
        "<geom type='box' size='.3 .2 .1' rgba='.8 .2 .1 1'/>"
        f"<camera name='rolled' pos='.4 -1.2 .8' xyaxes='1 .3 .2 -.3 .5 .8' {lens}/></body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qpos[:] = [1, 2, 1, 0.9, 0.1, -0.2, 0.3]
    mujoco.mj_forward(model, data)
    expected = silhouette(tmp_path, model, data, 0, None, SIZE)
    frames = MujocoFrames(Posed(model, data), size=SIZE, samples=1, theme=THEMES["light"], view=CameraName("rolled"))
    opened.append(frames)
    drawn = picture(frames)
    found = drawn[..., 0] - drawn[..., 2] > 25
    assert expected.sum() > 500
    assert (expected & found).sum() / (expected | found).sum() > 0.95


SIDES = {"right": (220, 20, 20), "left": (20, 220, 20), "up": (20, 20, 220), "down": (220, 220, 20),
         "front": (220, 20, 220), "back": (20, 220, 220)}  # fmt: skip


@pytest.mark.parametrize("euler", ["0 0 0", "0 0 170", "150 60 0"])
@pytest.mark.parametrize("geom", ["type='box' size='.3 .5 .2'", "type='sphere' size='.4'", "type='mesh' mesh='wedge'"])
def test_a_cube_of_pictures_is_wrapped_as_mujocos_own_renderer_wraps_it(
    geom: str, euler: str, opened: list[Any], tmp_path: Path
) -> None:
    for name, colour in SIDES.items():
        side = np.full((64, 64, 3), colour, dtype=np.uint8)
        # Something that tells a side turned over from one that is not.
        side[:32, :32] //= 4
        Image.fromarray(side).save(tmp_path / f"{name}.png")
    files = " ".join(f"file{name}='{name}.png'" for name in SIDES)
    (tmp_path / "model.xml").write_text(
        f"<mujoco><visual><headlight ambient='1 1 1' diffuse='0 0 0' specular='0 0 0'/></visual><asset>"
        f"<mesh name='wedge' vertex='.5 0 0 -.4 0 0 0 .5 0 0 -.4 0 0 0 .6 0 0 -.3'/>"
        f"<texture name='t' type='cube' {files}/><material name='m' texture='t'/></asset>"
        f"<worldbody><body pos='0 0 1' euler='{euler}'><geom {geom} material='m'/></body></worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    view, measures = View(40, -30, 2.5), framing.frame(model)
    theirs = render(tmp_path, model, data, view, measures.target(data), SIZE).astype(int)
    mask = np.load(tmp_path / "mask.npy")
    frames = MujocoFrames(Posed(model, data), size=SIZE, samples=1, theme=THEMES["light"], view=view)
    opened.append(frames)
    ours = picture(frames)
    lit = mask & (theirs.max(axis=-1) > 150)
    # Which channels are bright tells the side, in any light.
    bright = [pixels > 0.55 * pixels.max(axis=-1, keepdims=True) for pixels in (ours, theirs)]
    assert lit.sum() > 2000
    assert (bright[0] == bright[1]).all(axis=-1)[lit].mean() > 0.93
    # And the dark quarter of each is where it is there.
    dark = [pixels.max(axis=-1)[mask] < 110 for pixels in (ours, theirs)]
    assert (dark[0] == dark[1]).mean() > 0.85


def test_what_is_behind_shows_through_where_that_is_asked_for(opened: list[Any]) -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom type='plane' size='9 9 1'/><body pos='0 0 1'><joint/>"
        "<geom type='box' size='.02 .6 .6' rgba='.1 .3 .9 .4'/><geom pos='-.4 0 0' size='.3' rgba='.9 .1 .1 1'/>"
        "</body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    middles = []
    for sees_through in (False, True):
        frames = MujocoFrames(
            Posed(model, data),
            size=SIZE,
            samples=2,
            theme=THEMES["light"],
            view=View(180, 0, 4),
            sees_through=sees_through,
        )
        opened.append(frames)
        middles.append(picture(frames)[SIZE[1] // 2, SIZE[0] // 2])
        opened.pop().close()
    solid, through = middles
    assert solid[2] > solid[0] + 60
    assert through[0] > solid[0] + 60


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


@pytest.mark.parametrize("size", [(1100, 700), (800, 700)])
def test_the_first_frame_shows_the_whole_model_beside_the_panel(size: tuple[int, int], opened: list[Any]) -> None:
    import polyscope

    env = gymnasium.make("HalfCheetah-v5")
    opened.append(env)
    env.unwrapped.model.geom_matid[:], env.unwrapped.model.geom_rgba[:, :3] = -1, (0.9, 0.1, 0.1)
    orders = make_orders(Session(env, _still(env), seed=0), title="half_cheetah")
    orders.do("gizmo", on=False)  # Its x is red, too.
    stage = MujocoStage(orders, THEMES["light"], size=size, surface="offscreen")
    opened.append(stage)
    stage.show(0.0)
    whole = red(polyscope.screenshot_to_buffer(False))
    beside = red(polyscope.screenshot_to_buffer(False, include_UI=True))[:, int(WIDTH + MARGIN) :]
    rows, columns = np.nonzero(beside)
    assert beside.sum() == pytest.approx(whole.sum(), rel=0.02)
    # It stands in the middle of what is left free.
    assert columns.mean() == pytest.approx(beside.shape[1] / 2, abs=0.1 * beside.shape[1])
    assert rows.max() < size[1] - TIMELINE - MARGIN


def red(picture: Any) -> Any:
    """Return where a picture is as red as a model whose colour was set so."""
    parts = picture[..., :3].astype(int)
    return (parts[..., 0] - parts[..., 2] > 60) & (parts[..., 0] - parts[..., 1] > 60)


@pytest.mark.parametrize(("size", "has_strip"), [((900, 400), True), ((900, 250), False), ((320, 240), False)])
def test_in_a_low_window_the_panel_ends_above_the_strip_or_has_all_of_it(
    size: tuple[int, int], has_strip: bool, opened: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import polyscope.imgui as imgui

    env = gymnasium.make("HalfCheetah-v5")
    opened.append(env)
    orders = make_orders(Session(env, _still(env), seed=0), title="half_cheetah")
    orders.do("panel", on=True, tab="view")
    stage = MujocoStage(orders, THEMES["light"], size=size, surface="offscreen")
    opened.append(stage)
    ends: list[float] = []
    tab_ends: list[float] = []
    tops: list[float] = []
    tabs, timeline = stage._panel._tabs, stage._panel._timeline

    def note_tabs() -> None:
        tabs()
        ends.append(imgui.GetWindowPos()[1] + imgui.GetWindowSize()[1])
        tab_ends.append(imgui.GetCursorScreenPos()[1])

    def note_timeline() -> None:
        timeline()
        tops.append(size[1] - TIMELINE - MARGIN)

    monkeypatch.setattr(stage._panel, "_tabs", note_tabs)
    monkeypatch.setattr(stage._panel, "_timeline", note_timeline)
    for _ in range(3):
        stage.show(0.0)
    assert bool(tops) == has_strip
    # The tabs are there without scrolling; what a window is as large as settles within its first frames.
    assert tab_ends[-1] < ends[-1]
    assert ends[-1] <= (tops[-1] if tops else size[1])
    assert stage._room().bottom == (TIMELINE + MARGIN if has_strip else 0)


def test_nine_models_stand_beside_the_panel(opened: list[Any]) -> None:
    import polyscope

    made = [gymnasium.make("Hopper-v5") for _ in range(9)]
    opened += made
    orders = make_orders(*(Session(env, _still(env), seed=0) for env in made), title="hopper")
    stage = MujocoStage(orders, THEMES["light"], size=(1100, 700), surface="offscreen")
    opened.append(stage)
    stage.show(0.0)
    places = [stage._company.caption_place(index, lens_of(polyscope)) for index in range(9)]
    assert all(place is not None for place in places)
    x, y = np.array(places).T
    assert x.min() > WIDTH + MARGIN + 40
    assert x.max() < 1100 - 40
    assert y.max() < 700 - TIMELINE - MARGIN


@pytest.mark.parametrize(("count", "size"), [(1, (1100, 700)), (3, (1100, 700)), (1, (640, 700))])
def test_all_is_seen_whole_beside_the_panel_when_that_is_asked_for(
    count: int, size: tuple[int, int], opened: list[Any]
) -> None:
    import polyscope

    made = [gymnasium.make("HalfCheetah-v5") for _ in range(count)]
    opened += made
    orders = make_orders(*(Session(env, _still(env), seed=0) for env in made), title="half_cheetah")
    stage = MujocoStage(orders, THEMES["light"], size=size, surface="offscreen")
    opened.append(stage)
    orders.do("pause")
    stage.show(0.0)
    for env in made:
        model, data = env.unwrapped.model, env.unwrapped.data
        # Far from where it was, in its longest stride, with no time gone by in which the camera could follow.
        data.qpos[[0, 3, 4, 6, 7]] = [40.0, -0.9, 0.8, 1.0, -1.0]
        mujoco.mj_forward(model, data)
    orders.do("frame")
    stage.show(0.0)
    lens = lens_of(polyscope)
    corners = [
        lens.to_screen(corner + stage._company.offset(index))
        for index, env in enumerate(made)
        for corner in framing.corners(env.unwrapped.model, env.unwrapped.data)
    ]
    assert all(corner is not None for corner in corners)
    x, y = np.array(corners).T
    assert x.min() > WIDTH + MARGIN
    assert x.max() < size[0]
    assert 0 < y.min() < y.max() < size[1] - TIMELINE - MARGIN


def test_an_arm_that_turns_all_round_never_reaches_below_the_panel(opened: list[Any]) -> None:
    import polyscope

    env = gymnasium.make("Reacher-v5")
    opened.append(env)
    orders = make_orders(Session(env, _still(env), seed=0), title="reacher")
    stage = MujocoStage(orders, THEMES["light"], size=(1100, 700), surface="offscreen")
    opened.append(stage)
    orders.do("pause")
    stage.show(0.0)
    lens, model, data = lens_of(polyscope), env.unwrapped.model, env.unwrapped.data
    tip, places = model.body("fingertip").id, []
    for angle in np.linspace(0, 2 * np.pi, 36):
        data.qpos[:2] = angle, 0.0
        mujoco.mj_forward(model, data)
        places.append(lens.to_screen(np.array(data.xpos[tip])))
    x, y = np.array(places).T
    assert WIDTH + MARGIN < x.min() < x.max() < 1100
    assert 0 < y.min() < y.max() < 700 - TIMELINE - MARGIN


def test_ghosts_that_ran_apart_are_all_seen_when_that_is_asked_for(opened: list[Any]) -> None:
    import polyscope

    made = [gymnasium.make("HalfCheetah-v5") for _ in range(3)]
    opened += made
    orders = make_orders(*(Session(env, _still(env), seed=0) for env in made), title="half_cheetah")
    stage = MujocoStage(orders, THEMES["light"], size=(1100, 700), layout="ghosts", surface="offscreen")
    opened.append(stage)
    orders.do("pause")
    for env, x in zip(made, (0.0, 1.0, 6.0), strict=True):
        env.unwrapped.data.qpos[0] = x
        mujoco.mj_forward(env.unwrapped.model, env.unwrapped.data)
    orders.do("frame")
    stage.show(0.0)
    lens = lens_of(polyscope)
    pixels = [lens.to_screen(c) for env in made for c in framing.corners(env.unwrapped.model, env.unwrapped.data)]
    x, _ = np.array(pixels).T
    assert WIDTH + MARGIN < x.min() < x.max() < 1100


def test_a_step_by_hand_leaves_a_fast_model_where_it_was_in_the_picture(opened: list[Any]) -> None:
    import polyscope

    env = gymnasium.make("HalfCheetah-v5")
    opened.append(env)
    orders = make_orders(Session(env, _still(env), seed=0), title="half_cheetah")
    stage = MujocoStage(orders, THEMES["light"], size=(1100, 700), surface="offscreen")
    opened.append(stage)
    env.unwrapped.data.qvel[0] = 10.0
    middle = [(1100 + WIDTH + MARGIN) / 2, (700 - TIMELINE - MARGIN) / 2]
    for steps in (1, 1, 1, -2, 2):
        orders.do("step", n=steps)
        stage.show(orders.player.advance(0.05))
        seen = lens_of(polyscope).to_screen(stage._company.framing.target(orders.player.data))
        assert seen == pytest.approx(middle, abs=2)


def test_the_model_stays_where_it_is_seen_when_the_mouse_turns_and_nears_the_view(opened: list[Any]) -> None:
    import polyscope

    env = gymnasium.make("HalfCheetah-v5")
    opened.append(env)
    orders = make_orders(Session(env, _still(env), seed=0), title="half_cheetah")
    stage = MujocoStage(orders, THEMES["light"], size=(1100, 700), surface="offscreen")
    opened.append(stage)

    def seen() -> Any:
        stage.show(0.0)
        return lens_of(polyscope).to_screen(stage._company.target(0.0, jumped=True))

    before = seen()
    assert before == pytest.approx([(1100 + WIDTH + MARGIN) / 2, (700 - TIMELINE - MARGIN) / 2], abs=2)
    # What a drag and the wheel do: turn around the point that is looked at, and go towards it.
    centre, eye = np.asarray(polyscope.get_view_center()), stage._position()
    x, y, z = eye - centre
    polyscope.look_at_dir(centre + 0.6 * np.array([-y, x, z]), centre, (0.0, 0.0, 1.0))
    polyscope.set_view_center_raw(centre)
    assert seen() == pytest.approx(before, abs=2)
    orders.do("panel", on=False)
    assert seen() == pytest.approx([550, 350], abs=2)


def test_pictures_of_an_environment_fill_the_window(opened: list[Any]) -> None:
    import polyscope

    env = Counting(100)
    orders = make_orders(Session(env, Nodding(), seed=0), title="counting")
    player = orders.player
    stage = PictureStage(orders, THEMES["light"], size=(800, 400), surface="offscreen")
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
