"""A ball that is rolled to a mark on a plate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.simulation import BatchEnv, BatchEnvConfig, Noise, find_asset, load_spec

BALL = 4
"""Where the ball's numbers begin among the positions; the two servos and the two slides of the mark come first."""
REST_HEIGHT_M = 0.3505
"""Height of the ball's centre on the level plate."""
DROPPED_M = 0.2
"""A ball below this has left the plate."""
WIDTH_M = 0.05
"""The distance from the mark at which the near term has fallen to 1/e."""
ABOARD = 0.2
"""The aboard term: no distance on the plate costs as much."""
HELD_S = 1.0
"""How long the ball must have been at the mark at the end of a successful episode."""


@dataclass(frozen=True)
class BallPlateEnvConfig(BatchEnvConfig):
    """What may differ between balls on plates."""

    frame_skip: int = 4
    """Simulation steps of 0.005 s in one control step."""
    episode_steps: int = 250
    """Steps after which an episode is cut; 0 is no limit."""
    start_radius_m: float = 0.12
    """Half the side of the square in which the ball starts."""
    target_radius_m: float = 0.1
    """Half the side of the square in which the mark is; 0 puts it in the middle."""
    tolerance_m: float = 0.02
    """Distance from the mark at which the ball counts as there."""
    still_weight: float = 0.5
    """Weight of the still term."""


class BallPlateEnv(BatchEnv[BallPlateEnvConfig]):
    """A plate on two servos rolls a ball to a mark and keeps it there.

    ## Description
    A plate of 0.4 m tilts about two axes; a ball of 50 g rolls on it. The mark is elsewhere in every episode. The
    controller acts 50 times a second; the simulation runs at 200 Hz.

    ## Action Space
    A `Box(-1, 1, (2,), float32)`.

    | Num | Name  | Action                            | Min | Max | Unit    |
    | --- | ----- | --------------------------------- | --- | --- | ------- |
    | 0   | roll  | tilt about x that the servo holds | -1  | 1   | 0.2 rad |
    | 1   | pitch | tilt about y that the servo holds | -1  | 1   | 0.2 rad |

    ## Observation Space
    A `Box(-Inf, Inf, (10,), float64)`.

    | Num  | Name                 | Observation                             | Unit  |
    | ---- | -------------------- | --------------------------------------- | ----- |
    | 0, 1 | roll pitch           | tilts of the plate                      | rad   |
    | 2, 3 | roll_vel pitch_vel   | their velocities                        | rad/s |
    | 4, 5 | ball_x ball_y        | position of the ball                    | m     |
    | 6, 7 | ball_x_vel ball_y_vel | velocity of the ball                   | m/s   |
    | 8, 9 | to_mark_x to_mark_y  | the mark, seen from the ball            | m     |

    ## Rewards
    - *near*: exp(−(distance from ball to mark / 0.05 m)²).
    - *far*: −the distance from ball to mark, in m.
    - *aboard*: 0.2 for every step: without it, dropping the ball at once would end the cost of being far.
    - *still*: −`still_weight` (0.5) × the squared velocity of the ball, in m²/s².

    ## Starting State
    The plate is level and at rest, the ball uniform in a square of ±`start_radius_m` around the middle, at rest.

    ## Episode End
    ### Termination
    - *dropped*: the ball has left the plate. This is failure.

    ### Truncation
    - *settled*: after `episode_steps` (250) steps, with the ball within `tolerance_m` of the mark for the last second.
      This is success.
    - *time_limit*: after as many steps otherwise.

    ## Arguments
    | Field             | Default | Meaning |
    | ----------------- | ------- | ---------------------------------- |
    | `start_radius_m`  | 0.12    | where the ball starts, m |
    | `target_radius_m` | 0.1     | where the mark is, m |
    | `tolerance_m`     | 0.02    | distance that counts as there, m |
    | `still_weight`    | 0.5     | weight of *still* |
    | `frame_skip`      | 4       | simulation steps in one step |
    | `episode_steps`   | 250     | steps of the time limit; 0 is none |
    """

    successes = ("settled",)

    def load(self) -> Any:
        """Return the model."""
        return load_spec(find_asset("ball_plate.xml", Path(__file__)))

    def setup(self) -> None:
        """Find ball and mark, and count the steps for which the ball has been there."""
        self._ball = self.qpos[:, BALL : BALL + 3]
        self._ball_velocity = self.qvel[:, BALL : BALL + 3]
        self._held = np.zeros(self.n_envs, dtype=np.int64)
        self._way = np.zeros((self.n_envs, 2))

    def action_bounds(self) -> tuple[ArrayLike, ArrayLike]:
        """Return -1 and 1 for both servos; they stand for the ends of their ranges."""
        return -np.ones(2), np.ones(2)

    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Start at rest, ball and mark anywhere on the plate."""
        qpos = np.tile(self.model.qpos0, (len(noise), 1))
        radius = self.config.target_radius_m
        qpos[:, 2:4] = noise.uniform(-radius, radius, 2)
        radius = self.config.start_radius_m
        qpos[:, BALL : BALL + 2] = noise.uniform(-radius, radius, 2)
        qpos[:, BALL + 2] = REST_HEIGHT_M
        self._held[noise.ids] = 0
        return qpos, np.zeros((len(noise), self.model.nv))

    def measure(self) -> None:
        """Find the way from ball to mark, along the plate as if it were level: tilts are small."""
        np.subtract(self.qpos[:, 2:4], self._ball[:, :2], out=self._way)

    def observe(self) -> NDArray[Any]:
        """Return tilts, the ball's place and velocity, and the way to the mark."""
        plate = (self.qpos[:, :2], self.qvel[:, :2])
        return np.concatenate([*plate, self._ball[:, :2], self._ball_velocity[:, :2], self._way], axis=1)

    def name_observations(self) -> Sequence[str]:
        """Name the ten numbers."""
        ball = ("ball_x", "ball_y", "ball_x_vel", "ball_y_vel")
        return ("roll", "pitch", "roll_vel", "pitch_vel", *ball, "to_mark_x", "to_mark_y")

    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Reward nearness, and charge for distance and speed."""
        distance = np.linalg.norm(self._way, axis=1)
        self._held = np.where(distance <= self.config.tolerance_m, self._held + 1, 0)
        return {
            "near": np.exp(-np.square(distance / WIDTH_M)),
            "far": -distance,
            "aboard": np.full(self.n_envs, ABOARD),
            "still": -self.config.still_weight * np.square(self._ball_velocity).sum(axis=1),
        }

    def terminations(self) -> Mapping[str, NDArray[np.bool_]]:
        """End when the ball has fallen."""
        return {"dropped": self._ball[:, 2] < DROPPED_M}

    def truncations(self) -> Mapping[str, NDArray[np.bool_]]:
        """Call an episode that ends at the mark by its name."""
        if not self.episode_steps:
            return {}
        held = self._held >= round(HELD_S * self.control_hz)
        return {"settled": held & (self.elapsed >= self.episode_steps)}

    def info(self) -> Mapping[str, NDArray[Any]]:
        """Tell how far the ball is from the mark."""
        return {"distance": np.linalg.norm(self._way, axis=1)}
