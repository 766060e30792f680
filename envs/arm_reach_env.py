"""A six-joint arm that brings its tip to a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.simulation import BatchEnv, BatchEnvConfig, Noise, find_asset, load_spec
from workbench.simulation.terms import TermSet, make_predicate, make_term

ARM_JOINTS = 6
HELD_STEPS = 10
"""Steps for which the tip must have been at the target at the end of a successful episode."""
NEAREST_M, FARTHEST_M = 0.12, 0.32
"""Distances of targets from the shoulder."""
SHOULDER = np.array([0.03, 0.0, 0.115])
"""Where the arm's reach is measured from, in m."""


@dataclass(frozen=True)
class ArmReachEnvConfig(BatchEnvConfig):
    """What may differ between reaching tasks."""

    frame_skip: int = 4
    """Simulation steps of 0.005 s in one control step."""
    episode_steps: int = 100
    """Steps after which an episode is cut; 0 is no limit."""
    tolerance_m: float = 0.02
    """Distance from the target at which the tip has reached it."""
    start_noise: float = 0.1
    """Half the width of the uniform noise on the start angles, in rad."""
    precise_weight: float = 0.5
    """Weight of the precise term."""
    smooth_weight: float = 0.02
    """Weight of the smooth term."""


class ArmReachEnv(BatchEnv[ArmReachEnvConfig]):
    """An arm in the size of an SO-101 brings its tip to a target in space.

    ## Description
    Five joints and a gripper, with servos that hold the angles they are told. The target is another place in every
    episode, within reach and above the floor. The controller acts 50 times a second; the simulation runs at 200 Hz.

    ## Action Space
    A `Box(6)`: the angles that the servos are to hold, each within its joint's range.

    | Num | Name          | Action                           | Min   | Max  | Unit |
    | --- | ------------- | -------------------------------- | ----- | ---- | ---- |
    | 0   | shoulder_pan  | angle of the base                | -1.92 | 1.92 | rad  |
    | 1   | shoulder_lift | angle of the upper arm           | -1.75 | 1.75 | rad  |
    | 2   | elbow_flex    | angle of the lower arm           | -1.69 | 1.69 | rad  |
    | 3   | wrist_flex    | angle of the wrist               | -1.66 | 1.66 | rad  |
    | 4   | wrist_roll    | roll of the gripper              | -2.74 | 2.84 | rad  |
    | 5   | gripper       | opening of the jaw               | -0.17 | 1.75 | rad  |

    ## Observation Space
    A `Box(-Inf, Inf, (21,), float64)`.

    | Num   | Name                            | Observation                         | Unit  |
    | ----- | ------------------------------- | ----------------------------------- | ----- |
    | 0–5   | shoulder_pan … gripper          | angles of the joints                | rad   |
    | 6–11  | shoulder_pan_vel … gripper_vel  | their velocities                    | rad/s |
    | 12–14 | tip_x tip_y tip_z               | position of the tip                 | m     |
    | 15–17 | target_x target_y target_z      | position of the target              | m     |
    | 18–20 | to_target_x … to_target_z       | the target, seen from the tip       | m     |

    ## Rewards
    - *reach*: −the distance from tip to target, in m.
    - *alive*: 0.5 for every step: without it, striking the floor at once would end the cost of being far.
    - *precise*: `precise_weight` (0.5) where the tip is within `tolerance_m` of the target.
    - *smooth*: −`smooth_weight` (0.02) × the squared change of the action since the step before, in rad².

    ## Starting State
    The arm rests, upper arm up and lower arm forward, with uniform noise within ±`start_noise` on its angles. The
    target is uniform in a shell of 0.12 to 0.32 m around the shoulder, in front of the arm and at least 0.05 m high.

    ## Episode End
    ### Termination
    - *struck_floor*: the palm, the finger or the jaw touches the floor. This is failure.

    ### Truncation
    - *reached*: after `episode_steps` (100) steps, with the tip at the target for the last 10. This is success.
    - *time_limit*: after as many steps otherwise.

    ## Arguments
    | Field            | Default | Meaning |
    | ---------------- | ------- | ---------------------------------- |
    | `tolerance_m`    | 0.02    | distance that counts as reached, m |
    | `start_noise`    | 0.1     | noise of the start angles, rad |
    | `precise_weight` | 0.5     | weight of *precise* |
    | `smooth_weight`  | 0.02    | weight of *smooth* |
    | `frame_skip`     | 4       | simulation steps in one step |
    | `episode_steps`  | 100     | steps of the time limit; 0 is none |
    """

    successes = ("reached",)

    def load(self) -> Any:
        """Return the model, and declare rewards and endings over it."""
        spec = load_spec(find_asset("arm.xml", Path(__file__)))
        config = self.config
        at_target = make_predicate("end_effector_at", frame="tip", target="target", tol=config.tolerance_m)
        self.terms = TermSet(
            spec,
            rewards={
                "reach": make_term("end_effector_position_error", frame="tip", target="target"),
                # More than any distance within reach costs.
                "alive": make_term("constant", value=0.5),
                "precise": make_term(
                    "end_effector_at",
                    frame="tip",
                    target="target",
                    tol=config.tolerance_m,
                    weight=config.precise_weight,
                ),
                "smooth": make_term("action_rate", weight=config.smooth_weight),
            },
            endings={
                f"struck_floor_{geom}": make_predicate("contact_between", geom_a=geom, geom_b="floor")
                for geom in ("palm", "finger", "jaw")
            },
            watched={"at_target": at_target},
        )
        return spec

    def setup(self) -> None:
        """Bind the tip, a simulation step behind the state, and count the steps at the target."""
        self._tip = self.batch.bind("site_xpos")[:, self.model.site("tip").id]
        self._held = np.zeros(self.n_envs, dtype=np.int64)

    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Start at rest, with a target somewhere in reach."""
        qpos = np.zeros((len(noise), self.model.nq))
        width = self.config.start_noise
        qpos[:, :ARM_JOINTS] = noise.uniform(-width, width, ARM_JOINTS)
        qpos[:, ARM_JOINTS:] = noise.uniform_where([0.05, -FARTHEST_M, 0.05], [0.4, FARTHEST_M, 0.45], 3, _is_in_reach)
        self._held[noise.ids] = 0
        return qpos, np.zeros((len(noise), self.model.nv))

    def observe(self) -> NDArray[Any]:
        """Return angles, velocities, tip, target, and the way between them."""
        target = self.qpos[:, ARM_JOINTS:]
        arm = (self.qpos[:, :ARM_JOINTS], self.qvel[:, :ARM_JOINTS])
        return np.concatenate([*arm, self._tip, target, target - self._tip], axis=1)

    def name_observations(self) -> Sequence[str]:
        """Name the numbers after joints and places."""
        joints = [self.model.joint(index).name for index in range(ARM_JOINTS)]
        places = [f"{place}_{axis}" for place in ("tip", "target", "to_target") for axis in "xyz"]
        return [*joints, *(f"{joint}_vel" for joint in joints), *places]

    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Reward nearness, and charge for jerks."""
        self._held = np.where(self.terms.watched()["at_target"], self._held + 1, 0)
        return self.terms.rewards()

    def terminations(self) -> Mapping[str, NDArray[np.bool_]]:
        """End when the hand strikes the floor."""
        struck = self.terms.endings().values()
        return {"struck_floor": np.any(list(struck), axis=0)}

    def truncations(self) -> Mapping[str, NDArray[np.bool_]]:
        """Call an episode that ends at the target by its name."""
        if not self.episode_steps:
            return {}
        return {"reached": (self._held >= HELD_STEPS) & (self.elapsed >= self.episode_steps)}

    def info(self) -> Mapping[str, NDArray[Any]]:
        """Tell how far the tip is from the target."""
        return {"distance": np.linalg.norm(self.qpos[:, ARM_JOINTS:] - self._tip, axis=1)}


def _is_in_reach(place: NDArray[np.float64]) -> bool:
    return bool(NEAREST_M <= np.linalg.norm(place - SHOULDER) <= FARTHEST_M)
