"""A two-joint arm that learns to reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.simulation import BatchEnv, BatchEnvConfig, Noise, gymnasium_assets, load_spec

REACH_M = 0.2
"""Targets lie within this distance of the arm's base."""
START_RAD = 0.1
"""Half the width of the uniform noise on the start angles."""
START_SPEED = 0.005
"""Half the width of the uniform noise on the start velocities, in rad/s."""


@dataclass(frozen=True)
class ReacherEnvConfig(BatchEnvConfig):
    """What may differ between reachers; names and defaults are those of Reacher-v5."""

    frame_skip: int = 2
    """Simulation steps of 0.01 s in one control step."""
    episode_steps: int = 50
    """Steps after which an episode is truncated with the reason `time_limit`; 0 is no limit."""
    reward_dist_weight: float = 1.0
    """Weight of the distance term."""
    reward_control_weight: float = 1.0
    """Weight of the control term."""


class ReacherEnv(BatchEnv[ReacherEnvConfig]):
    """A planar arm of two links brings its fingertip to a target.

    ## Description
    Two links of 0.1 m turn in a plane; the target is somewhere within reach, elsewhere in every episode. Model,
    observation, reward and start are those of Gymnasium's `Reacher-v5`, equal to it for every action within the
    bounds. The controller acts 50 times a second; the simulation runs at 100 Hz.

    ## Action Space
    A `Box(-1, 1, (2,), float32)`: torques at the joints, as a share of 200 N m.

    | Num | Name   | Action                 | Min | Max | Unit    |
    | --- | ------ | ---------------------- | --- | --- | ------- |
    | 0   | joint0 | torque at the shoulder | -1  | 1   | 200 N m |
    | 1   | joint1 | torque at the elbow    | -1  | 1   | 200 N m |

    ## Observation Space
    A `Box(-Inf, Inf, (10,), float64)`.

    | Num  | Name                        | Observation                           | Unit  |
    | ---- | --------------------------- | ------------------------------------- | ----- |
    | 0, 1 | joint0_cos joint1_cos       | cosines of the joints' angles         | –     |
    | 2, 3 | joint0_sin joint1_sin       | their sines                           | –     |
    | 4, 5 | target_x target_y           | position of the target                | m     |
    | 6, 7 | joint0_vel joint1_vel       | angular velocities of the joints      | rad/s |
    | 8, 9 | to_fingertip_x to_fingertip_y | the fingertip, seen from the target | m     |

    ## Rewards
    - *dist*: −`reward_dist_weight` (1) × the distance from fingertip to target, in m.
    - *ctrl*: −`reward_control_weight` (1) × the squared length of the action.

    ## Starting State
    Stretched out along x, plus uniform noise within ±0.1 rad on the angles and ±0.005 rad/s on their velocities; the
    target rests, uniform in a disc of 0.2 m around the base.

    ## Episode End
    ### Termination
    Never.

    ### Truncation
    - *time_limit*: after `episode_steps` (50) steps.

    ## Arguments
    | Field                   | Default | Meaning |
    | ----------------------- | ------- | ---------------------------------- |
    | `reward_dist_weight`    | 1       | weight of *dist* |
    | `reward_control_weight` | 1       | weight of *ctrl* |
    | `frame_skip`            | 2       | simulation steps in one step |
    | `episode_steps`         | 50      | steps of the time limit; 0 is none |
    """

    def load(self) -> Any:
        """Return Gymnasium's model."""
        return load_spec(gymnasium_assets() / "reacher.xml")

    def setup(self) -> None:
        """Bind fingertip and target, both of the last integration stage, as Gymnasium reads them."""
        places = self.batch.bind("xpos")
        self._fingertip, self._target = (places[:, self.model.body(name).id] for name in ("fingertip", "target"))

    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Start near rest, stretched out, with a target somewhere in reach."""
        qpos = noise.uniform(-START_RAD, START_RAD, self.model.nq) + self.model.qpos0
        qpos[:, 2:] = noise.uniform_where(-REACH_M, REACH_M, 2, lambda target: np.linalg.norm(target) < REACH_M)
        qvel = noise.uniform(-START_SPEED, START_SPEED, self.model.nv)
        qvel[:, 2:] = 0.0
        return qpos, qvel

    def observe(self) -> NDArray[Any]:
        """Return the angles' cosines and sines, the target, velocities, and the way from target to fingertip."""
        angles, target = self.qpos[:, :2], self.qpos[:, 2:]
        way = (self._fingertip - self._target)[:, :2]
        return np.concatenate([np.cos(angles), np.sin(angles), target, self.qvel[:, :2], way], axis=1)

    def name_observations(self) -> Sequence[str]:
        """Name the ten numbers."""
        angles = [f"{joint}_{part}" for part in ("cos", "sin") for joint in ("joint0", "joint1")]
        return (*angles, "target_x", "target_y", "joint0_vel", "joint1_vel", "to_fingertip_x", "to_fingertip_y")

    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Charge for distance and effort."""
        distance = np.linalg.norm(self._fingertip - self._target, axis=1)
        return {
            "dist": -self.config.reward_dist_weight * distance,
            "ctrl": -self.config.reward_control_weight * np.square(actions).sum(axis=1),
        }
