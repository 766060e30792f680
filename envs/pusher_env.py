"""A seven-joint arm that learns to push a cylinder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.simulation import BatchEnv, BatchEnvConfig, Noise, gymnasium_assets, load_spec

ARM_JOINTS = 7
APART_M = 0.17
"""The object starts farther than this from the goal."""
START_LOW_M, START_HIGH_M = (-0.3, -0.2), (0.0, 0.2)
"""The rectangle in which the object starts, seen from the goal."""
START_SPEED = 0.005
"""Half the width of the uniform noise on the arm's start velocities, in rad/s."""


@dataclass(frozen=True)
class PusherEnvConfig(BatchEnvConfig):
    """What may differ between pushers; names and defaults are those of Pusher-v5."""

    frame_skip: int = 5
    """Simulation steps of 0.01 s in one control step."""
    episode_steps: int = 100
    """Steps after which an episode is truncated with the reason `time_limit`; 0 is no limit."""
    reward_near_weight: float = 0.5
    """Weight of the term for the way from the arm's tip to the object."""
    reward_dist_weight: float = 1.0
    """Weight of the term for the way from the object to the goal."""
    reward_control_weight: float = 0.1
    """Weight of the control term."""


class PusherEnv(BatchEnv[PusherEnvConfig]):
    """An arm of seven joints pushes a cylinder to a goal.

    ## Description
    An arm with shoulder, elbow, forearm and wrist stands before a table; its tip must push a cylinder on the table to a
    goal that stays where it is. Model, observation, reward and start are those of Gymnasium's `Pusher-v5`, equal to it
    for every action within the bounds. The controller acts 20 times a second; the simulation runs at 100 Hz.

    ## Action Space
    A `Box(-2, 2, (7,), float32)`: torques at the joints.

    | Num | Name                     | Action                       | Min | Max | Unit |
    | --- | ------------------------ | ---------------------------- | --- | --- | ---- |
    | 0   | r_shoulder_pan_joint     | torque that pans the shoulder | -2 | 2   | N m  |
    | 1   | r_shoulder_lift_joint    | torque that lifts the shoulder | -2 | 2  | N m  |
    | 2   | r_upper_arm_roll_joint   | torque that rolls the upper arm | -2 | 2 | N m  |
    | 3   | r_elbow_flex_joint       | torque at the elbow          | -2  | 2   | N m  |
    | 4   | r_forearm_roll_joint     | torque that rolls the forearm | -2 | 2   | N m  |
    | 5   | r_wrist_flex_joint       | torque that bends the wrist  | -2  | 2   | N m  |
    | 6   | r_wrist_roll_joint       | torque that rolls the wrist  | -2  | 2   | N m  |

    ## Observation Space
    A `Box(-Inf, Inf, (23,), float64)`.

    | Num   | Name                                              | Observation                      | Unit  |
    | ----- | ------------------------------------------------- | -------------------------------- | ----- |
    | 0–6   | r_shoulder_pan_joint … r_wrist_roll_joint         | angles of the joints             | rad   |
    | 7–13  | r_shoulder_pan_joint_vel … r_wrist_roll_joint_vel | angular velocities of the joints | rad/s |
    | 14–16 | tip_x tip_y tip_z                                 | position of the arm's tip        | m     |
    | 17–19 | object_x object_y object_z                        | position of the cylinder         | m     |
    | 20–22 | goal_x goal_y goal_z                              | position of the goal             | m     |

    ## Rewards
    - *dist*: −`reward_dist_weight` (1) × the distance from cylinder to goal, in m.
    - *ctrl*: −`reward_control_weight` (0.1) × the squared length of the action.
    - *near*: −`reward_near_weight` (0.5) × the distance from the arm's tip to the cylinder, in m.

    ## Starting State
    The arm starts at its rest angles, with uniform noise within ±0.005 rad/s on their velocities; the cylinder rests,
    uniform in a rectangle of 0.3 m by 0.4 m beside the goal and more than 0.17 m from it.

    ## Episode End
    ### Termination
    Never.

    ### Truncation
    - *time_limit*: after `episode_steps` (100) steps.

    ## Arguments
    | Field                   | Default | Meaning |
    | ----------------------- | ------- | ---------------------------------- |
    | `reward_near_weight`    | 0.5     | weight of *near* |
    | `reward_dist_weight`    | 1       | weight of *dist* |
    | `reward_control_weight` | 0.1     | weight of *ctrl* |
    | `frame_skip`            | 5       | simulation steps in one step |
    | `episode_steps`         | 100     | steps of the time limit; 0 is none |
    """

    def load(self) -> Any:
        """Return Gymnasium's model."""
        return load_spec(gymnasium_assets() / "pusher_v5.xml")

    def setup(self) -> None:
        """Bind tip, object and goal, a simulation step behind the state, as Gymnasium reads them."""
        places = self.batch.bind("xpos")
        bodies = ("tips_arm", "object", "goal")
        self._tip, self._object, self._goal = (places[:, self.model.body(name).id] for name in bodies)

    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Start near rest, with the object somewhere away from the goal."""
        qpos = np.tile(self.model.qpos0, (len(noise), 1))
        qpos[:, -4:-2] = noise.uniform_where(
            START_LOW_M, START_HIGH_M, 2, lambda place: np.linalg.norm(place) > APART_M
        )
        qpos[:, -2:] = 0.0
        qvel = noise.uniform(-START_SPEED, START_SPEED, self.model.nv)
        qvel[:, -4:] = 0.0
        return qpos, qvel

    def observe(self) -> NDArray[Any]:
        """Return the arm's angles and velocities, and where tip, object and goal are."""
        arm = (self.qpos[:, :ARM_JOINTS], self.qvel[:, :ARM_JOINTS])
        return np.concatenate([*arm, self._tip, self._object, self._goal], axis=1)

    def name_observations(self) -> Sequence[str]:
        """Name the numbers after joints and bodies."""
        joints = [self.model.joint(index).name for index in range(ARM_JOINTS)]
        places = [f"{thing}_{axis}" for thing in ("tip", "object", "goal") for axis in "xyz"]
        return [*joints, *(f"{joint}_vel" for joint in joints), *places]

    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Charge for both distances and effort."""
        config = self.config
        return {
            "dist": -config.reward_dist_weight * np.linalg.norm(self._object - self._goal, axis=1),
            "ctrl": -config.reward_control_weight * np.square(actions).sum(axis=1),
            "near": -config.reward_near_weight * np.linalg.norm(self._object - self._tip, axis=1),
        }
