"""An environment around any model and terms, and the same states in MuJoCo's own data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from workbench.simulation import BatchEnv, BatchEnvConfig, Noise
from workbench.simulation.terms import Term, TermSet

ARM = """
<mujoco>
  <option timestep="0.004" gravity="0 0 0"/>
  <worldbody>
    <geom name="floor" type="plane" size="3 3 0.1"/>
    <body name="table" pos="0.35 0 0.3">
      <geom name="top" type="box" size="0.15 0.15 0.02"/>
    </body>
    <body name="arm" pos="0 0 0.2">
      <joint name="lift" type="slide" axis="0 0 1" range="0 0.3"/>
      <joint name="turn" type="hinge" axis="0 0 1" range="-0.5 0.5"/>
      <geom name="palm" type="box" size="0.15 0.03 0.02" pos="0.15 0 0"/>
      <site name="grip" pos="0.34 0 0" euler="0 30 0"/>
      <body name="arm_left" pos="0.34 0.05 0">
        <joint name="squeeze_left" type="slide" axis="0 -1 0" range="0 0.03"/>
        <geom name="pad_left" type="box" size="0.04 0.01 0.04"/>
        <body name="tip_left" pos="0.05 0 0">
          <geom name="nail_left" type="sphere" size="0.012"/>
        </body>
      </body>
    </body>
    <body name="cube" pos="0.35 0 0.4">
      <freejoint name="cube_free"/>
      <geom name="cube_geom" type="box" size="0.03 0.03 0.03"/>
    </body>
  </worldbody>
  <actuator>
    <motor name="lift_motor" joint="lift" gear="3" ctrlrange="-1 1"/>
    <position name="turn_servo" joint="turn" kp="5" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""
"""An arm with one finger, a table, and a cube that floats freely."""

BEADS = """
<mujoco>
  <option gravity="0 0 0"/>
  <default><geom type="sphere" size="0.01" contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="tray"><geom/></body>
    <body name="bead_tray" pos="0.5 0 0.1"><geom/></body>
    {beads}
  </worldbody>
</mujoco>
""".format(
    beads="".join(
        f'<body name="bead_{index}"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>'
        '<joint type="slide" axis="0 0 1"/><geom/></body>'
        for index in range(4)
    )
)
"""Four beads and two containers, nothing of which collides."""


@dataclass(frozen=True)
class HostConfig(BatchEnvConfig):
    """Nothing of its own."""

    episode_steps: int = 0


class Host(BatchEnv[HostConfig]):
    """A model with terms that starts in given states."""

    model_xml: str = ARM
    declared: Mapping[str, Any] = {}
    starts: Any = None
    """Positions and velocities (n, nq), (n, nv); None for the model's default and rest."""

    def load(self) -> Any:
        spec = mujoco.MjSpec.from_string(self.model_xml)
        self.terms = TermSet(spec, **self.declared)
        return spec

    def initial_state(self, noise: Noise) -> tuple[Any, Any]:
        if self.starts is None:
            return np.tile(self.model.qpos0, (len(noise), 1)), np.zeros((len(noise), self.model.nv))
        return self.starts[0][noise.ids], self.starts[1][noise.ids]

    def observe(self) -> Any:
        return np.concatenate([self.qpos, self.qvel, *self.terms.goals.values()], axis=1)

    def reward_terms(self, actions: Any) -> Mapping[str, Any]:
        return self.terms.rewards()

    def terminations(self) -> Mapping[str, Any]:
        return self.terms.endings()

    def info(self) -> Mapping[str, Any]:
        return self.terms.watched()

    def action_bounds(self) -> tuple[Any, Any]:
        return -np.ones(max(1, self.model.nu)), np.ones(max(1, self.model.nu))

    def apply_action(self, actions: Any) -> None:
        if self.model.nu:
            self.ctrl[:] = actions

    def name_actions(self) -> list[str]:
        return []


def host(xml: str = ARM, *, starts: Any = None, n_envs: int = 1, frame_skip: int = 1, **declared: Any) -> Host:
    """Return such an environment."""
    kind = type("MadeHost", (Host,), {"model_xml": xml, "declared": {"rewards": {}, **declared}, "starts": starts})
    made: Host = kind(HostConfig(frame_skip=frame_skip), n_envs=n_envs, threads=1, name="host")
    return made


def read(term: Term, xml: str, starts: Any) -> Any:
    """Return a term's values in given states."""
    env = host(xml, starts=starts, n_envs=len(starts[0]), watched={"it": term})
    env.reset(seed=0)
    env.terms.advance(np.zeros((env.n_envs, *env.action_space.shape)))
    value = env.terms.watched()["it"]
    env.close()
    return value


def expected(reference: Callable[[Any, Any], Any], xml: str, starts: Any) -> Any:
    """Return what a function of MuJoCo's own model and data gives in the same states."""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    values = []
    for qpos, qvel in zip(*starts, strict=True):
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = qpos, qvel
        mujoco.mj_forward(model, data)
        values.append(reference(model, data))
    return np.array(values)


def arm_states(count: int = 60) -> Any:
    """Return states of the arm in which it meets the cube and the table often."""
    random = np.random.default_rng(5)
    low = [-0.15, -0.7, -0.01, 0.25, -0.12, 0.05, -1, -1, -1, -1]
    high = [0.35, 0.7, 0.05, 0.50, 0.12, 0.45, 1, 1, 1, 1]
    qpos = random.uniform(low, high, (count, 10))
    qpos[: count // 2, 3:6] = np.stack(
        [0.37 * np.cos(qpos[: count // 2, 1]), 0.37 * np.sin(qpos[: count // 2, 1]), qpos[: count // 2, 0] + 0.2], 1
    )
    # Half of the cubes nearly upright; a quaternion need not have unit length.
    qpos[::2, 7:9] *= 0.1
    return qpos, random.normal(size=(count, 9))
