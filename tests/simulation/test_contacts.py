"""Contact wrenches, against a hand computation and against MuJoCo's own."""

from typing import Any

import mujoco
import numpy as np
import pytest

from workbench.simulation import ContactWrenches

STACK = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="lower" pos="0.3 0 0.1">
      <freejoint/>
      <geom type="box" size="0.2 0.2 0.1" mass="3"/>
    </body>
    <body pos="0.3 0 0.25">
      <freejoint/>
      <geom type="box" size="0.05 0.05 0.05" mass="2"/>
    </body>
  </worldbody>
</mujoco>
"""


def settled(xml: str, root: str, seconds: float) -> tuple[Any, Any, ContactWrenches]:
    spec = mujoco.MjSpec.from_string(xml)
    wrenches = ContactWrenches(spec, root)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, nstep=round(seconds / model.opt.timestep))
    mujoco.mj_forward(model, data)
    wrenches.bind(model, np.asarray(data.sensordata)[None])
    return model, data, wrenches


def test_the_floor_carries_the_weight_of_what_rests_on_it() -> None:
    _, data, wrenches = settled(STACK, "lower", 2.0)
    assert wrenches.bodies == ("lower", "body_2")
    lower, upper = wrenches.read()[0]
    # What touches a body at rest carries that body's own weight, and turns it about nothing: the lower box is pushed
    # up by the floor with 5 g and down by the upper one with 2 g.
    assert upper[3:] == pytest.approx((0, 0, 2 * 9.81), abs=1e-3)
    assert lower[3:] == pytest.approx((0, 0, 3 * 9.81), abs=1e-3)
    assert lower[:3] == pytest.approx((0, 0, 0), abs=1e-3)
    # The upper box's wrench is about the lower one's centre of mass, for that is the tree asked for.
    arm = data.body("body_2").xipos - data.body("lower").xipos
    assert upper[:3] == pytest.approx(np.cross(arm, upper[3:]), abs=1e-3)


def test_a_body_that_touches_nothing_feels_nothing() -> None:
    _, _, wrenches = settled(STACK.replace("0.3 0 0.25", "0.3 0 9"), "lower", 0.05)
    assert (wrenches.read()[0, 1] == 0).all()


def test_they_are_mujocos_external_forces_of_the_same_state() -> None:
    xml = STACK.replace('pos="0.3 0 0.1"', 'pos="0.3 0 0.4" euler="20 30 0"').replace("0.3 0 0.25", "2 0 0.5")
    spec = mujoco.MjSpec.from_string(xml)
    wrenches = ContactWrenches(spec, "lower", ["lower"])
    model = spec.compile()
    data = mujoco.MjData(model)
    largest = 0.0
    for _ in range(200):
        mujoco.mj_step(model, data)
        # The integrator has moved the state on; this computes sensors and constraint forces of one state.
        mujoco.mj_forward(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        wrenches.bind(model, np.asarray(data.sensordata)[None])
        assert wrenches.read()[0, 0] == pytest.approx(data.body("lower").cfrc_ext, abs=1e-9)
        largest = max(largest, float(np.abs(data.body("lower").cfrc_ext).max()))
    assert largest > 10
