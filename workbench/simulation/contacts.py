"""Contact wrenches on bodies, from sensors of the model.

`Batch` does not run `mj_rnePostConstraint`, so its `cfrc_ext` stays zero. A `contact` sensor a body gives the same:
the net force of all contacts on the body and the point it acts at, moved to the centre of mass of the kinematic tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

_FIELDS = ("FOUND", "FORCE", "TORQUE", "POS")
_WIDTH = 1 + 3 + 3 + 3
_TORQUE_FORCE = (4, 5, 6, 1, 2, 3)
_NETFORCE = 3
"""The sensor's `reduce`: one contact that stands for all."""


class ContactWrenches:
    """The wrench that contacts put on each of some bodies: torque, then force, in the world's axes.

    The layout, the sign and the reference point (the centre of mass of the tree under `root`) are those of MuJoCo's
    `cfrc_ext`, and for one state the numbers are too. Sensors are evaluated where `mj_step` begins: after a step they
    tell the wrench at the state before the last simulation step, whatever the integrator; after a reset, at the state
    itself. Gymnasium's Ant, integrated by RK4, reads instead what the last Runge-Kutta stage left.

    Args:
        spec: The model, to which the sensors are added before it is compiled.
        root: The body whose tree's centre of mass the wrenches are taken at.
        bodies: The bodies, in order; None for all but the world.
    """

    def __init__(self, spec: Any, root: str, bodies: Sequence[str] | None = None) -> None:
        for index, body in enumerate(spec.bodies):
            # A sensor finds its body by name.
            body.name = body.name or f"body_{index}"
        self.bodies = tuple(bodies if bodies is not None else (body.name for body in spec.bodies[1:]))
        data = sum(1 << int(getattr(mujoco.mjtConDataField, f"mjCONDATA_{name}")) for name in _FIELDS)
        for body in self.bodies:
            spec.add_sensor(
                name=f"contact_{body}",
                type=mujoco.mjtSensor.mjSENS_CONTACT,
                objtype=mujoco.mjtObj.mjOBJ_BODY,
                objname=body,
                intprm=[data, _NETFORCE, 1],
            )
        # By a sensor too, so that force and reference point are of one instant.
        self._com = f"com_{root}"
        spec.add_sensor(
            name=self._com,
            type=mujoco.mjtSensor.mjSENS_SUBTREECOM,
            objtype=mujoco.mjtObj.mjOBJ_BODY,
            objname=root,
        )

    def bind(self, model: Any, sensordata: NDArray[np.float64]) -> None:
        """Say where the sensors' readings are: the compiled model and the live array (n, nsensordata)."""
        first, com = (int(model.sensor(name).adr[0]) for name in (f"contact_{self.bodies[0]}", self._com))
        self._readings = sensordata[:, first : first + _WIDTH * len(self.bodies)]
        self._origin = sensordata[:, com : com + 3]

    def read(self) -> NDArray[np.float64]:
        """Return the wrenches (n, bodies, 6); zero where a body touches nothing."""
        readings = self._readings.reshape(len(self._readings), len(self.bodies), _WIDTH)
        # The sensor tells what the body does to others.
        out = -readings[..., _TORQUE_FORCE]
        arm = readings[..., 7:10] - self._origin[:, None]
        for axis, (one, other) in enumerate(((1, 2), (2, 0), (0, 1))):
            out[..., axis] += arm[..., one] * out[..., 3 + other] - arm[..., other] * out[..., 3 + one]
        out *= readings[..., :1] > 0
        return out
