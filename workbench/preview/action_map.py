"""What does each number of the action move?"""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np

from workbench.preview.findings import Finding
from workbench.preview.rig import Floats, Rig, joint_names

NAME = "action-map"
STEPS = 5
"""Steps that one number of the action is held at its bound."""
NOTHING = 1e-9
"""A change of speed below this, in m/s or rad/s, is none."""
SAME = 0.999
"""Two numbers whose effects point this much the same way (cosine) do the same."""
SHARE = 0.5
"""An action at its bound that reaches less of a control's range than this leaves strength unused."""


def look(rig: Rig) -> Iterator[Finding]:
    """Hold each number of the action alone at its highest and lowest, and see which joint answers."""
    if rig.model is None:
        yield Finding(NAME, "skip", "there is no MuJoCo model whose joints could answer")
        return
    at_rest = _speeds(rig, rig.rest)
    effects: list[Floats] = []
    joints = [name for index, name in enumerate(joint_names(rig.model)) for _ in range(_dofs(rig, index))]
    # What a free body does is what its joints do to it.
    driven = np.array([kind != mujoco.mjtJoint.mjJNT_FREE for kind in rig.model.jnt_type[rig.model.dof_jntid]])
    moved: list[str] = []
    for index, name in enumerate(rig.action_names):
        answers = []
        for bound in (rig.low, rig.high):
            action = rig.rest
            action[index] = bound[index]
            answers.append(_speeds(rig, action) - at_rest)
        effect = answers[1] - answers[0]
        effects.append(effect)
        if np.abs(effect).max(initial=0.0) < NOTHING:
            yield Finding(
                NAME,
                "fail",
                f"{name} moves nothing, neither at {rig.low[index]:g} nor at {rig.high[index]:g}",
                "look whether `apply_action` uses it and whether the actuator's gear, gain or ctrlrange is zero",
                "task",
            )
            continue
        strongest = int(np.abs(effect * driven).argmax() if (effect * driven).any() else np.abs(effect).argmax())
        moved.append(f"{name} {'+' if effect[strongest] > 0 else '−'}{joints[strongest]}")
    for one in range(len(effects)):
        for other in range(one):
            norms = np.linalg.norm(effects[one]) * np.linalg.norm(effects[other])
            if norms > NOTHING and abs(effects[one] @ effects[other]) > SAME * norms:
                yield Finding(
                    NAME,
                    "warn",
                    f"{rig.action_names[other]} and {rig.action_names[one]} do the same",
                    "drive another joint with one of them, or leave it out",
                    "task",
                )
    if moved:
        yield Finding(NAME, "pass", f"answers most: {', '.join(moved)}")
    yield from _look_at_reach(rig)


def _look_at_reach(rig: Rig) -> Iterator[Finding]:
    model = rig.model
    rig.reset(seed=0)
    reached = []
    for bound in (rig.low, rig.high):
        rig.step(bound.copy())
        reached.append(np.array(rig.data.ctrl))
    for index in np.flatnonzero(model.actuator_ctrllimited):
        low, high = model.actuator_ctrlrange[index]
        spread = abs(float(reached[1][index] - reached[0][index])) / float(high - low) if high > low else 1.0
        if spread < SHARE:
            name = model.actuator(index).name or f"actuator {index}"
            yield Finding(
                NAME,
                "warn",
                f"the actions' bounds reach {100 * spread:.0f} % of the control range of {name}",
                "map the action onto the whole range; leave `apply_action` out and that is what happens",
                "task",
            )


def _speeds(rig: Rig, action: Floats) -> Floats:
    """Return the speeds of all joints (nv,) after the action was held for a moment from the start."""
    rig.reset(seed=0)
    for _ in range(STEPS):
        rig.step(action)
    return np.array(rig.data.qvel)


def _dofs(rig: Rig, joint: int) -> int:
    """Return how many degrees of freedom a joint has."""
    addresses = [*rig.model.jnt_dofadr, rig.model.nv]
    return int(addresses[joint + 1] - addresses[joint])
