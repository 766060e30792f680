"""Two poles, one on the other, balanced on a cart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.simulation import TIME_LIMIT, BatchEnv, BatchEnvConfig, Noise, gymnasium_assets, load_spec

LARGEST = 10.0
"""What observed velocities (m/s, rad/s) and the rail's force (N) are clipped at, either side of zero."""
FALLEN_M = 1.0
"""The height of the tip at which the poles have fallen; upright it is 1.2 m above the cart."""


@dataclass(frozen=True)
class InvertedDoublePendulumEnvConfig(BatchEnvConfig):
    """What may differ between double pendulums; names and defaults are those of InvertedDoublePendulum-v5."""

    frame_skip: int = 5
    """Simulation steps of 0.01 s in one control step."""
    healthy_reward: float = 10.0
    """The survive term of every step after which the poles still stand."""
    reset_noise_scale: float = 0.1
    """Half the width of the uniform noise on the start position, and the standard deviation of the start velocity."""


class InvertedDoublePendulumEnv(BatchEnv[InvertedDoublePendulumEnvConfig]):
    """A cart on a rail keeps two poles upright, one standing on the other.

    ## Description
    Two poles of 0.6 m are hinged one on the other, and the lower one on a cart. Pushing the cart left and right must
    keep both from falling. Model, observation, reward and start are those of Gymnasium's `InvertedDoublePendulum-v5`,
    equal to it for every action within the bounds. The controller acts 20 times a second; the simulation runs at
    100 Hz.

    ## Action Space
    A `Box(-1, 1, (1,), float32)`.

    | Num | Name  | Action                   | Min | Max | Unit  |
    | --- | ----- | ------------------------ | --- | --- | ----- |
    | 0   | slide | push on the cart along x | -1  | 1   | 500 N |

    ## Observation Space
    A `Box(-Inf, Inf, (9,), float64)`.

    | Num  | Name                  | Observation                                         | Unit  |
    | ---- | --------------------- | --------------------------------------------------- | ----- |
    | 0    | slider                | position of the cart along x                        | m     |
    | 1, 2 | hinge_sin hinge2_sin  | sines of the angles of the lower and the upper pole | –     |
    | 3, 4 | hinge_cos hinge2_cos  | their cosines                                       | –     |
    | 5    | slider_vel            | velocity of the cart                                | m/s   |
    | 6, 7 | hinge_vel hinge2_vel  | angular velocities of the poles                     | rad/s |
    | 8    | slider_constraint     | force of the rail's end on the cart                 | N     |

    Velocities and the force are clipped to ±10. The upper pole's angle is measured from the lower pole.

    ## Rewards
    - *survive*: `healthy_reward` (10) for every step after which the poles still stand.
    - *distance_penalty*: −(0.01 × x² + (y − 2)²) of the tip at x, y in m.
    - *velocity_penalty*: −(1e-3 × the square of the lower pole's angular velocity + 5e-3 × that of the upper one's).

    ## Starting State
    Positions start at 0 plus uniform noise within ±`reset_noise_scale`, velocities at normal noise with that standard
    deviation.

    ## Episode End
    ### Termination
    - *fallen*: the tip is no higher than 1 m.

    ### Truncation
    - *time_limit*: after `episode_steps` (1000) steps. This is success: both poles still stand.

    ## Arguments
    | Field               | Default | Meaning |
    | ------------------- | ------- | ---------------------------------- |
    | `healthy_reward`    | 10      | value of *survive* |
    | `reset_noise_scale` | 0.1     | noise of the start |
    | `frame_skip`        | 5       | simulation steps in one step |
    | `episode_steps`     | 1000    | steps of the time limit; 0 is none |
    """

    successes = (TIME_LIMIT,)

    def load(self) -> Any:
        """Return Gymnasium's model."""
        return load_spec(gymnasium_assets() / "inverted_double_pendulum.xml")

    def setup(self) -> None:
        """Bind the tip and the rail's force, both of the last integration stage, as Gymnasium reads them."""
        self._tip = self.batch.bind("site_xpos")[:, 0]
        self._constraint = self.batch.bind("qfrc_constraint")[:, :1]

    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Start near rest, upright."""
        scale = self.config.reset_noise_scale
        qpos = self.model.qpos0 + noise.uniform(-scale, scale, self.model.nq)
        return qpos, scale * noise.standard_normal(self.model.nv)

    def observe(self) -> NDArray[Any]:
        """Return position, sines and cosines of the angles, velocities, and the force of the rail's end."""
        angles = self.qpos[:, 1:]
        clipped = (np.clip(values, -LARGEST, LARGEST) for values in (self.qvel, self._constraint))
        return np.concatenate([self.qpos[:, :1], np.sin(angles), np.cos(angles), *clipped], axis=1)

    def name_observations(self) -> Sequence[str]:
        """Name the nine numbers."""
        angles = [f"{joint}_{part}" for part in ("sin", "cos") for joint in ("hinge", "hinge2")]
        return ("slider", *angles, "slider_vel", "hinge_vel", "hinge2_vel", "slider_constraint")

    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Reward standing, and charge for leaving the place and for speed."""
        x, y = self._tip[:, 0], self._tip[:, 2]
        lower, upper = self.qvel[:, 1], self.qvel[:, 2]
        return {
            "survive": self.config.healthy_reward * ~self._fallen(),
            "distance_penalty": -(0.01 * np.square(x) + np.square(y - 2)),
            "velocity_penalty": -(1e-3 * np.square(lower) + 5e-3 * np.square(upper)),
        }

    def terminations(self) -> Mapping[str, NDArray[np.bool_]]:
        """End when the poles have fallen."""
        return {"fallen": self._fallen()}

    def _fallen(self) -> NDArray[np.bool_]:
        fallen: NDArray[np.bool_] = self._tip[:, 2] <= FALLEN_M
        return fallen
