"""Does the environment rest where it starts, when nothing is done?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.errors import SimulationError
from workbench.preview.findings import Finding
from workbench.preview.rig import Rig, geom_name, joint_names

NAME = "settle"
SECONDS = 2.0
"""Simulated time to watch."""
DEEP_M = 0.01
"""Bodies that start farther in each other than this are pushed apart with a jolt."""
FAST = 100.0
"""Speeds beyond this, in m/s or rad/s, mean an unstable simulation in everything that is trained on."""
SOON = 5
"""An episode that ends within so many steps of doing nothing leaves nothing to learn from."""


def look(rig: Rig) -> Iterator[Finding]:
    """Start, do nothing for two seconds, and say what is odd."""
    rig.reset(seed=0)
    yield from _look_at_start(rig)
    fastest, at, ended = 0.0, 0.0, None
    steps = max(SOON + 1, round(SECONDS / rig.control_dt))
    for step in range(1, steps + 1):
        try:
            told = rig.step(rig.rest)
        except SimulationError as error:
            said = f"doing nothing, the simulation breaks: {error}"
            yield Finding(NAME, "fail", said, _STABLE, "model", step * rig.control_dt)
            return
        if rig.model is not None:
            speed = float(np.abs(rig.data.qvel).max(initial=0.0))
            if speed > fastest:
                fastest, at = speed, step * rig.control_dt
        if told.ending is not None:
            ended = (step, told.ending)
            break
    if fastest > FAST:
        yield Finding(
            NAME,
            "fail",
            f"doing nothing, something moves at {fastest:.0f} (m/s or rad/s)",
            _STABLE,
            "model",
            at,
        )
    if ended is not None and ended[1] != "time_limit":
        step, reason = ended
        bad = step <= SOON
        yield Finding(
            NAME,
            "fail" if bad else "pass",
            f"doing nothing, the episode ends after {step} steps: {reason}",
            "start from a state that lasts, or widen what ends the episode" if bad else "",
            "task" if bad else None,
            step * rig.control_dt,
        )
    for message, count in rig.warnings.items():
        yield Finding(NAME, "warn", f"MuJoCo warned {count} times: {message}", _WARNED, "model")


_STABLE = 'take a smaller timestep, integrator="implicitfast", more damping or armature, or softer contacts'
_WARNED = "make the simulation stabler, or give the model the memory it asks for (`<size memory=…>`)"


def _look_at_start(rig: Rig) -> Iterator[Finding]:
    model = rig.model
    if model is None:
        yield Finding(NAME, "skip", "there is no MuJoCo model to look into", "", None)
        return
    data = rig.data
    contacts = [data.contact[index] for index in range(data.ncon)]
    deepest = min(contacts, key=lambda contact: contact.dist, default=None)
    if deepest is not None and deepest.dist < -DEEP_M:
        one, other = (geom_name(model, int(geom)) for geom in deepest.geom)
        yield Finding(
            NAME,
            "fail",
            f"{one} and {other} start {-1000 * deepest.dist:.0f} mm inside each other",
            "start higher or apart (`initial_state`), or exclude the pair in the model (`<contact><exclude …>`)",
            "task",
            0.0,
        )
    names = joint_names(model)
    for index in np.flatnonzero(model.jnt_limited):
        low, high = model.jnt_range[index]
        place = float(data.qpos[model.jnt_qposadr[index]])
        if not low - 0.02 <= place <= high + 0.02:
            yield Finding(
                NAME,
                "warn",
                f"{names[index]} starts at {place:.3g}, outside its range of {low:.3g} to {high:.3g}",
                "start within the range, or widen it",
                "task",
                0.0,
            )
