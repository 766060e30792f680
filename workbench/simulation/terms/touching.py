"""Contacts that terms ask about, as sensors that are added to a model before it is compiled.

A contact counts where the solver works on it, within the margin of its geoms: those that only a gap lets MuJoCo find
do not touch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import mujoco
import numpy as np
from numpy.typing import NDArray

from workbench.errors import RequestError

Side = tuple[Literal["geom", "body", "subtree"], str]
"""A geom, the geoms of a body, or those of a body and all bodies below it."""

_OBJECTS = {
    "geom": mujoco.mjtObj.mjOBJ_GEOM,
    "body": mujoco.mjtObj.mjOBJ_BODY,
    "subtree": mujoco.mjtObj.mjOBJ_XBODY,
}


_DATA = (1 << int(mujoco.mjtConDataField.mjCONDATA_FOUND)) | (1 << int(mujoco.mjtConDataField.mjCONDATA_FORCE))
"""How many contacts there are, and the force of one of them, its normal part first."""
_MAXFORCE = 2
"""The sensor's `reduce`: the contact with the largest force is the one."""


@dataclass(frozen=True)
class Touch:
    """Contacts between two sides; without the second, all of the first; without either, all there are."""

    one: Side | None = None
    other: Side | None = None

    @property
    def sensor(self) -> str:
        """The name of its sensor."""
        return f"workbench/touch {self}"

    def __str__(self) -> str:
        sides = [" ".join(side) for side in (self.one, self.other) if side is not None]
        return " and ".join(sides) or "of anything"


def touching(model: Any, sensordata: NDArray[np.float64], touch: Touch) -> Callable[[], NDArray[np.bool_]]:
    """Return what tells which copies (n,) have such a contact now.

    Args:
        model: Compiled, with the sensors.
        sensordata: (n, nsensordata), live.
        touch: The contact.

    Raises:
        RequestError: The model has no sensor for it.
    """
    try:
        first = int(model.sensor(touch.sensor).adr[0])
    except KeyError:
        raise RequestError(
            f"the model has no sensor for contact {touch}.", hint="Let `load` return the spec."
        ) from None
    if model.geom_gap.any() or model.pair_gap.any():
        # Here some contacts are found that are none to the solver: those have no force.
        return lambda: sensordata[:, first + 1] != 0
    return lambda: sensordata[:, first] > 0


def add_touches(spec: Any, touches: Iterable[Touch]) -> None:
    """Add a sensor for each kind of contact to a model, once."""
    there = {sensor.name for sensor in spec.sensors}
    for touch in touches:
        if touch.sensor in there:
            continue
        there.add(touch.sensor)
        sides: dict[str, Any] = {}
        for side, (kind, name) in zip(
            (touch.one, touch.other), (("objtype", "objname"), ("reftype", "refname")), strict=True
        ):
            if side is not None:
                sides |= {kind: _OBJECTS[side[0]], name: side[1]}
        spec.add_sensor(
            name=touch.sensor,
            type=mujoco.mjtSensor.mjSENS_CONTACT,
            intprm=[_DATA, _MAXFORCE, 1],
            **sides,
        )
