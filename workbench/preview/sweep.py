"""Can every joint go through its range without the body hitting itself?"""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np

from workbench.preview.findings import Finding
from workbench.preview.rig import Rig, geom_name, joint_names

NAME = "joint-sweep"
SWEPT = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
"""The kinds of joints that are swept."""
PLACES = 25
"""Places of a joint's range to look at."""
DEEP_M = 0.005
"""What counts as hitting: this far in each other, and deeper than at the start."""


def look(rig: Rig) -> Iterator[Finding]:
    """Move every joint with limits alone, from its lowest to its highest place, without dynamics."""
    model = rig.model
    if model is None:
        yield Finding(NAME, "skip", "there is no MuJoCo model with joints to sweep")
        return
    rig.reset(seed=0)
    data = mujoco.MjData(model)
    start = np.array(rig.data.qpos)
    before = _depths(model, data, start)
    names = joint_names(model)
    limited = np.flatnonzero(model.jnt_limited)
    for index in limited:
        low, high = (float(bound) for bound in model.jnt_range[index])
        if low >= high:
            yield Finding(
                NAME, "fail", f"{names[index]} has no room: its range is {low:.3g} to {high:.3g}", _RANGE, "model"
            )
            continue
        # A range of a ball joint is no path that one could go along.
        if int(model.jnt_type[index]) not in SWEPT:
            continue
        hits: dict[tuple[int, int], tuple[float, float]] = {}
        for place in np.linspace(low, high, PLACES):
            qpos = start.copy()
            qpos[model.jnt_qposadr[index]] = place
            for pair, depth in _depths(model, data, qpos).items():
                if depth > max(DEEP_M, 2 * before.get(pair, 0.0)) and depth > hits.get(pair, (0.0, 0.0))[0]:
                    hits[pair] = (depth, float(place))
        for (one, other), (depth, place) in hits.items():
            yield Finding(
                NAME,
                "warn",
                f"{names[index]} at {place:.2f} puts {geom_name(model, one)} {1000 * depth:.0f} mm inside "
                f"{geom_name(model, other)}",
                "narrow the joint's range, shrink the geoms, or exclude the pair in the model",
                "model",
            )
    free = [
        names[index] for index in range(model.njnt) if not model.jnt_limited[index] and model.jnt_type[index] in SWEPT
    ]
    if free:
        yield Finding(NAME, "pass", f"without limits, so not swept: {', '.join(free)}")


_RANGE = "give the joint a range that rises, in the units of the compiler's `angle`"


def _depths(model: mujoco.MjModel, data: mujoco.MjData, qpos: np.ndarray) -> dict[tuple[int, int], float]:
    """Return how far pairs of geoms that both belong to moving bodies are in each other, in m."""
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    mujoco.mj_collision(model, data)
    depths: dict[tuple[int, int], float] = {}
    for index in range(data.ncon):
        contact = data.contact[index]
        pair = (int(contact.geom[0]), int(contact.geom[1]))
        # The ground is hit wherever a body is moved without its weight: that says nothing of the model.
        if all(model.body_weldid[model.geom_bodyid[geom]] for geom in pair) and contact.dist < 0:
            depths[pair] = max(depths.get(pair, 0.0), -float(contact.dist))
    return depths
