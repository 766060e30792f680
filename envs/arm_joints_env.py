"""A six-joint arm that brings its joints to the angles it is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.simulation import BatchEnv, BatchEnvConfig, Noise, find_asset, load_spec
from workbench.simulation.terms import TermSet, make_predicate, make_term

JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")
GOAL_LOW = (-1.0, -0.8, -0.8, -1.0, -1.0, 0.0)
GOAL_HIGH = (1.0, 0.5, 0.8, 1.0, 1.0, 1.2)
"""Angles that goals are drawn between, in rad."""
PRECISE_RAD = 0.1
"""The distance at which a joint's part of the precise term has fallen to 1/e."""
HELD_STEPS = 10
"""Steps for which all joints must have been in place for success."""


@dataclass(frozen=True)
class ArmJointsEnvConfig(BatchEnvConfig):
    """What may differ between joint-reaching tasks."""

    frame_skip: int = 4
    """Simulation steps of 0.005 s in one control step."""
    episode_steps: int = 100
    """Steps after which an episode is cut; 0 is no limit."""
    torque: bool = False
    """Let the actions be torques instead of angles to hold."""
    tolerance_rad: float = 0.05
    """How far every joint may be from its goal to count as in place."""
    smooth_weight: float = 0.02
    """Weight of the smooth term."""


class ArmJointsEnv(BatchEnv[ArmJointsEnvConfig]):
    """An arm in the size of an SO-101 brings its joints to the angles it is told, and holds them.

    ## Description
    Five joints and a gripper, with servos that hold the angles they are told, or motors with `torque`. The goal is
    another set of angles in every episode. The controller acts 50 times a second; the simulation runs at 200 Hz.

    ## Action Space
    A `Box(6)`: the angles that the servos are to hold; with `torque`, torques within ±1, as a share of 3.4 N m.

    | Num | Name          | Action                  | Min   | Max  | Unit |
    | --- | ------------- | ----------------------- | ----- | ---- | ---- |
    | 0   | shoulder_pan  | angle of the base       | -1.92 | 1.92 | rad  |
    | 1   | shoulder_lift | angle of the upper arm  | -1.75 | 1.75 | rad  |
    | 2   | elbow_flex    | angle of the lower arm  | -1.69 | 1.69 | rad  |
    | 3   | wrist_flex    | angle of the wrist      | -1.66 | 1.66 | rad  |
    | 4   | wrist_roll    | roll of the gripper     | -2.74 | 2.84 | rad  |
    | 5   | gripper       | opening of the jaw      | -0.17 | 1.75 | rad  |

    ## Observation Space
    A `Box(-Inf, Inf, (18,), float64)`.

    | Num   | Name                            | Observation                     | Unit  |
    | ----- | ------------------------------- | ------------------------------- | ----- |
    | 0–5   | shoulder_pan … gripper          | angles of the joints            | rad   |
    | 6–11  | shoulder_pan_vel … gripper_vel  | their velocities                | rad/s |
    | 12–17 | shoulder_pan_goal … gripper_goal | angles to bring the joints to  | rad   |

    ## Rewards
    - *near*: 1 − the mean distance of the joints from their goals, in rad.
    - *precise*: the mean over the joints of exp(−(distance / 0.1 rad)²).
    - *smooth*: −`smooth_weight` (0.02) × the squared change of the action since the step before.

    ## Starting State
    The arm rests with all angles at 0, plus uniform noise within ±0.1 rad.

    ## Episode End
    ### Termination
    - *struck_floor*: the palm, the finger or the jaw touches the floor. This is failure.

    ### Truncation
    - *in_place*: after `episode_steps` (100) steps, with every joint within `tolerance_rad` (0.05) of its goal for the
      last 10. This is success.
    - *time_limit*: after as many steps otherwise.

    ## Arguments
    | Field           | Default | Meaning |
    | --------------- | ------- | ---------------------------------- |
    | `torque`        | false   | actions are torques |
    | `tolerance_rad` | 0.05    | distance that counts as in place, rad |
    | `smooth_weight` | 0.02    | weight of *smooth* |
    | `frame_skip`    | 4       | simulation steps in one step |
    | `episode_steps` | 100     | steps of the time limit; 0 is none |
    """

    successes = ("in_place",)

    def load(self) -> Any:
        """Return the model without its target, and declare rewards and endings over it."""
        spec = load_spec(find_asset("arm.xml", Path(__file__)))
        spec.delete(spec.body("target"))
        if self.config.torque:
            for actuator in spec.actuators:
                actuator.set_to_motor()
                actuator.gear[0], actuator.ctrlrange[:], actuator.inheritrange = 3.4, (-1.0, 1.0), 0.0
        self.terms = TermSet(
            spec,
            goals={"goal": (GOAL_LOW, GOAL_HIGH)},
            rewards={"smooth": make_term("action_rate", weight=self.config.smooth_weight)},
            endings={
                geom: make_predicate("contact_between", geom_a=geom, geom_b="floor")
                for geom in ("palm", "finger", "jaw")
            },
        )
        return spec

    def setup(self) -> None:
        """Count the steps for which all joints have been in place."""
        self._held = np.zeros(self.n_envs, dtype=np.int64)

    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Start at rest."""
        self._held[noise.ids] = 0
        return noise.uniform(-0.1, 0.1, self.model.nq), np.zeros((len(noise), self.model.nv))

    def observe(self) -> NDArray[Any]:
        """Return angles, velocities and goals."""
        return np.concatenate([self.qpos, self.qvel, self.terms.goals["goal"]], axis=1)

    def name_observations(self) -> Sequence[str]:
        """Name the numbers after their joints."""
        return [f"{joint}{suffix}" for suffix in ("", "_vel", "_goal") for joint in JOINTS]

    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Charge for distance and jerks."""
        away = np.abs(self.qpos - self.terms.goals["goal"])
        self._held = np.where((away <= self.config.tolerance_rad).all(axis=1), self._held + 1, 0)
        precise = np.exp(-np.square(away / PRECISE_RAD)).mean(axis=1)
        return {"near": 1 - away.mean(axis=1), "precise": precise, **self.terms.rewards()}

    def terminations(self) -> Mapping[str, NDArray[np.bool_]]:
        """End when the hand strikes the floor."""
        return {"struck_floor": np.any(list(self.terms.endings().values()), axis=0)}

    def truncations(self) -> Mapping[str, NDArray[np.bool_]]:
        """Call an episode that ends with all in place by its name."""
        if not self.episode_steps:
            return {}
        return {"in_place": (self._held >= HELD_STEPS) & (self.elapsed >= self.episode_steps)}
