"""A planar cheetah that learns to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.simulation import BatchEnv, BatchEnvConfig, Noise, gymnasium_assets, load_spec


@dataclass(frozen=True)
class HalfCheetahEnvConfig(BatchEnvConfig):
    """What may differ between half-cheetahs; names and defaults are those of HalfCheetah-v5."""

    frame_skip: int = 5
    """Simulation steps of 0.01 s in one control step."""
    forward_reward_weight: float = 1.0
    """Weight of the forward term."""
    ctrl_cost_weight: float = 0.1
    """Weight of the control term."""
    reset_noise_scale: float = 0.1
    """Half the width of the uniform noise on the start position, and the standard deviation of the start velocity."""
    exclude_current_positions_from_observation: bool = True
    """Leave the x-coordinate out, so that a policy cannot depend on where it is."""
    use_gravity: bool = True
    """Let things fall."""
    use_rest_springs: bool = True
    """Keep the springs that pull the joints to their rest angles."""


class HalfCheetahEnv(BatchEnv[HalfCheetahEnvConfig]):
    """A two-legged planar robot runs forward as fast as it can.

    ## Description
    The half-cheetah of P. Wawrzyński, "A Cat-Like Robot Real-Time Learning to Run": a planar body of seven links with
    six actuated joints. Model, observation, reward and start are those of Gymnasium's `HalfCheetah-v5`, equal to it
    for every action within the bounds; an action outside them is clipped here before its cost is counted, there
    after. The controller acts 20 times a second; the simulation runs at 100 Hz.

    ## Action Space
    A `Box(-1, 1, (6,), float32)`: torques at the joints, as a share of their greatest.

    | Num | Name   | Action                    | Min | Max | Unit    |
    | --- | ------ | ------------------------- | --- | --- | ------- |
    | 0   | bthigh | torque on the back thigh  | -1  | 1   | 120 N m |
    | 1   | bshin  | torque on the back shin   | -1  | 1   | 90 N m  |
    | 2   | bfoot  | torque on the back foot   | -1  | 1   | 60 N m  |
    | 3   | fthigh | torque on the front thigh | -1  | 1   | 120 N m |
    | 4   | fshin  | torque on the front shin  | -1  | 1   | 60 N m  |
    | 5   | ffoot  | torque on the front foot  | -1  | 1   | 30 N m  |

    ## Observation Space
    A `Box(-Inf, Inf, (17,), float64)`; 18 numbers, the first `rootx`, with
    `exclude_current_positions_from_observation` off.

    | Num   | Name                                      | Observation                     | Unit  |
    | ----- | ----------------------------------------- | ------------------------------- | ----- |
    | 0     | rootz                                     | height of the torso above its start | m |
    | 1     | rooty                                     | pitch of the torso              | rad   |
    | 2–7   | bthigh bshin bfoot fthigh fshin ffoot     | angles of the joints            | rad   |
    | 8, 9  | rootx_vel rootz_vel                       | velocity of the torso           | m/s   |
    | 10    | rooty_vel                                 | angular velocity of the torso   | rad/s |
    | 11–16 | bthigh_vel … ffoot_vel                    | angular velocities of the joints | rad/s |

    ## Rewards
    - *forward*: `forward_reward_weight` (1) × the velocity along x over the step, in m/s.
    - *ctrl*: −`ctrl_cost_weight` (0.1) × the squared length of the action.

    ## Starting State
    Positions start at 0 plus uniform noise within ±`reset_noise_scale`, velocities at normal noise with that standard
    deviation.

    ## Episode End
    ### Termination
    Never.

    ### Truncation
    - *time_limit*: after `episode_steps` (1000) steps.

    ## Arguments
    | Field                                        | Default | Meaning |
    | -------------------------------------------- | ------- | ---------------------------------- |
    | `forward_reward_weight`                      | 1       | weight of *forward* |
    | `ctrl_cost_weight`                           | 0.1     | weight of *ctrl* |
    | `reset_noise_scale`                          | 0.1     | noise of the start |
    | `exclude_current_positions_from_observation` | true    | leave x out |
    | `use_gravity`                                | true    | gravity |
    | `use_rest_springs`                           | true    | springs at the joints |
    | `frame_skip`                                 | 5       | simulation steps in one step |
    | `episode_steps`                              | 1000    | steps of the time limit; 0 is none |
    """

    follow_body = "torso"

    def load(self) -> Any:
        """Return Gymnasium's model, with the changes that the configuration asks for."""
        spec = load_spec(gymnasium_assets() / "half_cheetah.xml")
        if not self.config.use_gravity:
            spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
        if not self.config.use_rest_springs:
            for joint in spec.joints:
                joint.stiffness[:] = 0.0
        return spec

    def setup(self) -> None:
        """Keep room for the position before a step and the velocity over it."""
        self._x = self.qpos[:, 0]
        self._x_before = np.zeros(self.n_envs)
        self._x_velocity = np.zeros(self.n_envs)
        self._skip = 1 if self.config.exclude_current_positions_from_observation else 0

    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Start near rest, on all fours."""
        scale = self.config.reset_noise_scale
        qpos = self.model.qpos0 + noise.uniform(-scale, scale, self.model.nq)
        return qpos, scale * noise.standard_normal(self.model.nv)

    def observe(self) -> NDArray[Any]:
        """Return positions, without x unless it is asked for, and velocities."""
        return np.concatenate([self.qpos[:, self._skip :], self.qvel], axis=1)

    def name_observations(self) -> Sequence[str]:
        """Name the numbers after their joints."""
        joints = [self.model.joint(index).name for index in range(self.model.njnt)]
        return [*joints[self._skip :], *(f"{joint}_vel" for joint in joints)]

    def before_step(self) -> None:
        """Remember where the torso is."""
        self._x_before[:] = self._x

    def measure(self) -> None:
        """Compute how fast the torso went over the step."""
        np.subtract(self._x, self._x_before, out=self._x_velocity)
        self._x_velocity /= self.control_dt

    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Reward speed, and charge for effort."""
        return {
            "forward": self.config.forward_reward_weight * self._x_velocity,
            "ctrl": -(self.config.ctrl_cost_weight * np.square(actions).sum(axis=1)),
        }

    def info(self) -> Mapping[str, NDArray[Any]]:
        """Tell where the torso is and how fast it went."""
        return {"x_position": self._x, "x_velocity": self._x_velocity}
