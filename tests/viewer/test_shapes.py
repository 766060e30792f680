from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from PIL import Image

from workbench.viewer.shapes import drawable_shapes, drawable_tendons, shadow_mesh

MODEL = """
<mujoco>
  <asset>
    <hfield name="hills" nrow="4" ncol="6" size="2 1 .5 .1"/>
    <mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/>
    <material name="teal" rgba=".1 .6 .6 1"/>
  </asset>
  <worldbody>
    <geom name="ground" type="plane" size="0 0 1"/>
    <geom name="wall" type="plane" size="1 2 1" euler="0 90 0"/>
    <geom name="hills" type="hfield" hfield="hills"/>
    <body name="all">
      <joint/>
      <geom name="ball" type="sphere" size=".1" material="teal"/>
      <geom name="red" type="sphere" size=".1" material="teal" rgba="1 0 0 1"/>
      <geom name="pill" type="capsule" size=".1 .2"/>
      <geom name="egg" type="ellipsoid" size=".1 .2 .3"/>
      <geom name="can" type="cylinder" size=".1 .2"/>
      <geom name="crate" type="box" size=".1 .2 .3"/>
      <geom name="wedge" type="mesh" mesh="wedge"/>
      <geom name="collider" type="box" size="1 1 1" group="3"/>
      <geom name="unseen" type="box" size="1 1 1" rgba="1 1 1 0"/>
      <site name="mark" size=".02"/>
      <site name="far" pos="1 0 0" size=".02"/>
      <site name="hidden" size=".02" group="4"/>
    </body>
  </worldbody>
  <tendon>
    <spatial name="rope" width=".01" rgba="0 1 0 1"><site site="mark"/><site site="far"/></spatial>
  </tendon>
</mujoco>
"""


@pytest.fixture(scope="module")
def model() -> Any:
    return mujoco.MjModel.from_xml_string(MODEL)


def test_every_geom_type_and_shown_site_has_a_shape(model: Any) -> None:
    shapes = drawable_shapes(model, skip=frozenset({model.geom("ground").id}))
    assert [shape.name for shape in shapes if shape.kind == "geom"] == [
        *("wall", "hills", "ball", "red", "pill", "egg", "can", "crate", "wedge")
    ]
    assert [shape.name for shape in shapes if shape.kind == "site"] == ["mark", "far"]
    assert {shape.name for shape in shapes if not shape.has_shadow} == {"wall", "hills", "mark", "far"}
    assert {shape.name for shape in shapes if not shape.closed} == {"wall", "hills", "wedge"}


def test_shapes_fill_the_boxes_that_mujoco_puts_around_geoms(model: Any) -> None:
    for shape in drawable_shapes(model):
        if shape.kind == "geom" and shape.has_shadow:
            centre, half = model.geom_aabb[shape.index][:3], model.geom_aabb[shape.index][3:]
            assert shape.mesh.vertices.min(axis=0) == pytest.approx(centre - half, abs=2e-3), shape.name
            assert shape.mesh.vertices.max(axis=0) == pytest.approx(centre + half, abs=2e-3), shape.name


def test_a_geoms_own_colour_wins_over_its_material(model: Any) -> None:
    colours = {shape.name: shape.colour for shape in drawable_shapes(model)}
    assert colours["ball"] == pytest.approx((0.1, 0.6, 0.6))
    assert colours["red"] == pytest.approx((1, 0, 0))


def test_a_tendon_through_space_is_drawn(model: Any) -> None:
    assert [(index, pytest.approx((0, 1, 0))) for index, _ in drawable_tendons(model)] == drawable_tendons(model)


def test_a_mesh_with_coordinates_carries_its_picture(tmp_path: Path) -> None:
    picture = np.full((4, 8, 3), (255, 0, 0), dtype=np.uint8)
    picture[2:] = (0, 0, 255)
    Image.fromarray(picture).save(tmp_path / "red.png")
    (tmp_path / "tile.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nvt 1 0\nvt 0 1\n"
        "f 1/1 3/3 2/2\nf 1/1 2/2 4/3\nf 1/1 4/3 3/2\nf 2/1 3/2 4/3\n"
    )
    (tmp_path / "model.xml").write_text(
        '<mujoco><asset><mesh file="tile.obj"/><texture name="red" type="2d" file="red.png"/>'
        '<material name="red" texture="red"/></asset><worldbody><body><joint/>'
        '<geom type="mesh" mesh="tile" material="red"/></body></worldbody></mujoco>'
    )
    (shape,) = drawable_shapes(mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml")))
    assert shape.texture is not None
    assert shape.texture.shape == (4, 8, 3)
    assert shape.texture[0, 0] == pytest.approx((1, 0, 0))
    assert shape.texture[3, 0] == pytest.approx((0, 0, 1))
    assert shape.mesh.uv is not None
    assert shape.mesh.uv.shape == (3 * len(shape.mesh.faces), 2)


def test_a_texture_of_one_colour_tints_and_is_no_picture() -> None:
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><asset><texture name="t" type="cube" builtin="flat" rgb1=".5 1 .25" rgb2=".5 1 .25" '
        'mark="cross" width="64" height="64"/><material name="m" texture="t"/></asset><worldbody>'
        '<geom size="1" material="m" rgba=".8 .6 .4 1"/></worldbody></mujoco>'
    )
    (shape,) = drawable_shapes(model)
    assert shape.texture is None
    assert shape.colour == pytest.approx((0.4, 0.6, 0.1), abs=0.01)


def test_what_is_see_through_is_solid_or_left_out_unless_asked_for() -> None:
    geoms = "".join(f"<geom name='{alpha}' size='1' rgba='1 0 0 {alpha}'/>" for alpha in (1, 0.5, 0.1, 0.01))
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{geoms}</worldbody></mujoco>")
    assert [(shape.name, shape.alpha) for shape in drawable_shapes(model)] == [("1", 1), ("0.5", 1)]
    through = drawable_shapes(model, sees_through=True)
    assert [shape.name for shape in through] == ["1", "0.5", "0.1"]
    assert [shape.alpha for shape in through] == pytest.approx([1, 0.5, 0.1])


@pytest.mark.parametrize("geom", ["type='sphere' size='.3'", "type='capsule' size='.1 .3'",
                                  "type='ellipsoid' size='.1 .2 .3'", "type='cylinder' size='.2 .3'"])  # fmt: skip
def test_the_shadow_of_what_is_round_is_as_large_and_coarser(geom: str) -> None:
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody><geom {geom}/></worldbody></mujoco>")
    (shape,) = drawable_shapes(model)
    shadow = shadow_mesh(model, shape)
    assert len(shadow.vertices) < 0.6 * len(shape.mesh.vertices)
    size = [np.ptp(mesh.vertices, axis=0) for mesh in (shadow, shape.mesh)]
    assert size[0] == pytest.approx(size[1], rel=0.06)
