"""What an observation may tell of every body: inertia, velocity, actuator forces and contact wrenches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.simulation.contacts import ContactWrenches

FREE_DOFS = 6
"""Degrees of freedom of the root's free joint, which nothing actuates."""
AXES = "xyz"
INERTIA_NAMES = (
    *(f"inertia_{pair}" for pair in ("xx", "yy", "zz", "xy", "xz", "yz")),
    *(f"mass_offset_{axis}" for axis in AXES),
    "mass",
)
"""Of a body, the ten numbers of MuJoCo's `cinert`: its inertia about the tree's centre of mass, its mass times its
offset from there, and its mass."""
VELOCITY_NAMES = (*(f"spin_{axis}" for axis in AXES), *(f"speed_{axis}" for axis in AXES))
"""Of a body, the six numbers of MuJoCo's `cvel`: angular, then linear velocity, at the tree's centre of mass."""
WRENCH_NAMES = (*(f"torque_{axis}" for axis in AXES), *(f"force_{axis}" for axis in AXES))
"""Of a body, the six numbers of its contact wrench."""


class BodyBlocks:
    """The blocks that Gymnasium's humanoids observe after positions and velocities, in their order.

    All are read as the last integration stage left them, as Gymnasium does, but for the contact wrenches: those are of
    the state before the last simulation step (see `ContactWrenches`).

    Args:
        spec: The model, to which the contact sensors are added before it is compiled.
        root: The body that all others hang on, by a free joint.
        inertia: Tell `cinert` (10 numbers a body).
        velocity: Tell `cvel` (6 numbers a body).
        actuation: Tell `qfrc_actuator` (a number a joint).
        contact: Tell the contact wrenches (6 numbers a body).
    """

    def __init__(self, spec: Any, root: str, *, inertia: bool, velocity: bool, actuation: bool, contact: bool) -> None:
        self._contacts = ContactWrenches(spec, root)
        self._fields = [
            field for field, told in (("cinert", inertia), ("cvel", velocity), ("qfrc_actuator", actuation)) if told
        ]
        self._tells_contact = contact

    def bind(self, model: Any, batch: Any) -> None:
        """Take hold of the compiled model and of its batch."""
        self._contacts.bind(model, batch.bind("sensordata"))
        self._joints = [model.joint(index).name for index in range(1, model.njnt)]
        self._blocks = [batch.bind(field)[:, FREE_DOFS if field == "qfrc_actuator" else 1 :] for field in self._fields]
        self.wrenches = np.zeros((len(batch.bind("qpos")), len(self._contacts.bodies), 6))
        """The contact wrench on each body (n, bodies, 6) at the last `measure`: torque in N m, then force in N."""

    def measure(self) -> None:
        """Read the contact sensors."""
        self.wrenches[:] = self._contacts.read()

    def read(self) -> list[NDArray[np.float64]]:
        """Return the blocks that are told, each (n, numbers)."""
        blocks = [block.reshape(len(block), -1) for block in self._blocks]
        return [*blocks, self.wrenches.reshape(len(self.wrenches), -1)] if self._tells_contact else blocks

    def name(self) -> Sequence[str]:
        """Return the name of each number of the blocks that are told."""
        bodies = self._contacts.bodies
        names: list[str] = []
        for field, parts in (("cinert", INERTIA_NAMES), ("cvel", VELOCITY_NAMES)):
            if field in self._fields:
                names += [f"{body}_{part}" for body in bodies for part in parts]
        if "qfrc_actuator" in self._fields:
            names += [f"{joint}_actuation" for joint in self._joints]
        if self._tells_contact:
            names += [f"{body}_{part}" for body in bodies for part in WRENCH_NAMES]
        return names
