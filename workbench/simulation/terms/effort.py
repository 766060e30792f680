"""Terms of what moving costs."""

from __future__ import annotations

import numpy as np

from workbench.simulation.episodes import Floats
from workbench.simulation.terms.keywords import Prefix
from workbench.simulation.terms.registry import Reader, entry
from workbench.simulation.terms.scene import Scene


@entry("float")
def action_size(scene: Scene) -> Reader:
    """Minus the squared length of the action."""
    return lambda: -np.square(scene.actions).sum(axis=1)


@entry("float")
def action_rate(scene: Scene) -> Reader:
    """Minus the squared length of the action's change since the step before; nothing in an episode's first step."""

    def read() -> Floats:
        change: Floats = -np.square(scene.actions - scene.previous_actions).sum(axis=1)
        return np.where(scene.is_first, 0.0, change)

    return read


# Columns are taken, not indexed: an indexed array may lie the other way round in memory, and a sum over its rows then
# rounds differently with the number of copies.


@entry("float")
def torque(scene: Scene, prefix: Prefix | None = None) -> Reader:
    """Minus the squared forces (N) and torques (N m) of the actuators, summed; of all, or by `prefix`."""
    chosen, force = scene.actuators(prefix), scene.field("actuator_force")
    return lambda: -np.square(force.take(chosen, axis=1)).sum(axis=1)


@entry("float")
def energy(scene: Scene, prefix: Prefix | None = None) -> Reader:
    """Minus the energy that the actuators spent in the step, in J: |force × velocity| × time, summed."""
    chosen, step_s = scene.actuators(prefix), scene.control_dt
    force, velocity = scene.field("actuator_force"), scene.field("actuator_velocity")
    return lambda: -np.abs(force.take(chosen, axis=1) * velocity.take(chosen, axis=1)).sum(axis=1) * step_s
