"""A pole swung up and balanced on a cart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.simulation import BatchEnv, BatchEnvConfig, Noise, find_asset, load_spec

UPRIGHT_RAD = 0.2
"""The angle from the vertical up to which the pole counts as upright."""
HELD_S = 2.0
"""How long the pole must have been upright at the end of a successful episode."""


@dataclass(frozen=True)
class SwingUpEnvConfig(BatchEnvConfig):
    """What may differ between swing-ups."""

    frame_skip: int = 2
    """Simulation steps of 0.01 s in one control step."""
    episode_steps: int = 500
    """Steps after which an episode is cut; 0 is no limit."""
    reset_noise_scale: float = 0.1
    """Half the width of the uniform noise on the start position (m, rad) and velocity (m/s, rad/s)."""
    start_upright: bool = False
    """Start with the pole upright instead of hanging."""
    effort_weight: float = 0.01
    """Weight of the effort term."""
    center_weight: float = 0.1
    """Weight of the center term."""
    spin_weight: float = 0.005
    """Weight of the spin term."""


class SwingUpEnv(BatchEnv[SwingUpEnvConfig]):
    """A cart on a short rail swings a hanging pole up and balances it.

    ## Description
    A pole of 0.6 m and 150 g hangs from a cart of 1 kg on a rail of 3.6 m. The cart must swing the pole up, going back
    and forth without leaving the rail, then keep it upright. The controller acts 50 times a second; the simulation runs
    at 100 Hz.

    ## Action Space
    A `Box(-1, 1, (1,), float32)`.

    | Num | Name       | Action                   | Min | Max | Unit |
    | --- | ---------- | ------------------------ | --- | --- | ---- |
    | 0   | cart_force | push on the cart along x | -1  | 1   | 15 N |

    ## Observation Space
    A `Box(-Inf, Inf, (5,), float64)`.

    | Num | Name       | Observation                                   | Unit  |
    | --- | ---------- | --------------------------------------------- | ----- |
    | 0   | slider     | position of the cart along x                  | m     |
    | 1   | hinge_cos  | cosine of the pole's angle from the vertical  | –     |
    | 2   | hinge_sin  | its sine                                      | –     |
    | 3   | slider_vel | velocity of the cart                          | m/s   |
    | 4   | hinge_vel  | angular velocity of the pole                  | rad/s |

    ## Rewards
    - *upright*: ((1 + cosine of the pole's angle) / 2)²: 1 upright, 0 hanging.
    - *spin*: −`spin_weight` (0.005) × the squared angular velocity of the pole, in rad²/s²: a pole that is whirled
      round would be upright half of the time.
    - *center*: −`center_weight` (0.1) × the squared position of the cart, in m².
    - *effort*: −`effort_weight` (0.01) × the squared action.

    An episode that is upright from the start returns a little less than 500.

    ## Starting State
    The pole hangs at rest (upright with `start_upright`) in the middle of the rail, plus uniform noise within
    ±`reset_noise_scale` on positions and velocities.

    ## Episode End
    ### Termination
    - *off_rail*: the cart has run into a buffer, 1.8 m from the middle.

    ### Truncation
    - *balanced*: after `episode_steps` (500) steps, with the pole upright (within 0.2 rad) for the last 2 s. This is
      success.
    - *time_limit*: after as many steps otherwise.

    ## Arguments
    | Field               | Default | Meaning |
    | ------------------- | ------- | ---------------------------------- |
    | `reset_noise_scale` | 0.1     | noise of the start |
    | `start_upright`     | false   | start upright |
    | `effort_weight`     | 0.01    | weight of *effort* |
    | `center_weight`     | 0.1     | weight of *center* |
    | `spin_weight`       | 0.005   | weight of *spin* |
    | `frame_skip`        | 2       | simulation steps in one step |
    | `episode_steps`     | 500     | steps of the time limit; 0 is none |
    """

    successes = ("balanced",)

    def load(self) -> Any:
        """Return the model."""
        return load_spec(find_asset("swing_up.xml", Path(__file__)))

    def setup(self) -> None:
        """Count the steps for which each pole has been upright."""
        self._rail = float(self.model.joint("slider").range[1])
        self._held = np.zeros(self.n_envs, dtype=np.int64)

    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Start near rest, with the pole hanging."""
        scale = self.config.reset_noise_scale
        qpos = noise.uniform(-scale, scale, 2)
        if not self.config.start_upright:
            qpos[:, 1] += np.pi
        self._held[noise.ids] = 0
        return qpos, noise.uniform(-scale, scale, 2)

    def observe(self) -> NDArray[Any]:
        """Return position, the angle's cosine and sine, and velocities."""
        angle = self.qpos[:, 1:]
        return np.concatenate([self.qpos[:, :1], np.cos(angle), np.sin(angle), self.qvel], axis=1)

    def name_observations(self) -> Sequence[str]:
        """Name the five numbers."""
        return ("slider", "hinge_cos", "hinge_sin", "slider_vel", "hinge_vel")

    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Reward height of the pole, and charge for leaving the middle and for effort."""
        cosine = np.cos(self.qpos[:, 1])
        self._held = np.where(cosine >= np.cos(UPRIGHT_RAD), self._held + 1, 0)
        return {
            "upright": np.square((1 + cosine) / 2),
            "spin": -self.config.spin_weight * np.square(self.qvel[:, 1]),
            "center": -self.config.center_weight * np.square(self.qpos[:, 0]),
            "effort": -self.config.effort_weight * np.square(actions[:, 0]),
        }

    def terminations(self) -> Mapping[str, NDArray[np.bool_]]:
        """End where the rail does."""
        return {"off_rail": np.abs(self.qpos[:, 0]) >= self._rail}

    def truncations(self) -> Mapping[str, NDArray[np.bool_]]:
        """Call an episode that ends upright by its name."""
        if not self.episode_steps:
            return {}
        held = self._held >= round(HELD_S * self.control_hz)
        return {"balanced": held & (self.elapsed >= self.episode_steps)}
