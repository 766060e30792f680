"""A planar biped that learns to walk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.simulation import BatchEnv, BatchEnvConfig, Noise, gymnasium_assets, load_spec

FASTEST = 10.0
"""What observed velocities are clipped at, in m/s and rad/s, either side of zero."""


@dataclass(frozen=True)
class Walker2dEnvConfig(BatchEnvConfig):
    """What may differ between walkers; names and defaults are those of Walker2d-v5."""

    frame_skip: int = 4
    """Simulation steps of 0.002 s in one control step."""
    forward_reward_weight: float = 1.0
    """Weight of the forward term."""
    ctrl_cost_weight: float = 1e-3
    """Weight of the control term."""
    healthy_reward: float = 1.0
    """The survive term of every step after which the walker is healthy."""
    terminate_when_unhealthy: bool = True
    """End the episode when the walker is no longer healthy."""
    healthy_z_range: tuple[float, float] = (0.8, 2.0)
    """Heights of the torso at which the walker is healthy, in m."""
    healthy_angle_range: tuple[float, float] = (-1.0, 1.0)
    """Pitches of the torso at which the walker is healthy, in rad."""
    reset_noise_scale: float = 5e-3
    """Half the width of the uniform noise on the start position and velocity."""
    exclude_current_positions_from_observation: bool = True
    """Leave the x-coordinate out, so that a policy cannot depend on where it is."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("healthy_z_range", "healthy_angle_range"):
            low, high = getattr(self, name)
            if low > high:
                raise ValueError(f"{name} must rise, and is ({low}, {high})")


class Walker2dEnv(BatchEnv[Walker2dEnvConfig]):
    """A planar robot with two legs walks forward without falling.

    ## Description
    The hopper of T. Erez, Y. Tassa and E. Todorov, "Infinite-Horizon Model Predictive Control for Periodic Tasks with
    Contacts", with a second leg: seven links in a plane, with six actuated joints. Model, observation, reward and start
    are those of Gymnasium's `Walker2d-v5`, equal to it for every action within the bounds. The controller acts 125
    times a second; the simulation runs at 500 Hz.

    ## Action Space
    A `Box(-1, 1, (6,), float32)`: torques at the joints, as a share of 100 N m.

    | Num | Name             | Action                   | Min | Max | Unit    |
    | --- | ---------------- | ------------------------ | --- | --- | ------- |
    | 0   | thigh_joint      | torque at the right thigh | -1 | 1   | 100 N m |
    | 1   | leg_joint        | torque at the right leg  | -1  | 1   | 100 N m |
    | 2   | foot_joint       | torque at the right foot | -1  | 1   | 100 N m |
    | 3   | thigh_left_joint | torque at the left thigh | -1  | 1   | 100 N m |
    | 4   | leg_left_joint   | torque at the left leg   | -1  | 1   | 100 N m |
    | 5   | foot_left_joint  | torque at the left foot  | -1  | 1   | 100 N m |

    ## Observation Space
    A `Box(-Inf, Inf, (17,), float64)`; 18 numbers, the first `rootx`, with
    `exclude_current_positions_from_observation` off.

    | Num   | Name                                  | Observation                      | Unit  |
    | ----- | ------------------------------------- | -------------------------------- | ----- |
    | 0     | rootz                                 | height of the torso              | m     |
    | 1     | rooty                                 | pitch of the torso               | rad   |
    | 2–4   | thigh_joint leg_joint foot_joint      | angles of the right leg's joints | rad   |
    | 5–7   | thigh_left_joint … foot_left_joint    | angles of the left leg's joints  | rad   |
    | 8, 9  | rootx_vel rootz_vel                   | velocity of the torso            | m/s   |
    | 10    | rooty_vel                             | angular velocity of the torso    | rad/s |
    | 11–16 | thigh_joint_vel … foot_left_joint_vel | angular velocities of the joints | rad/s |

    Velocities are clipped to ±10.

    ## Rewards
    - *forward*: `forward_reward_weight` (1) × the velocity along x over the step, in m/s.
    - *ctrl*: −`ctrl_cost_weight` (1e-3) × the squared length of the action.
    - *survive*: `healthy_reward` (1) if the walker is healthy after the step.

    ## Starting State
    Upright, the torso at 1.25 m, plus uniform noise within ±`reset_noise_scale` on every position and velocity.

    ## Episode End
    ### Termination
    - *unhealthy*: the torso's height or pitch is outside its range, unless `terminate_when_unhealthy` is off.

    ### Truncation
    - *time_limit*: after `episode_steps` (1000) steps.

    ## Arguments
    | Field                                        | Default  | Meaning |
    | -------------------------------------------- | -------- | ---------------------------------- |
    | `forward_reward_weight`                      | 1        | weight of *forward* |
    | `ctrl_cost_weight`                           | 1e-3     | weight of *ctrl* |
    | `healthy_reward`                             | 1        | value of *survive* |
    | `terminate_when_unhealthy`                   | true     | end when unhealthy |
    | `healthy_z_range`                            | [0.8, 2] | healthy heights, m |
    | `healthy_angle_range`                        | [-1, 1]  | healthy pitches, rad |
    | `reset_noise_scale`                          | 5e-3     | noise of the start |
    | `exclude_current_positions_from_observation` | true     | leave x out |
    | `frame_skip`                                 | 4        | simulation steps in one step |
    | `episode_steps`                              | 1000     | steps of the time limit; 0 is none |
    """

    follow_body = "torso"

    def load(self) -> Any:
        """Return Gymnasium's model."""
        return load_spec(gymnasium_assets() / "walker2d_v5.xml")

    def setup(self) -> None:
        """Keep room for the position before a step."""
        self._x, self._z, self._pitch = (self.qpos[:, index] for index in range(3))
        self._x_before = np.zeros(self.n_envs)
        self._skip = 1 if self.config.exclude_current_positions_from_observation else 0

    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Start near rest, upright."""
        scale = self.config.reset_noise_scale
        qpos = self.model.qpos0 + noise.uniform(-scale, scale, self.model.nq)
        return qpos, noise.uniform(-scale, scale, self.model.nv)

    def observe(self) -> NDArray[Any]:
        """Return positions, without x unless it is asked for, and velocities."""
        return np.concatenate([self.qpos[:, self._skip :], np.clip(self.qvel, -FASTEST, FASTEST)], axis=1)

    def name_observations(self) -> Sequence[str]:
        """Name the numbers after their joints."""
        joints = [self.model.joint(index).name for index in range(self.model.njnt)]
        return [*joints[self._skip :], *(f"{joint}_vel" for joint in joints)]

    def before_step(self) -> None:
        """Remember where the torso is."""
        self._x_before[:] = self._x

    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Reward speed and health, and charge for effort."""
        return {
            "forward": self.config.forward_reward_weight * self._velocity(),
            "ctrl": -(self.config.ctrl_cost_weight * np.square(actions).sum(axis=1)),
            "survive": self.config.healthy_reward * self._healthy(),
        }

    def terminations(self) -> Mapping[str, NDArray[np.bool_]]:
        """End when the walker is no longer healthy."""
        return {"unhealthy": ~self._healthy()} if self.config.terminate_when_unhealthy else {}

    def info(self) -> Mapping[str, NDArray[Any]]:
        """Tell where the torso is and how fast it went."""
        return {
            "x_position": self._x,
            "z_distance_from_origin": self._z - self.model.qpos0[1],
            "x_velocity": self._velocity(),
        }

    def _velocity(self) -> NDArray[np.float64]:
        velocity: NDArray[np.float64] = (self._x - self._x_before) / self.control_dt
        return velocity

    def _healthy(self) -> NDArray[np.bool_]:
        (low_z, high_z), (low_angle, high_angle) = self.config.healthy_z_range, self.config.healthy_angle_range
        healthy: NDArray[np.bool_] = (low_z < self._z) & (self._z < high_z)
        return healthy & (low_angle < self._pitch) & (self._pitch < high_angle)
