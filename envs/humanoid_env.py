"""A humanoid that learns to walk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.simulation import BatchEnv, BatchEnvConfig, BodyBlocks, Noise, gymnasium_assets, load_spec


@dataclass(frozen=True)
class HumanoidEnvConfig(BatchEnvConfig):
    """What may differ between humanoids; names and defaults are those of Humanoid-v5."""

    frame_skip: int = 5
    """Simulation steps of 0.003 s in one control step."""
    forward_reward_weight: float = 1.25
    """Weight of the forward term."""
    ctrl_cost_weight: float = 0.1
    """Weight of the control term."""
    contact_cost_weight: float = 5e-7
    """Weight of the contact term."""
    contact_cost_range: tuple[float, float] = (float("-inf"), 10.0)
    """Range that the weighted contact cost is clipped to."""
    healthy_reward: float = 5.0
    """The survive term of every step after which the humanoid is healthy."""
    terminate_when_unhealthy: bool = True
    """End the episode when the humanoid is no longer healthy."""
    healthy_z_range: tuple[float, float] = (1.0, 2.0)
    """Heights of the torso at which the humanoid is healthy, in m."""
    reset_noise_scale: float = 1e-2
    """Half the width of the uniform noise on the start position and velocity."""
    exclude_current_positions_from_observation: bool = True
    """Leave the x- and y-coordinates out, so that a policy cannot depend on where it is."""
    include_cinert_in_observation: bool = True
    """Observe the inertia of each body."""
    include_cvel_in_observation: bool = True
    """Observe the velocity of each body."""
    include_qfrc_actuator_in_observation: bool = True
    """Observe the force of the actuators on each joint."""
    include_cfrc_ext_in_observation: bool = True
    """Observe the contact wrench of each body."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("contact_cost_range", "healthy_z_range"):
            low, high = getattr(self, name)
            if low > high:
                raise ValueError(f"{name} must rise, and is ({low}, {high})")


class HumanoidEnv(BatchEnv[HumanoidEnvConfig]):
    """A three-dimensional humanoid walks forward without falling over.

    ## Description
    The humanoid of Y. Tassa, T. Erez and E. Todorov, "Synthesis and Stabilization of Complex Behaviors through Online
    Trajectory Optimization": a torso with two legs and two arms, 17 actuated joints, and two tendons between hips and
    knees. Model, observation, reward and start are those of Gymnasium's `Humanoid-v5`, equal to it for every action
    within the bounds but for the contact block of the observation and the contact term, which are taken at another
    instant (below). The controller acts 67 times a second; the simulation runs at 333 Hz.

    ## Action Space
    A `Box(-0.4, 0.4, (17,), float32)`: torques at the joints, each in units of its own.

    | Num | Name            | Action                               | Min  | Max | Unit |
    | --- | --------------- | ------------------------------------ | ---- | --- | ---- |
    | 0   | abdomen_y       | torque that bends the abdomen        | -0.4 | 0.4 | 100 N m |
    | 1   | abdomen_z       | torque that turns the abdomen        | -0.4 | 0.4 | 100 N m |
    | 2   | abdomen_x       | torque that tilts the abdomen        | -0.4 | 0.4 | 100 N m |
    | 3   | right_hip_x     | torque at the right hip about x      | -0.4 | 0.4 | 100 N m |
    | 4   | right_hip_z     | torque at the right hip about z      | -0.4 | 0.4 | 100 N m |
    | 5   | right_hip_y     | torque at the right hip about y      | -0.4 | 0.4 | 300 N m |
    | 6   | right_knee      | torque at the right knee             | -0.4 | 0.4 | 200 N m |
    | 7   | left_hip_x      | torque at the left hip about x       | -0.4 | 0.4 | 100 N m |
    | 8   | left_hip_z      | torque at the left hip about z       | -0.4 | 0.4 | 100 N m |
    | 9   | left_hip_y      | torque at the left hip about y       | -0.4 | 0.4 | 300 N m |
    | 10  | left_knee       | torque at the left knee              | -0.4 | 0.4 | 200 N m |
    | 11  | right_shoulder1 | torque at the right shoulder, first  | -0.4 | 0.4 | 25 N m |
    | 12  | right_shoulder2 | torque at the right shoulder, second | -0.4 | 0.4 | 25 N m |
    | 13  | right_elbow     | torque at the right elbow            | -0.4 | 0.4 | 25 N m |
    | 14  | left_shoulder1  | torque at the left shoulder, first   | -0.4 | 0.4 | 25 N m |
    | 15  | left_shoulder2  | torque at the left shoulder, second  | -0.4 | 0.4 | 25 N m |
    | 16  | left_elbow      | torque at the left elbow             | -0.4 | 0.4 | 25 N m |

    ## Observation Space
    A `Box(-Inf, Inf, (348,), float64)`; 350 numbers, the first two `x y`, with
    `exclude_current_positions_from_observation` off; each block from 45 on has a switch of its own.

    | Num     | Name                            | Observation                                          | Unit       |
    | ------- | ------------------------------- | ---------------------------------------------------- | ---------- |
    | 0       | z                               | height of the torso                                  | m          |
    | 1–4     | quat_w quat_x quat_y quat_z     | orientation of the torso, as a quaternion            | –          |
    | 5–21    | abdomen_z … left_elbow          | angles of the joints                                 | rad        |
    | 22–24   | x_vel y_vel z_vel               | velocity of the torso                                | m/s        |
    | 25–27   | rot_x_vel rot_y_vel rot_z_vel   | angular velocity of the torso                        | rad/s      |
    | 28–44   | abdomen_z_vel … left_elbow_vel  | angular velocities of the joints                     | rad/s      |
    | 45–174 | torso_inertia_xx … left_lower_arm_mass | inertia, mass × offset, mass of 13 bodies | kg m², kg m, kg |
    | 175–252 | torso_spin_x … left_lower_arm_speed_z  | angular and linear velocity of each body      | rad/s, m/s |
    | 253–269 | abdomen_z_actuation … left_elbow_actuation | torque of the actuators at each joint     | N m        |
    | 270–347 | torso_torque_x … left_lower_arm_force_z | contact wrench on each body                  | N m, N     |

    Inertia and velocity are about the humanoid's centre of mass (MuJoCo's `cinert` and `cvel`). A body's contact wrench
    is torque, then force, of all its contacts, about the same point, in the world's axes: MuJoCo's `cfrc_ext`, at the
    state before the last simulation step. `Humanoid-v5` reads it from the last stage of the Runge-Kutta integrator
    instead.

    ## Rewards
    - *forward*: `forward_reward_weight` (1.25) × the velocity of the centre of mass along x over the step, in m/s.
    - *ctrl*: −`ctrl_cost_weight` (0.1) × the squared length of the action.
    - *contact*: −`contact_cost_weight` (5e-7) × the squared length of all contact wrenches, clipped to
      `contact_cost_range`.
    - *survive*: `healthy_reward` (5) if the humanoid is healthy after the step.

    ## Starting State
    Upright, the torso at 1.4 m, plus uniform noise within ±`reset_noise_scale` on every position and velocity.

    ## Episode End
    ### Termination
    - *unhealthy*: the torso's height is outside `healthy_z_range` ([1, 2] m), unless `terminate_when_unhealthy` is off.

    ### Truncation
    - *time_limit*: after `episode_steps` (1000) steps.

    ## Arguments
    | Field                                        | Default    | Meaning |
    | -------------------------------------------- | ---------- | ---------------------------------- |
    | `forward_reward_weight`                      | 1.25       | weight of *forward* |
    | `ctrl_cost_weight`                           | 0.1        | weight of *ctrl* |
    | `contact_cost_weight`                        | 5e-7       | weight of *contact* |
    | `contact_cost_range`                         | [-∞, 10]   | range of the weighted contact cost |
    | `healthy_reward`                             | 5          | value of *survive* |
    | `terminate_when_unhealthy`                   | true       | end when unhealthy |
    | `healthy_z_range`                            | [1, 2]     | healthy heights, m |
    | `reset_noise_scale`                          | 0.01       | noise of the start |
    | `exclude_current_positions_from_observation` | true       | leave x and y out |
    | `include_cinert_in_observation`              | true       | observe inertia |
    | `include_cvel_in_observation`                | true       | observe velocities of bodies |
    | `include_qfrc_actuator_in_observation`       | true       | observe forces of actuators |
    | `include_cfrc_ext_in_observation`            | true       | observe contact wrenches |
    | `frame_skip`                                 | 5          | simulation steps in one step |
    | `episode_steps`                              | 1000       | steps of the time limit; 0 is none |
    """

    follow_body = "torso"

    def load(self) -> Any:
        """Return Gymnasium's model with contact sensors."""
        spec = load_spec(gymnasium_assets() / "humanoid.xml")
        config = self.config
        self._blocks = BodyBlocks(
            spec,
            root="torso",
            inertia=config.include_cinert_in_observation,
            velocity=config.include_cvel_in_observation,
            actuation=config.include_qfrc_actuator_in_observation,
            contact=config.include_cfrc_ext_in_observation,
        )
        return spec

    def setup(self) -> None:
        """Bind what is read of bodies; centres of mass are a stage behind the state, as Gymnasium reads them."""
        self._blocks.bind(self.model, self.batch)
        self._centers = self.batch.bind("xipos")
        self._shares = self.model.body_mass / self.model.body_mass.sum()
        self._tendons = [self.batch.bind(field) for field in ("ten_length", "ten_velocity")]
        self._before = np.zeros((self.n_envs, 2))
        self._skip = 2 if self.config.exclude_current_positions_from_observation else 0

    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Start near rest, upright."""
        scale = self.config.reset_noise_scale
        qpos = self.model.qpos0 + noise.uniform(-scale, scale, self.model.nq)
        return qpos, noise.uniform(-scale, scale, self.model.nv)

    def measure(self) -> None:
        """Read the contact sensors once for observation and reward."""
        self._blocks.measure()

    def observe(self) -> NDArray[Any]:
        """Return positions, velocities, and what is told of every body."""
        return np.concatenate([self.qpos[:, self._skip :], self.qvel, *self._blocks.read()], axis=1)

    def name_observations(self) -> Sequence[str]:
        """Name the numbers after their joints and bodies."""
        joints = [self.model.joint(index).name for index in range(1, self.model.njnt)]
        turns = ["rot_x", "rot_y", "rot_z"]
        names = [*("x", "y")[: 2 - self._skip], "z", "quat_w", "quat_x", "quat_y", "quat_z", *joints]
        return [*names, *(f"{name}_vel" for name in ("x", "y", "z", *turns, *joints)), *self._blocks.name()]

    def before_step(self) -> None:
        """Remember where the centre of mass is."""
        self._before[:] = self._center()

    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Reward speed and health, and charge for effort and contact."""
        config = self.config
        return {
            "forward": config.forward_reward_weight * self._velocity()[:, 0],
            "ctrl": -(config.ctrl_cost_weight * np.square(self.ctrl).sum(axis=1)),
            "contact": -self._contact_cost(),
            "survive": config.healthy_reward * self._healthy(),
        }

    def terminations(self) -> Mapping[str, NDArray[np.bool_]]:
        """End when the humanoid is no longer healthy."""
        return {"unhealthy": ~self._healthy()} if self.config.terminate_when_unhealthy else {}

    def info(self) -> Mapping[str, NDArray[Any]]:
        """Tell where the torso is, how fast the centre of mass went, and how long the tendons are."""
        velocity = self._velocity()
        return {
            "x_position": self.qpos[:, 0],
            "y_position": self.qpos[:, 1],
            "tendon_length": self._tendons[0],
            "tendon_velocity": self._tendons[1],
            "distance_from_origin": np.hypot(self.qpos[:, 0], self.qpos[:, 1]),
            "x_velocity": velocity[:, 0],
            "y_velocity": velocity[:, 1],
        }

    def _center(self) -> NDArray[np.float64]:
        center: NDArray[np.float64] = np.einsum("b,nbj->nj", self._shares, self._centers)[:, :2]
        return center

    def _velocity(self) -> NDArray[np.float64]:
        velocity: NDArray[np.float64] = (self._center() - self._before) / self.control_dt
        return velocity

    def _contact_cost(self) -> NDArray[np.float64]:
        cost = self.config.contact_cost_weight * np.square(self._blocks.wrenches).sum(axis=(1, 2))
        clipped: NDArray[np.float64] = np.clip(cost, *self.config.contact_cost_range)
        return clipped

    def _healthy(self) -> NDArray[np.bool_]:
        low, high = self.config.healthy_z_range
        height = self.qpos[:, 2]
        return (low < height) & (height < high)
