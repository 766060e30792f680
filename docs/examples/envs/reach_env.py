"""A six-joint arm that turns its first joint to a target, as the reach example of strands-robots does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.simulation import BatchEnv, BatchEnvConfig, Noise
from workbench.simulation.terms import TermSet, make_predicate, make_term

JOINTS = 6


@dataclass(frozen=True)
class ReachEnvConfig(BatchEnvConfig):
    """What may differ between reaches."""

    episode_steps: int = 50
    """Control steps after which an episode is cut."""
    frame_skip: int = 5
    """Simulation steps of 0.002 s in one control step: a position servo needs several for a target."""
    target: float = 0.5
    """Where the first joint is to turn, in rad."""
    success_above: float = 0.3
    """The angle of the first joint from which the episode is a success, in rad."""


class ReachEnv(BatchEnv[ReachEnvConfig]):
    """Turn the first joint of an arm to a target.

    ## Action Space
    | Num | Name        | Action                          | Unit |
    | --- | ----------- | ------------------------------- | ---- |
    | 0–5 | 1 2 3 4 5 6 | where the joint's servo pulls to | rad  |

    ## Observation Space
    | Num | Name        | Observation          | Unit |
    | --- | ----------- | -------------------- | ---- |
    | 0–5 | 1 2 3 4 5 6 | angles of the joints | rad  |
    """

    successes = ("reached",)

    def load(self) -> Any:
        """Return the arm, with the terms that strands' example has."""
        spec = mujoco.MjSpec.from_string(_arm())
        self.terms = TermSet(
            spec,
            rewards={"progress": make_term("joint_progress", joint="1", target=self.config.target)},
            endings={"reached": make_predicate("joint_above", joint="1", value=self.config.success_above)},
        )
        return spec

    def initial_state(self, noise: Noise) -> tuple[ArrayLike, ArrayLike]:
        """Start near straight, at rest."""
        return noise.uniform(-0.05, 0.05, self.model.nq), np.zeros(self.model.nv)

    def observe(self) -> NDArray[Any]:
        """Return the angles."""
        return self.qpos.copy()

    def name_observations(self) -> Sequence[str]:
        """Name them after the joints."""
        return [str(joint) for joint in range(1, JOINTS + 1)]

    def reward_terms(self, actions: NDArray[Any]) -> Mapping[str, ArrayLike]:
        """Reward being near the target."""
        assert self.terms is not None
        return self.terms.rewards()

    def terminations(self) -> Mapping[str, NDArray[np.bool_]]:
        """End where it is reached."""
        assert self.terms is not None
        return self.terms.endings()


def _arm() -> str:
    """Return the MJCF: links of 12 cm, hinged in turn about z and y, each with a position servo."""
    links = "".join(
        f'<body name="link{number}" pos="0 0 {0.12 if number > 1 else 0.05}">'
        f'<joint name="{number}" axis="{"0 0 1" if number == 1 else "0 1 0"}" damping="0.5" range="-2 2"/>'
        f'<geom type="capsule" fromto="0 0 0 0 0 0.12" size="0.02" mass="0.1"/>'
        for number in range(1, JOINTS + 1)
    )
    servos = "".join(
        f'<position name="{number}" joint="{number}" kp="10" ctrlrange="-0.6 0.6"/>' for number in range(1, JOINTS + 1)
    )
    return (
        '<mujoco model="reach"><option timestep="0.002"/><compiler angle="radian" autolimits="true"/>'
        '<default><geom contype="0" conaffinity="0"/></default>'
        f'<worldbody><light pos="0 0 3"/>{links}{"</body>" * JOINTS}</worldbody><actuator>{servos}</actuator></mujoco>'
    )
