"""A pole balanced on a cart that runs on a short rail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.simulation import TIME_LIMIT, BatchEnv, BatchEnvConfig, Noise, gymnasium_assets, load_spec

TILT_LIMIT_RAD = 0.2
"""The angle from the vertical at which the pole has fallen."""


@dataclass(frozen=True)
class InvertedPendulumEnvConfig(BatchEnvConfig):
    """What may differ between inverted pendulums; names and defaults are those of InvertedPendulum-v5."""

    frame_skip: int = 2
    """Simulation steps of 0.02 s in one control step."""
    reset_noise_scale: float = 0.01
    """Half the width of the uniform noise on the start position and velocity."""


class InvertedPendulumEnv(BatchEnv[InvertedPendulumEnvConfig]):
    """A cart on a rail of two metres keeps a pole upright.

    ## Description
    A pole is hinged on a cart that runs 1 m to either side. Pushing the cart left and right must keep the pole from
    falling. Model, observation, reward and start are those of Gymnasium's `InvertedPendulum-v5`, equal to it for every
    action within the bounds. The controller acts 25 times a second; the simulation runs at 50 Hz.

    ## Action Space
    A `Box(-3, 3, (1,), float32)`.

    | Num | Name  | Action                   | Min | Max | Unit  |
    | --- | ----- | ------------------------ | --- | --- | ----- |
    | 0   | slide | push on the cart along x | -3  | 3   | 100 N |

    ## Observation Space
    A `Box(-Inf, Inf, (4,), float64)`.

    | Num | Name       | Observation                         | Unit  |
    | --- | ---------- | ----------------------------------- | ----- |
    | 0   | slider     | position of the cart along x        | m     |
    | 1   | hinge      | angle of the pole from the vertical | rad   |
    | 2   | slider_vel | velocity of the cart                | m/s   |
    | 3   | hinge_vel  | angular velocity of the pole        | rad/s |

    ## Rewards
    - *survive*: 1 for every step after which the pole still stands.

    A perfect episode returns 1000.

    ## Starting State
    Positions and velocities start at 0 plus uniform noise within ±`reset_noise_scale`.

    ## Episode End
    ### Termination
    - *fallen*: the pole is more than 0.2 rad from the vertical.

    ### Truncation
    - *time_limit*: after `episode_steps` (1000) steps. This is success: the pole still stands.

    ## Arguments
    | Field               | Default | Meaning |
    | ------------------- | ------- | ---------------------------------- |
    | `reset_noise_scale` | 0.01    | noise of the start |
    | `frame_skip`        | 2       | simulation steps in one step |
    | `episode_steps`     | 1000    | steps of the time limit; 0 is none |
    """

    successes = (TIME_LIMIT,)

    def load(self) -> Any:
        """Return Gymnasium's model."""
        return load_spec(gymnasium_assets() / "inverted_pendulum.xml")

    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Start near rest, upright."""
        scale = self.config.reset_noise_scale
        qpos = self.model.qpos0 + noise.uniform(-scale, scale, self.model.nq)
        return qpos, noise.uniform(-scale, scale, self.model.nv)

    def observe(self) -> NDArray[Any]:
        """Return positions and velocities."""
        return np.concatenate([self.qpos, self.qvel], axis=1)

    def name_observations(self) -> Sequence[str]:
        """Name the numbers after their joints."""
        return ("slider", "hinge", "slider_vel", "hinge_vel")

    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Reward standing."""
        return {"survive": (~self._fallen()).astype(np.float64)}

    def terminations(self) -> Mapping[str, NDArray[np.bool_]]:
        """End when the pole has fallen."""
        return {"fallen": self._fallen()}

    def _fallen(self) -> NDArray[np.bool_]:
        fallen: NDArray[np.bool_] = np.abs(self.qpos[:, 1]) > TILT_LIMIT_RAD
        return fallen
