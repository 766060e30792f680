"""Small environments with answers one can work out by hand."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from workbench.simulation import BatchEnv, BatchEnvConfig, Noise

SLIDER = """
<mujoco>
  <option timestep="0.1" gravity="0 0 0" integrator="Euler"/>
  <worldbody>
    <body name="mass">
      <joint name="x" type="slide" axis="1 0 0"/>
      <geom size="0.1" mass="2"/>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="x" ctrlrange="-4 4"/></actuator>
</mujoco>
"""


@dataclass(frozen=True)
class Weights:
    """Nested configuration."""

    speed: float = 1.0
    """Weight of the speed term."""
    effort: float = 0.5


@dataclass(frozen=True)
class SliderEnvConfig(BatchEnvConfig):
    """A mass on a line."""

    episode_steps: int = 5
    noise: float = 1.0
    """Half the width of the start positions."""
    goal: float = 1e9
    """Where an episode succeeds."""
    wall: float = -1e9
    weights: Weights = field(default_factory=Weights)


class SliderEnv(BatchEnv[SliderEnvConfig]):
    """A mass pushed along a line."""

    follow_body = "mass"
    successes = ("arrived",)

    def load(self) -> Any:
        return mujoco.MjModel.from_xml_string(SLIDER)

    def initial_state(self, noise: Noise) -> tuple[Any, Any]:
        return noise.uniform(-self.config.noise, self.config.noise, 1), 0.1 * noise.standard_normal(1)

    def observe(self) -> Any:
        return np.concatenate([self.qpos, self.qvel], axis=1)

    def name_observations(self) -> list[str]:
        return ["x", "v"]

    def reward_terms(self, actions: Any) -> Mapping[str, Any]:
        weights = self.config.weights
        return {"speed": weights.speed * self.qvel[:, 0], "effort": -weights.effort * np.abs(actions[:, 0])}

    def terminations(self) -> Mapping[str, Any]:
        return {"arrived": self.qpos[:, 0] >= self.config.goal, "hit": self.qpos[:, 0] <= self.config.wall}

    def info(self) -> Mapping[str, Any]:
        return {"position": self.qpos[:, 0], "pair": self.qpos.repeat(2, axis=1)}
