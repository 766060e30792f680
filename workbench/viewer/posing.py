"""The joints of a model as numbers to slide: what each is called, and how far it may go."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from workbench.errors import RequestError
from workbench.suggest import nearest
from workbench.viewer.session import Session
from workbench.viewer.strings import write_pose

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)
_BALL = int(mujoco.mjtJoint.mjJNT_BALL)
_SLIDE = int(mujoco.mjtJoint.mjJNT_SLIDE)

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
    is_angle: bool
    """In radians; else metres, or part of a quaternion."""
    has_limits: bool
    """Whether the joint itself has these limits; else they are what a slider is worth."""


def sliders(model: Any, reach: float) -> list[Slider]:
    """Return every number of the pose of a model, in order.

    Args:
        model: The `MjModel`.
        reach: How far a place without limits may be slid, in metres.
    """
    found = []
    for joint in range(model.njnt):
        name = str(model.joint(joint).name) or f"joint {joint}"
        start, kind = int(model.jnt_qposadr[joint]), int(model.jnt_type[joint])
        if kind in (_FREE, _BALL):
            places = _PLACES if kind == _FREE else ()
            for offset, part in enumerate((*places, *_TURNS)):
                middle = float(model.qpos0[start + offset]) if part in places else 0.0
                half = reach if part in places else 1.0
                found.append(Slider(f"{name}.{part}", start + offset, middle - half, middle + half, False, False))
            continue
        is_angle = kind != _SLIDE
        limited = bool(model.jnt_limited[joint])
        half = math.pi if is_angle else reach
        low, high = (float(end) for end in model.jnt_range[joint]) if limited else (-half, half)
        found.append(Slider(name, start, low, high, is_angle, limited))
    return found


def slide(session: Session, name: str, value: float) -> None:
    """Set one number of the pose; the model is at rest in it.

    Raises:
        RequestError: There is no such joint, or it does not go so far.
    """
    core = session.env.unwrapped
    known = {slider.name: slider for slider in sliders(core.model, math.inf)}
    slider = known.get(name)
    if slider is None:
        close = nearest(name, known)
        hint = f"Did you mean {' or '.join(close)}?" if close else f"There are {', '.join(known)}."
        raise RequestError(f"there is no joint `{name}`.", hint=hint)
    if slider.has_limits and not slider.low - 1e-9 <= value <= slider.high + 1e-9:
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
