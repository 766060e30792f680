"""The joints of a model as numbers to slide: what each is called, and how far it may go."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import mujoco
import numpy as np

from workbench.errors import RequestError
from workbench.suggest import nearest
from workbench.viewer.session import Session
from workbench.viewer.strings import write_pose

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)
_BALL = int(mujoco.mjtJoint.mjJNT_BALL)
_SLIDE = int(mujoco.mjtJoint.mjJNT_SLIDE)

_NO_LIMITS = (-math.inf, math.inf)

REACH_M = 5.0
"""How far from where it is a slider takes what has no limits."""

_PLACES = ("x", "y", "z")
_TURNS = ("qw", "qx", "qy", "qz")


@dataclass(frozen=True)
class Slider:
    """One number of a pose."""

    name: str
    """The joint's name; with `.x` to `.qz` for the seven of a free joint and the four of a ball."""
    address: int
    """Its place in `qpos`."""
    low: float
    high: float
    """As far as the joint goes; infinite for one without limits, and for the numbers of a rotation."""
    kind: Literal["place", "angle", "turn"]
    """In metres, in radians, or part of a quaternion."""

    def span(self, value: float) -> tuple[float, float]:
        """Return how far a slider that stands at a value goes: to the limits, else as far to both sides of it."""
        if self.kind == "turn":
            return -1.0, 1.0
        reach = math.pi if self.kind == "angle" else REACH_M
        low, high = (self.low, self.high) if math.isfinite(self.low) else (value - reach, value + reach)
        return min(low, value), max(high, value)


def sliders(model: Any) -> list[Slider]:
    """Return every number of the pose of a model, an `MjModel`, in order."""
    found = []
    for joint in range(model.njnt):
        name = str(model.joint(joint).name) or f"joint {joint}"
        start, kind = int(model.jnt_qposadr[joint]), int(model.jnt_type[joint])
        if kind in (_FREE, _BALL):
            places = _PLACES if kind == _FREE else ()
            for offset, part in enumerate((*places, *_TURNS)):
                found.append(
                    Slider(f"{name}.{part}", start + offset, *_NO_LIMITS, "place" if part in places else "turn")
                )
            continue
        low, high = (float(end) for end in model.jnt_range[joint]) if model.jnt_limited[joint] else _NO_LIMITS
        found.append(Slider(name, start, low, high, "place" if kind == _SLIDE else "angle"))
    return found


def slide(session: Session, name: str, value: float) -> None:
    """Set one number of the pose; the model is at rest in it.

    Raises:
        RequestError: There is no such joint, or it does not go so far.
    """
    core = session.env.unwrapped
    known = {slider.name: slider for slider in sliders(core.model)}
    slider = known.get(name)
    if slider is None:
        close = nearest(name, known)
        hint = f"Did you mean {' or '.join(close)}?" if close else f"There are {', '.join(known)}."
        raise RequestError(f"there is no joint `{name}`.", hint=hint)
    if not slider.low - 1e-9 <= value <= slider.high + 1e-9:
        raise RequestError(f"`{name}` goes from {slider.low:.4g} to {slider.high:.4g}, not to {value:.4g}.")
    qpos = np.array(core.data.qpos)
    qpos[slider.address] = value
    if _TURNS and name.rpartition(".")[2] in _TURNS and not _norm(qpos, known, name) > 1e-6:
        raise RequestError(f"`{name}` would leave a rotation of no length.")
    write_pose(session, qpos)


def _norm(qpos: Any, known: dict[str, Slider], name: str) -> float:
    """Return the length of the quaternion that a number is part of."""
    joint = name.rpartition(".")[0]
    return float(np.linalg.norm([qpos[known[f"{joint}.{part}"].address] for part in _TURNS]))
