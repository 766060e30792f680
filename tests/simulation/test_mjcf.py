"""Where models are found, and what is said of those that cannot be compiled."""

from pathlib import Path

import mujoco
import pytest

from tests.simulation.toys import SLIDER
from workbench.errors import SimulationError
from workbench.project import shipped_project
from workbench.simulation import find_asset, gymnasium_assets, load_spec
from workbench.simulation.mjcf import actuator_name, compile_model


def test_a_projects_own_model_comes_first(tmp_path: Path) -> None:
    module = tmp_path / "envs" / "deep" / "mine_env.py"
    own = tmp_path / "assets" / "ant.xml"
    own.parent.mkdir()
    own.write_text(SLIDER)
    assert find_asset("ant.xml", module) == own
    assert compile_model("ant.xml", module).nbody == 2


def test_then_the_shipped_one_then_gymnasiums() -> None:
    assert find_asset("cart_pole.xml") == shipped_project().assets / "cart_pole.xml"
    assert find_asset("ant.xml") == gymnasium_assets() / "ant.xml"


def test_a_whole_path_is_taken_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "some.xml"
    path.write_text(SLIDER)
    assert find_asset(str(path)) == path


def test_a_model_that_is_nowhere_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(SimulationError, match=r"no_such\.xml in .*assets") as caught:
        find_asset("no_such.xml", tmp_path / "envs" / "a_env.py")
    assert str(gymnasium_assets()) in caught.value.message


def test_a_model_mujoco_refuses_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "bad.xml"
    path.write_text("<mujoco><worldbody><geom/></worldbody></mujoco>")
    for load in (compile_model, lambda path: compile_model(load_spec(path))):
        with pytest.raises(SimulationError, match="MuJoCo refuses the model") as caught:
            load(path)
        assert "\n" not in caught.value.message
    path.write_text("<mujoco><worldbody><geom></worldbody></mujoco>")
    for load in (compile_model, load_spec):
        with pytest.raises(SimulationError, match=r"MuJoCo refuses the model .*bad\.xml: XML") as caught:
            load(path)
        assert "\n" not in caught.value.message


def test_every_form_of_model_compiles() -> None:
    spec = mujoco.MjSpec.from_string(SLIDER)
    model = compile_model(spec)
    assert compile_model(model) is model
    assert actuator_name(model, 0) == "push"


def test_what_the_compiler_of_a_spec_warns_of_goes_to_the_log(
    caplog: pytest.LogCaptureFixture, recwarn: pytest.WarningsRecorder
) -> None:
    compile_model(load_spec(gymnasium_assets() / "half_cheetah.xml"))
    assert "settotalmass" in caplog.text
    assert not recwarn.list


def test_an_actuator_without_a_name_is_called_after_its_joint() -> None:
    model = mujoco.MjModel.from_xml_string(SLIDER.replace('name="push" ', ""))
    assert actuator_name(model, 0) == "x"


def test_the_shipped_models_carry_a_licence() -> None:
    for path in shipped_project().assets.rglob("*.xml"):
        assert "SPDX-License-Identifier" in path.read_text().splitlines()[0]
