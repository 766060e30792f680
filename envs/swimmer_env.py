"""A planar chain that learns to swim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.simulation import BatchEnv, BatchEnvConfig, Noise, gymnasium_assets, load_spec


@dataclass(frozen=True)
class SwimmerEnvConfig(BatchEnvConfig):
    """What may differ between swimmers; names and defaults are those of Swimmer-v5."""

    frame_skip: int = 4
    """Simulation steps of 0.01 s in one control step."""
    forward_reward_weight: float = 1.0
    """Weight of the forward term."""
    ctrl_cost_weight: float = 1e-4
    """Weight of the control term."""
    reset_noise_scale: float = 0.1
    """Half the width of the uniform noise on the start position and velocity."""
    exclude_current_positions_from_observation: bool = True
    """Leave the x- and y-coordinates out, so that a policy cannot depend on where it is."""


class SwimmerEnv(BatchEnv[SwimmerEnvConfig]):
    """A chain of three links swims forward in a viscous fluid.

    ## Description
    The swimmer of R. Coulom's thesis, "Reinforcement Learning Using Neural Networks, with Applications to Motor
    Control": three links in a plane, with two actuated joints, in a fluid that resists them. Model, observation,
    reward and start are those of Gymnasium's `Swimmer-v5`, equal to it for every action within the bounds. The
    controller acts 25 times a second; the simulation runs at 100 Hz.

    ## Action Space
    A `Box(-1, 1, (2,), float32)`: torques at the joints, as a share of 150 N m.

    | Num | Name       | Action                     | Min | Max | Unit    |
    | --- | ---------- | -------------------------- | --- | --- | ------- |
    | 0   | motor1_rot | torque at the first joint  | -1  | 1   | 150 N m |
    | 1   | motor2_rot | torque at the second joint | -1  | 1   | 150 N m |

    ## Observation Space
    A `Box(-Inf, Inf, (8,), float64)`; 10 numbers, the first two `slider1 slider2`, the tip's x and y in m, with
    `exclude_current_positions_from_observation` off.

    | Num  | Name                          | Observation                      | Unit  |
    | ---- | ----------------------------- | -------------------------------- | ----- |
    | 0    | free_body_rot                 | angle of the front link          | rad   |
    | 1, 2 | motor1_rot motor2_rot         | angles of the joints             | rad   |
    | 3, 4 | slider1_vel slider2_vel       | velocity of the tip along x, y   | m/s   |
    | 5    | free_body_rot_vel             | angular velocity of the front link | rad/s |
    | 6, 7 | motor1_rot_vel motor2_rot_vel | angular velocities of the joints | rad/s |

    ## Rewards
    - *forward*: `forward_reward_weight` (1) × the velocity along x over the step, in m/s.
    - *ctrl*: −`ctrl_cost_weight` (1e-4) × the squared length of the action.

    ## Starting State
    Positions and velocities start at 0 plus uniform noise within ±`reset_noise_scale`.

    ## Episode End
    ### Termination
    Never.

    ### Truncation
    - *time_limit*: after `episode_steps` (1000) steps.

    ## Arguments
    | Field                                        | Default | Meaning |
    | -------------------------------------------- | ------- | ---------------------------------- |
    | `forward_reward_weight`                      | 1       | weight of *forward* |
    | `ctrl_cost_weight`                           | 1e-4    | weight of *ctrl* |
    | `reset_noise_scale`                          | 0.1     | noise of the start |
    | `exclude_current_positions_from_observation` | true    | leave x and y out |
    | `frame_skip`                                 | 4       | simulation steps in one step |
    | `episode_steps`                              | 1000    | steps of the time limit; 0 is none |
    """

    follow_body = "torso"

    def load(self) -> Any:
        """Return Gymnasium's model."""
        return load_spec(gymnasium_assets() / "swimmer.xml")

    def setup(self) -> None:
        """Keep room for the position before a step."""
        self._tip = self.qpos[:, :2]
        self._before = np.zeros((self.n_envs, 2))
        self._skip = 2 if self.config.exclude_current_positions_from_observation else 0

    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Start near rest, stretched out."""
        scale = self.config.reset_noise_scale
        qpos = self.model.qpos0 + noise.uniform(-scale, scale, self.model.nq)
        return qpos, noise.uniform(-scale, scale, self.model.nv)

    def observe(self) -> NDArray[Any]:
        """Return positions, without x and y unless they are asked for, and velocities."""
        return np.concatenate([self.qpos[:, self._skip :], self.qvel], axis=1)

    def name_observations(self) -> Sequence[str]:
        """Name the numbers after their joints."""
        joints = [self.model.joint(index).name for index in range(self.model.njnt)]
        return [*joints[self._skip :], *(f"{joint}_vel" for joint in joints)]

    def before_step(self) -> None:
        """Remember where the tip is."""
        self._before[:] = self._tip

    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Reward speed, and charge for effort."""
        return {
            "forward": self.config.forward_reward_weight * self._velocity()[:, 0],
            "ctrl": -(self.config.ctrl_cost_weight * np.square(actions).sum(axis=1)),
        }

    def info(self) -> Mapping[str, NDArray[Any]]:
        """Tell where the tip is and how fast it went."""
        velocity = self._velocity()
        return {
            "x_position": self._tip[:, 0],
            "y_position": self._tip[:, 1],
            "distance_from_origin": np.hypot(self._tip[:, 0], self._tip[:, 1]),
            "x_velocity": velocity[:, 0],
            "y_velocity": velocity[:, 1],
        }

    def _velocity(self) -> NDArray[np.float64]:
        velocity: NDArray[np.float64] = (self._tip - self._before) / self.control_dt
        return velocity
