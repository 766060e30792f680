"""A four-legged ant that learns to walk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.simulation import BatchEnv, BatchEnvConfig, ContactWrenches, Noise, gymnasium_assets, load_spec

TORSO = 1
"""The body whose displacement is rewarded."""


@dataclass(frozen=True)
class AntEnvConfig(BatchEnvConfig):
    """What may differ between ants; names and defaults are those of Ant-v5 where it has them."""

    frame_skip: int = 5
    """Simulation steps of 0.01 s in one control step."""
    forward_reward_weight: float = 1.0
    """Weight of the forward term."""
    ctrl_cost_weight: float = 0.5
    """Weight of the control term."""
    contact_cost_weight: float = 5e-4
    """Weight of the contact term."""
    healthy_reward: float = 1.0
    """The survive term of every step after which the ant is healthy."""
    terminate_when_unhealthy: bool = True
    """End the episode when the ant is no longer healthy."""
    healthy_z_range: tuple[float, float] = (0.2, 1.0)
    """Heights of the torso at which the ant is healthy, in m."""
    contact_force_range: tuple[float, float] = (-1.0, 1.0)
    """Range that contact forces (N) and torques (N m) are clipped to, in observation and cost."""
    reset_noise_scale: float = 0.1
    """Half the width of the uniform noise on the start position, and the standard deviation of the start velocity."""
    exclude_current_positions_from_observation: bool = True
    """Leave the x- and y-coordinates out, so that a policy cannot depend on where it is."""
    include_contact_in_observation: bool = True
    """Observe the contact wrench of each body."""
    use_rotation_vector: bool = False
    """Observe the torso's orientation as a rotation vector (axis times angle) instead of a quaternion."""
    use_gravity: bool = True
    """Let things fall."""
    use_damping: bool = True
    """Keep the damping of the joints."""
    friction: float = 1.0
    """Sliding friction of every geom."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("healthy_z_range", "contact_force_range"):
            low, high = getattr(self, name)
            if low > high:
                raise ValueError(f"{name} must rise, and is ({low}, {high})")


class AntEnv(BatchEnv[AntEnvConfig]):
    """A four-legged robot walks forward without falling over.

    ## Description
    The ant of J. Schulman et al., "High-Dimensional Continuous Control Using Generalized Advantage Estimation": a
    torso with four legs of two links. Model, observation, reward and start are those of Gymnasium's `Ant-v5`, equal to
    it for every action within the bounds but for the contact block of the observation and the contact term, which are
    taken at another instant (below). The controller acts 20 times a second; the simulation runs at 100 Hz.

    ## Action Space
    A `Box(-1, 1, (8,), float32)`: torques at the joints, as a share of 150 N m.

    | Num | Name    | Action                              | Min | Max | Unit    |
    | --- | ------- | ----------------------------------- | --- | --- | ------- |
    | 0   | hip_4   | torque at the right back leg's hip   | -1  | 1   | 150 N m |
    | 1   | ankle_4 | torque at the right back leg's ankle | -1  | 1   | 150 N m |
    | 2   | hip_1   | torque at the front left leg's hip   | -1  | 1   | 150 N m |
    | 3   | ankle_1 | torque at the front left leg's ankle | -1  | 1   | 150 N m |
    | 4   | hip_2   | torque at the front right leg's hip  | -1  | 1   | 150 N m |
    | 5   | ankle_2 | torque at the front right leg's ankle | -1 | 1   | 150 N m |
    | 6   | hip_3   | torque at the back left leg's hip    | -1  | 1   | 150 N m |
    | 7   | ankle_3 | torque at the back left leg's ankle  | -1  | 1   | 150 N m |

    ## Observation Space
    A `Box(-Inf, Inf, (105,), float64)`; 107 numbers, the first two `x y`, with
    `exclude_current_positions_from_observation` off; 27 with `include_contact_in_observation` off.

    | Num    | Name                       | Observation                                             | Unit    |
    | ------ | -------------------------- | ------------------------------------------------------- | ------- |
    | 0      | z                          | height of the torso                                     | m       |
    | 1–4    | quat_w quat_x quat_y quat_z | orientation of the torso, as a quaternion               | –       |
    | 5–12   | hip_1 ankle_1 … ankle_4    | angles of the joints                                    | rad     |
    | 13–15  | x_vel y_vel z_vel          | velocity of the torso                                   | m/s     |
    | 16–18  | rot_x_vel rot_y_vel rot_z_vel | angular velocity of the torso                        | rad/s   |
    | 19–26  | hip_1_vel … ankle_4_vel    | angular velocities of the joints                        | rad/s   |
    | 27–104 | torso_torque_x … body_13_force_z | contact wrench on each of the 13 bodies           | N m, N  |

    With `use_rotation_vector` the quaternion becomes three numbers `rot_x rot_y rot_z`, in rad. A body's contact wrench
    is torque, then force, of all its contacts, about the ant's centre of mass, in the world's axes, clipped to
    `contact_force_range`: MuJoCo's `cfrc_ext`, at the state before the last simulation step. `Ant-v5` reads it from the
    last stage of the Runge-Kutta integrator instead.

    ## Rewards
    - *forward*: `forward_reward_weight` (1) × the torso's velocity along x over the step, in m/s.
    - *ctrl*: −`ctrl_cost_weight` (0.5) × the squared length of the action.
    - *contact*: −`contact_cost_weight` (5e-4) × the squared length of all contact wrenches, clipped.
    - *survive*: `healthy_reward` (1) if the ant is healthy after the step.

    ## Starting State
    The torso at height 0.75 m, plus uniform noise within ±`reset_noise_scale` on every position; velocities at normal
    noise with that standard deviation.

    ## Episode End
    ### Termination
    - *unhealthy*: the torso's height is outside `healthy_z_range` ([0.2, 1] m), unless `terminate_when_unhealthy` is
      off.

    ### Truncation
    - *time_limit*: after `episode_steps` (1000) steps.

    ## Arguments
    | Field                                        | Default  | Meaning |
    | -------------------------------------------- | -------- | --------------------------------------- |
    | `forward_reward_weight`                      | 1        | weight of *forward* |
    | `ctrl_cost_weight`                           | 0.5      | weight of *ctrl* |
    | `contact_cost_weight`                        | 5e-4     | weight of *contact* |
    | `healthy_reward`                             | 1        | value of *survive* |
    | `terminate_when_unhealthy`                   | true     | end when unhealthy |
    | `healthy_z_range`                            | [0.2, 1] | healthy heights, m |
    | `contact_force_range`                        | [-1, 1]  | clip of the contact wrenches, N and N m |
    | `reset_noise_scale`                          | 0.1      | noise of the start |
    | `exclude_current_positions_from_observation` | true     | leave x and y out |
    | `include_contact_in_observation`             | true     | observe contact wrenches |
    | `use_rotation_vector`                        | false    | rotation vector instead of quaternion |
    | `use_gravity`                                | true     | gravity |
    | `use_damping`                                | true     | damping of the joints |
    | `friction`                                   | 1        | sliding friction of every geom |
    | `frame_skip`                                 | 5        | simulation steps in one step |
    | `episode_steps`                              | 1000     | steps of the time limit; 0 is none |
    """

    follow_body = "torso"

    def load(self) -> Any:
        """Return Gymnasium's model with contact sensors, and the changes that the configuration asks for."""
        spec = load_spec(gymnasium_assets() / "ant.xml")
        if not self.config.use_gravity:
            spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
        if not self.config.use_damping:
            for joint in spec.joints:
                joint.damping[:] = 0.0
        if self.config.friction != 1.0:
            for geom in spec.geoms:
                geom.friction[0] = self.config.friction
        self._contacts = ContactWrenches(spec, root="torso")
        return spec

    def setup(self) -> None:
        """Bind the torso's position and the contact sensors."""
        # A step behind the state, as Gymnasium reads it.
        self._torso = self.batch.bind("xpos")[:, TORSO]
        self._contacts.bind(self.model, self.batch.bind("sensordata"))
        self._before = np.zeros((self.n_envs, 2))
        self._wrenches = np.zeros((self.n_envs, len(self._contacts.bodies), 6))
        self._skip = 2 if self.config.exclude_current_positions_from_observation else 0

    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Start near rest, above the floor."""
        scale = self.config.reset_noise_scale
        qpos = self.model.qpos0 + noise.uniform(-scale, scale, self.model.nq)
        return qpos, scale * noise.standard_normal(self.model.nv)

    def measure(self) -> None:
        """Read the contact sensors once for observation and reward."""
        np.clip(self._contacts.read(), *self.config.contact_force_range, out=self._wrenches)

    def observe(self) -> NDArray[Any]:
        """Return positions, velocities and contact wrenches."""
        parts = [self.qpos[:, self._skip :], self.qvel]
        if self.config.use_rotation_vector:
            parts[:1] = [self.qpos[:, self._skip : 3], rotation_vector(self.qpos[:, 3:7]), self.qpos[:, 7:]]
        if self.config.include_contact_in_observation:
            parts.append(self._wrenches.reshape(self.n_envs, -1))
        return np.concatenate(parts, axis=1)

    def name_observations(self) -> Sequence[str]:
        """Name the numbers after their joints and bodies."""
        joints = [self.model.joint(index).name for index in range(1, self.model.njnt)]
        turn = ["rot_x", "rot_y", "rot_z"]
        names = [*("x", "y")[: 2 - self._skip], "z"]
        names += turn if self.config.use_rotation_vector else ["quat_w", "quat_x", "quat_y", "quat_z"]
        names += joints
        names += [f"{name}_vel" for name in ("x", "y", "z", *turn, *joints)]
        if self.config.include_contact_in_observation:
            kinds = [f"{kind}_{axis}" for kind in ("torque", "force") for axis in "xyz"]
            names += [f"{body}_{kind}" for body in self._contacts.bodies for kind in kinds]
        return names

    def before_step(self) -> None:
        """Remember where the torso is."""
        self._before[:] = self._torso[:, :2]

    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Reward speed and health, and charge for effort and contact."""
        config = self.config
        return {
            "forward": config.forward_reward_weight * self._velocity()[:, 0],
            "ctrl": -(config.ctrl_cost_weight * np.square(actions).sum(axis=1)),
            "contact": -(config.contact_cost_weight * np.square(self._wrenches).sum(axis=(1, 2))),
            "survive": config.healthy_reward * self._healthy(),
        }

    def terminations(self) -> Mapping[str, NDArray[np.bool_]]:
        """End when the ant is no longer healthy."""
        return {"unhealthy": ~self._healthy()} if self.config.terminate_when_unhealthy else {}

    def info(self) -> Mapping[str, NDArray[Any]]:
        """Tell where the torso is and how fast it went."""
        velocity = self._velocity()
        return {
            "x_position": self.qpos[:, 0],
            "y_position": self.qpos[:, 1],
            "distance_from_origin": np.hypot(self.qpos[:, 0], self.qpos[:, 1]),
            "x_velocity": velocity[:, 0],
            "y_velocity": velocity[:, 1],
        }

    def _velocity(self) -> NDArray[np.float64]:
        velocity: NDArray[np.float64] = (self._torso[:, :2] - self._before) / self.control_dt
        return velocity

    def _healthy(self) -> NDArray[np.bool_]:
        low, high = self.config.healthy_z_range
        height = self.qpos[:, 2]
        return (low <= height) & (height <= high)


def rotation_vector(quaternions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rotations of quaternions (n, 4), which need not have unit length, as axis times angle in rad (n, 3).

    The angle is in [0, π]: a quaternion and its negative are one rotation.
    """
    unit = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
    unit = np.where(unit[:, :1] < 0, -unit, unit)
    sine = np.linalg.norm(unit[:, 1:], axis=1, keepdims=True)
    angle = 2 * np.arctan2(sine, unit[:, :1])
    # Near the identity angle / sine tends to 2.
    factor = np.divide(angle, sine, out=np.full_like(angle, 2.0), where=sine > 1e-12)
    vector: NDArray[np.float64] = unit[:, 1:] * factor
    return vector
