"""A pole balanced on a cart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.simulation import TIME_LIMIT, BatchEnv, BatchEnvConfig, Noise, find_asset, load_spec

POLE_GEAR = 10.0
"""Torque on the pole for one unit of action, in N m; on the cart it is 100 N, the gear of the model's motor."""
CART_DAMPING = 5.0
"""In N s/m."""
POLE_DAMPING = 0.5
"""In N m s/rad."""


@dataclass(frozen=True)
class CartPoleEnvConfig(BatchEnvConfig):
    """What may differ between cart-poles."""

    frame_skip: int = 2
    """Simulation steps of 0.02 s in one control step."""
    reset_noise_scale: float = 0.1
    """Half the width of the uniform noise on the start position, and the standard deviation of the start velocity."""
    angle_limit_rad: float = 0.2
    """The angle from the vertical up to which the pole counts as upright, in rad."""
    actuate_on_pole: bool = False
    """Let the action turn the pole at its hinge instead of pushing the cart."""
    use_damping: bool = False
    """Damp the cart (5 N s/m) and the hinge (0.5 N m s/rad)."""
    use_gravity: bool = True
    """Let things fall."""
    free_pole: bool = False
    """Let the pole turn all the way round: no angle ends the episode."""


class CartPoleEnv(BatchEnv[CartPoleEnvConfig]):
    """A cart on a rail keeps a pole upright.

    ## Description
    A pole of 1.2 m and 1 kg is hinged on a cart of 8 kg that runs on a straight rail without end. Pushing the cart left
    and right must keep the pole from falling. The controller acts 25 times a second; the simulation runs at 50 Hz.

    ## Action Space
    A `Box(-3, 3, (1,), float32)`.

    | Num | Name       | Action                    | Min | Max | Unit  |
    | --- | ---------- | ------------------------- | --- | --- | ----- |
    | 0   | cart_force | push on the cart along x  | -3  | 3   | 100 N |

    With `actuate_on_pole` it is *pole_torque*, a torque on the pole at its hinge, in units of 10 N m.

    ## Observation Space
    A `Box(-Inf, Inf, (4,), float64)`.

    | Num | Name         | Observation                                           | Unit  |
    | --- | ------------ | ----------------------------------------------------- | ----- |
    | 0   | angular_vel  | angular velocity of the pole                          | rad/s |
    | 1   | linear_vel   | velocity of the cart along x                          | m/s   |
    | 2   | position     | position of the cart along x                          | m     |
    | 3   | vertical_ang | angle of the pole from the vertical, positive towards +x, in [-π, π) | rad |

    ## Rewards
    - *upright*: 1 for every step after which the pole is within `angle_limit_rad` of the vertical, else 0.

    A perfect episode returns 1000.

    ## Starting State
    Cart and pole start at 0 plus uniform noise within ±`reset_noise_scale` (m, rad), their velocities at normal noise
    with that standard deviation (m/s, rad/s).

    ## Episode End
    ### Termination
    - *pole_angle*: the pole is more than `angle_limit_rad` from the vertical (never with `free_pole`).

    ### Truncation
    - *time_limit*: after `episode_steps` (1000) steps. This is success: the pole still stands.

    ## Arguments
    | Field               | Default | Meaning |
    | ------------------- | ------- | ----------------------------------------------------- |
    | `reset_noise_scale` | 0.1     | noise of the start |
    | `angle_limit_rad`   | 0.2     | greatest angle that counts as upright, rad |
    | `actuate_on_pole`   | false   | turn the pole instead of pushing the cart |
    | `use_damping`       | false   | damp the cart (5 N s/m) and the hinge (0.5 N m s/rad) |
    | `use_gravity`       | true    | gravity |
    | `free_pole`         | false   | no angle ends the episode |
    | `frame_skip`        | 2       | simulation steps in one step |
    | `episode_steps`     | 1000    | steps of the time limit; 0 is none |
    """

    follow_body = "cart"
    successes = (TIME_LIMIT,)

    def load(self) -> Any:
        """Return the model, with the changes that the configuration asks for."""
        spec = load_spec(find_asset("cart_pole.xml", Path(__file__)))
        if self.config.actuate_on_pole:
            motor = spec.actuator("cart_force")
            motor.name = "pole_torque"
            motor.target = "hinge"
            motor.gear = [POLE_GEAR, 0, 0, 0, 0, 0]
        if self.config.use_damping:
            spec.joint("slider").damping[0] = CART_DAMPING
            spec.joint("hinge").damping[0] = POLE_DAMPING
        if not self.config.use_gravity:
            spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
        return spec

    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Start near rest, upright."""
        scale = self.config.reset_noise_scale
        qpos = noise.uniform(-scale, scale, self.model.nq)
        return qpos, scale * noise.standard_normal(self.model.nv)

    def measure(self) -> None:
        """Bring the angle into one turn: the hinge counts its turns."""
        self._angle = np.mod(self.qpos[:, 1] + np.pi, 2 * np.pi) - np.pi

    def observe(self) -> NDArray[Any]:
        """Return velocities and positions, in the alphabetical order of their names."""
        return np.stack([self.qvel[:, 1], self.qvel[:, 0], self.qpos[:, 0], self._angle], axis=1)

    def name_observations(self) -> Sequence[str]:
        """Name the four numbers."""
        return ("angular_vel", "linear_vel", "position", "vertical_ang")

    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Reward being upright."""
        return {"upright": (np.abs(self._angle) <= self.config.angle_limit_rad).astype(np.float64)}

    def terminations(self) -> Mapping[str, NDArray[np.bool_]]:
        """End when the pole has fallen too far."""
        if self.config.free_pole:
            return {}
        return {"pole_angle": np.abs(self._angle) > self.config.angle_limit_rad}
