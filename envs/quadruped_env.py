"""A four-legged robot that walks as fast as it is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.simulation import BatchEnv, BatchEnvConfig, Noise, find_asset, load_spec
from workbench.simulation.terms import TermSet, make_predicate, make_term

LEGS = ("front_left", "front_right", "back_left", "back_right")
FEET = [f"{leg}_foot" for leg in LEGS]
HOME = np.tile([0.0, 0.8, -1.5], len(LEGS))
"""The angles of a standing robot, in rad: abduction, hip and knee of each leg."""
HEIGHT_M = 0.32
"""Height of the trunk at the start, a little above where it stands."""
FOLLOWED = 0.25
"""The mean error of velocity, in m/s, up to which a command counts as followed."""
VELOCITY_NAMES = ("velocity_x", "velocity_y", "velocity_z")
VELOCITY_SCALE = 0.1
"""What joint velocities are observed in, so that they are of the size of the rest."""


@dataclass(frozen=True)
class QuadrupedEnvConfig(BatchEnvConfig):
    """What may differ between walks."""

    frame_skip: int = 5
    """Simulation steps of 0.004 s in one control step."""
    episode_steps: int = 500
    """Steps after which an episode is cut; 0 is no limit."""
    forward: tuple[float, float] = (-0.5, 1.0)
    """Range of the forward velocities that are commanded, in m/s."""
    sideways: tuple[float, float] = (-0.3, 0.3)
    """Range of the sideways velocities that are commanded, in m/s."""
    turning: tuple[float, float] = (-0.8, 0.8)
    """Range of the yaw rates that are commanded, in rad/s."""
    action_scale_rad: float = 0.4
    """How far an action of 1 moves a servo's angle from the standing one."""
    observe_velocity: bool = True
    """Observe the trunk's own velocity, which a real robot must estimate; a learner's critic sees it in any case."""


class QuadrupedEnv(BatchEnv[QuadrupedEnvConfig]):
    """A four-legged robot walks forward, sideways and around as fast as it is told.

    ## Description
    A robot of about 12 kg with twelve joints, whose servos hold angles. A command of forward and sideways velocity and
    yaw rate is drawn for each episode. The controller acts 50 times a second; the simulation runs at 250 Hz.

    ## Action Space
    A `Box(-1, 1, (12,), float32)`: the difference of each servo's angle from the standing one, in units of
    `action_scale_rad` (0.4 rad).

    | Num  | Name                                                   | Action                  | Min | Max | Unit    |
    | ---- | ------------------------------------------------------ | ----------------------- | --- | --- | ------- |
    | 0–2  | front_left_abduction front_left_hip front_left_knee    | angles, front left leg  | -1  | 1   | 0.4 rad |
    | 3–5  | front_right_abduction front_right_hip front_right_knee | angles, front right leg | -1  | 1   | 0.4 rad |
    | 6–8  | back_left_abduction back_left_hip back_left_knee       | angles, back left leg   | -1  | 1   | 0.4 rad |
    | 9–11 | back_right_abduction back_right_hip back_right_knee    | angles, back right leg  | -1  | 1   | 0.4 rad |

    ## Observation Space
    A `Box(-Inf, Inf, (48,), float64)`; 45 numbers, without the first three, with `observe_velocity` off.

    | Num   | Name                                   | Observation                                     | Unit       |
    | ----- | -------------------------------------- | ----------------------------------------------- | ---------- |
    | 0–2   | velocity_x velocity_y velocity_z       | velocity of the trunk, in its own axes          | m/s        |
    | 3–5   | spin_x spin_y spin_z                   | its angular velocity                            | rad/s      |
    | 6–8   | down_x down_y down_z                   | the direction of gravity, in its axes           | –          |
    | 9–11  | command_forward command_sideways command_turning | what is commanded                     | m/s, rad/s |
    | 12–23 | front_left_abduction … back_right_knee | angles of the joints, from the standing ones    | rad        |
    | 24–35 | front_left_abduction_vel … back_right_knee_vel | their velocities                        | 10 rad/s   |
    | 36–47 | front_left_abduction_last … back_right_knee_last | the action before                     | –          |

    ## Rewards
    - *track*: 1.5 × exp(−squared velocity error / 0.25) + 0.75 × exp(−squared yaw-rate error / 0.25).
    - *bounce*: −1 × the squared velocity along the trunk's z-axis.
    - *wobble*: −0.05 × the squared rate of roll and pitch.
    - *tilt*: −1 × the squared sine of the trunk's tilt.
    - *smooth*: −0.02 × the squared change of the action since the step before.
    - *energy*: −0.02 × the energy that the servos spent, in J.
    - *air_time*: 0.5 × how much longer than 0.15 s each foot was in the air, in s, where it comes down.

    ## Starting State
    Standing, with uniform noise within ±0.1 rad on the joints, and a random heading.

    ## Episode End
    ### Termination
    - *fallen*: the trunk is tilted by more than 60 degrees, or less than 0.14 m above the ground. This is failure.

    ### Truncation
    - *followed*: after `episode_steps` (500) steps, with a mean velocity error below 0.25 m/s. This is success.
    - *time_limit*: after as many steps otherwise.

    ## Arguments
    | Field              | Default     | Meaning |
    | ------------------ | ----------- | ---------------------------------- |
    | `forward`          | [-0.5, 1]   | commanded forward velocities, m/s |
    | `sideways`         | [-0.3, 0.3] | commanded sideways velocities, m/s |
    | `turning`          | [-0.8, 0.8] | commanded yaw rates, rad/s |
    | `action_scale_rad` | 0.4         | angle of an action of 1, rad |
    | `observe_velocity` | true        | observe the trunk's own velocity |
    | `frame_skip`       | 5           | simulation steps in one step |
    | `episode_steps`    | 500         | steps of the time limit; 0 is none |
    """

    follow_body = "trunk"
    successes = ("followed",)

    def load(self) -> Any:
        """Return the model, and declare rewards and endings over it."""
        spec = load_spec(find_asset("quadruped.xml", Path(__file__)))
        ranges = (self.config.forward, self.config.sideways, self.config.turning)
        self.terms = TermSet(
            spec,
            goals={"command": ([low for low, _ in ranges], [high for _, high in ranges])},
            rewards={
                "track": make_term("base_velocity_tracking", command="command", weight=1.5),
                "bounce": make_term("base_lin_vel_z"),
                "wobble": make_term("base_ang_vel_xy", weight=0.05),
                "tilt": make_term("base_orientation"),
                "smooth": make_term("action_rate", weight=0.02),
                "energy": make_term("energy", weight=0.02),
                "air_time": make_term("feet_air_time", feet=FEET, threshold=0.15, ground="floor", weight=0.5),
            },
            endings={
                "tipped": make_predicate("base_tipped", tol=0.5),
                "low": make_predicate("base_below_z", z=0.14),
            },
        )
        return spec

    def setup(self) -> None:
        """Keep the last action and the error so far."""
        self._last = np.zeros((self.n_envs, self.model.nu))
        self._error = np.zeros(self.n_envs)
        self._velocity, self._down = np.zeros((self.n_envs, 3)), np.zeros((self.n_envs, 3))

    def action_bounds(self) -> tuple[ArrayLike, ArrayLike]:
        """Return -1 and 1 for every servo."""
        return -np.ones(self.model.nu), np.ones(self.model.nu)

    def apply_action(self, actions: NDArray[Any]) -> None:
        """Let the servos hold the standing angles plus the action."""
        low, high = self.model.actuator_ctrlrange.T
        np.clip(HOME + self.config.action_scale_rad * actions, low, high, out=self.ctrl)
        self._last[:] = actions

    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Start standing, headed anywhere."""
        qpos = np.zeros((len(noise), self.model.nq))
        qpos[:, 2] = HEIGHT_M
        heading = noise.uniform(-np.pi, np.pi, 1)[:, 0]
        qpos[:, 3], qpos[:, 6] = np.cos(heading / 2), np.sin(heading / 2)
        qpos[:, 7:] = HOME + noise.uniform(-0.1, 0.1, len(HOME))
        self._last[noise.ids], self._error[noise.ids] = 0.0, 0.0
        return qpos, np.zeros((len(noise), self.model.nv))

    def measure(self) -> None:
        """Turn velocity and gravity into the trunk's own axes."""
        quaternion = self.qpos[:, 3:7]
        self._velocity[:] = to_body(quaternion, self.qvel[:, :3])
        self._down[:] = to_body(quaternion, np.broadcast_to([0.0, 0.0, -1.0], (self.n_envs, 3)))

    def observe(self) -> NDArray[Any]:
        """Return the trunk's motion, the command, the joints, and the action before."""
        parts = [
            self.qvel[:, 3:6],
            self._down,
            self.terms.goals["command"],
            self.qpos[:, 7:] - HOME,
            VELOCITY_SCALE * self.qvel[:, 6:],
            self._last,
        ]
        return np.concatenate([self._velocity, *parts] if self.config.observe_velocity else parts, axis=1)

    def name_observations(self) -> Sequence[str]:
        """Name the numbers after what they are of."""
        joints = [self.model.joint(index).name for index in range(1, self.model.njnt)]
        velocity = VELOCITY_NAMES if self.config.observe_velocity else ()
        names = [*velocity, *(f"{what}_{axis}" for what in ("spin", "down") for axis in "xyz")]
        names += [f"command_{way}" for way in ("forward", "sideways", "turning")]
        return [*names, *(f"{joint}{suffix}" for suffix in ("", "_vel", "_last") for joint in joints)]

    def critic_observe(self) -> NDArray[Any]:
        """Let a learner's critic see the velocity; where the policy observes it too, it is the same."""
        return self._velocity

    def name_critic_observations(self) -> Sequence[str]:
        """Name the velocity as the observations do."""
        return VELOCITY_NAMES

    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Reward the commanded walk, and charge for what shakes and tires."""
        self._error += np.linalg.norm(self._velocity[:, :2] - self.terms.goals["command"][:, :2], axis=1)
        return self.terms.rewards()

    def terminations(self) -> Mapping[str, NDArray[np.bool_]]:
        """End when the robot has fallen."""
        return {"fallen": np.any(list(self.terms.endings().values()), axis=0)}

    def truncations(self) -> Mapping[str, NDArray[np.bool_]]:
        """Call an episode that followed its command by its name."""
        if not self.episode_steps:
            return {}
        over = self.elapsed >= self.episode_steps
        return {"followed": over & (self._error < FOLLOWED * np.maximum(self.lengths, 1))}

    def info(self) -> Mapping[str, NDArray[Any]]:
        """Tell how far the velocity is from the commanded one."""
        error = np.linalg.norm(self._velocity[:, :2] - self.terms.goals["command"][:, :2], axis=1)
        return {"velocity_error": error}


def to_body(quaternions: NDArray[np.float64], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return vectors (n, 3) of the world in the axes of bodies with orientations (n, 4)."""
    scalar, axis = quaternions[:, :1], -quaternions[:, 1:]
    across = 2 * np.cross(axis, vectors)
    turned: NDArray[np.float64] = vectors + scalar * across + np.cross(axis, across)
    return turned
