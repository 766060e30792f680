"""A mass on a line whose policy sees less than its critic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from workbench.simulation import BatchEnv, BatchEnvConfig, Noise

LINE = """
<mujoco>
  <option timestep="0.05" gravity="0 0 0"/>
  <worldbody>
    <body name="mass"><joint name="x" type="slide" axis="1 0 0" damping="1"/><geom size="0.1" mass="1"/></body>
  </worldbody>
  <actuator><motor name="push" joint="x" ctrlrange="-2 2"/></actuator>
</mujoco>
"""


@dataclass(frozen=True)
class PartlySeenEnvConfig(BatchEnvConfig):
    """What may differ."""

    episode_steps: int = 20
    swap_seen: bool = False
    """Tell the policy's numbers in the other order."""
    swap_hidden: bool = False
    """Tell the critic's numbers in the other order."""


class PartlySeenEnv(BatchEnv[PartlySeenEnvConfig]):
    """The policy sees where the mass is and a clock; its critic also the velocity and a hidden wind."""

    def load(self) -> Any:
        return mujoco.MjModel.from_xml_string(LINE)

    def setup(self) -> None:
        self.wind = np.zeros(self.n_envs)

    def initial_state(self, noise: Noise) -> tuple[Any, Any]:
        self.wind[noise.ids] = noise.uniform(-1, 1, 1)[:, 0]
        return noise.uniform(-1, 1, 1), noise.standard_normal(1)

    def apply_action(self, actions: Any) -> None:
        self.ctrl[:] = actions + self.wind[:, None]

    def observe(self) -> Any:
        seen = np.stack([self.qpos[:, 0], self.elapsed / 20], axis=1)
        return seen[:, ::-1] if self.config.swap_seen else seen

    def name_observations(self) -> Sequence[str]:
        return ("clock", "x") if self.config.swap_seen else ("x", "clock")

    def critic_observe(self) -> Any:
        hidden = np.stack([5 + 3 * self.qvel[:, 0], self.wind, self.qpos[:, 0]], axis=1)
        return hidden[:, [1, 0, 2]] if self.config.swap_hidden else hidden

    def name_critic_observations(self) -> Sequence[str]:
        return ("crosswind", "v", "x") if self.config.swap_hidden else ("v", "crosswind", "x")

    def reward_terms(self, actions: Any) -> Mapping[str, Any]:
        return {"near": -np.abs(self.qpos[:, 0])}
