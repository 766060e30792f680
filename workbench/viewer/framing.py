"""Where things are and how much of the world to show: the floor, what moves, what to follow, how large it is.

Pure MuJoCo and NumPy. All of it is read once from the model in its reference pose, so that two recordings of one
environment are framed alike.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from workbench.viewer.shapes import HFIELD, PLANE, SHOWN_GROUPS

Vector = NDArray[np.floating[Any]]

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)
_SLIDE = int(mujoco.mjtJoint.mjJNT_SLIDE)
_HINGE = int(mujoco.mjtJoint.mjJNT_HINGE)

SEEN_AT = (135.0, -16.0)
"""Azimuth and elevation, in degrees, of models that name no view of their own."""

SEEN_FROM_ABOVE = -60.0
"""The elevation for models that move in a level plane."""

UNNAMED_VIEW = (90.0, -45.0)
"""What MuJoCo fills in for a model that names no view."""

POSES = 48
"""Poses within the joint limits that tell how far a fixed base can reach."""

RARELY = 0.1
"""The share of these poses that may stick out of the picture, towards each side."""

RISE = 0.5
"""The room above and below a body that can leave the floor, to hop and stretch in, over half its height."""


@dataclass(frozen=True)
class Framing:
    """The measures a scene, its floor and its camera share."""

    floor_geom: int | None
    """The model's own level ground plane; None where it has none."""
    floor_height: float
    """Where the floor is drawn: the ground plane, else just below everything."""
    radius: float
    """Half the diagonal of what moves, in metres."""
    height: float
    """From the lowest to the highest of it, in the reference pose."""
    rises: bool
    """Whether the body that is followed can leave the floor."""
    centre: Vector
    """The middle of what moves, in the reference pose, `(3,)`."""
    follow_body: int | None
    """The body whose subtree the camera follows; None for a base that cannot leave."""
    lift: float
    """How far the middle of that subtree is above its centre of mass, in the reference pose."""
    azimuth_deg: float
    elevation_deg: float
    """Where to look from: the model's own view where it names one, else what shows its motion."""

    @property
    def wide(self) -> float:
        """Half of how far it reaches over the floor, in metres."""
        return math.sqrt(max(0.0, self.radius**2 - (self.height / 2) ** 2))

    def upright(self, elevation_deg: float) -> float:
        """Return how far above and below its middle it is seen, in metres, with room to hop where it can leave.

        Args:
            elevation_deg: Of the camera.
        """
        seen = self.height / 2 * math.cos(math.radians(elevation_deg))
        return (1 + RISE) * seen if self.rises else seen

    def target(self, data: Any) -> Vector:
        """Return the point to look at, `(3,)`."""
        if self.follow_body is None:
            return self.centre
        point: Vector = np.array(data.subtree_com[self.follow_body])
        point[2] += self.lift
        return point


def frame(model: Any, *, follow: str | None = None) -> Framing:
    """Measure `model`, following the body named `follow` where the environment names one."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    moving = [index for index in range(model.ngeom) if _moves(model, index)]
    shown = moving or [index for index in range(model.ngeom) if _solid(model, index)]
    low, high = _extent(model, data, shown)
    size = float(np.linalg.norm(high - low))
    body = _followed(model, follow, size)
    floor = _floor(model, data)
    if moving and (body is None or floor is None):
        # On wheels and with no ground what hangs from a hinge may be anywhere around it, and no floor cuts it off.
        low, high = _reachable(model, low, high, moving, turns_only=body is not None)
    height = _lowest(model, data, low) if floor is None else float(data.geom_xpos[floor][2])
    if 0 < low[2] - height < size:
        # What hangs or rolls a little above the floor is shown with the floor below it, and its shadow.
        low[2] = height
    radius = max(float(np.linalg.norm(high - low)) / 2, 1e-3)
    lift = 0.0 if body is None else float((low[2] + high[2]) / 2 - data.subtree_com[body][2])
    tall = float(high[2] - low[2])
    rises = body is not None and _can_rise(model, body)
    return Framing(floor, height, radius, tall, rises, (low + high) / 2, body, lift, *_view(model))


def corners(model: Any, data: Any) -> Vector:
    """Return the corners of the boxes around what moves, as it is now, `(n, 3)`; none where nothing does."""
    moving = [index for index in range(model.ngeom) if _moves(model, index)]
    centre, half = model.geom_aabb[moving, :3], model.geom_aabb[moving, 3:]
    signs = np.array(list(itertools.product((-1, 1), repeat=3)))
    within = centre[:, None] + signs * half[:, None]
    rotation = data.geom_xmat[moving].reshape(-1, 3, 3)
    return np.array(data.geom_xpos[moving][:, None] + np.einsum("nij,nkj->nki", rotation, within)).reshape(-1, 3)


def _lowest(model: Any, data: Any, low: Vector) -> float:
    """Return the height of the lowest thing there is, `low` being the corner of what moves."""
    solid = [index for index in range(model.ngeom) if _solid(model, index)]
    terrain = [index for index in range(model.ngeom) if int(model.geom_type[index]) == HFIELD]
    heights = [float(data.geom_xpos[index][2]) for index in terrain]
    return min([*heights, float(_extent(model, data, solid)[0][2]), float(low[2])] if solid else [*heights, 0.0])


def _moves(model: Any, geom: int) -> bool:
    """Tell whether a geom belongs to what moves by itself: bodies put somewhere are marks, as large as they like."""
    body = int(model.geom_bodyid[geom])
    is_put = int(model.body_mocapid[model.body_rootid[body]]) >= 0
    return _solid(model, geom) and int(model.body_weldid[body]) != 0 and not is_put


def _solid(model: Any, geom: int) -> bool:
    """Tell whether a geom is a shown body with an end, not ground."""
    shown = model.geom_group[geom] in SHOWN_GROUPS and model.geom_rgba[geom][3] > 0
    return bool(shown) and int(model.geom_type[geom]) not in (PLANE, HFIELD)


def _extent(model: Any, data: Any, geoms: list[int]) -> tuple[Vector, Vector]:
    """Return the lowest and highest corner of the boxes around `geoms`."""
    if not geoms:
        return np.full(3, -1.0), np.full(3, 1.0)
    centre, half = model.geom_aabb[geoms, :3], model.geom_aabb[geoms, 3:]
    rotation = data.geom_xmat[geoms].reshape(-1, 3, 3)
    middle = data.geom_xpos[geoms] + np.einsum("nij,nj->ni", rotation, centre)
    reach = np.einsum("nij,nj->ni", np.abs(rotation), half)
    return (middle - reach).min(axis=0), (middle + reach).max(axis=0)


def _reachable(model: Any, low: Vector, high: Vector, geoms: list[int], *, turns_only: bool) -> tuple[Vector, Vector]:
    """Widen the corners by the poses within the joints' limits: hinges without any turn all round, far slides stay.

    Args:
        model: The model.
        low: The lowest corner in the reference pose, `(3,)`.
        high: The highest one.
        geoms: What lies between them.
        turns_only: Only hinges without limits are turned.
    """
    data = mujoco.MjData(model)
    far = 2 * float(np.linalg.norm(high - low))
    varied = []
    for joint in range(model.njnt):
        kind, limited = int(model.jnt_type[joint]), bool(model.jnt_limited[joint])
        if (kind == _HINGE and not (turns_only and limited)) or (
            kind == _SLIDE and not turns_only and _span(model, joint) < far
        ):
            varied.append(joint)
    random = np.random.default_rng(0)
    lows, highs = np.empty((POSES, 3)), np.empty((POSES, 3))
    for pose in range(POSES):
        data.qpos[:] = model.qpos0
        for joint in varied:
            limits = model.jnt_range[joint] if model.jnt_limited[joint] else (-math.pi, math.pi)
            data.qpos[model.jnt_qposadr[joint]] = random.uniform(*limits)
        mujoco.mj_kinematics(model, data)
        lows[pose], highs[pose] = _extent(model, data, geoms)
    # Poses at the ends of all joints at once are rare: a picture that held them too would show everything else small.
    return (
        np.minimum(low, np.quantile(lows, RARELY, axis=0)),
        np.maximum(high, np.quantile(highs, 1 - RARELY, axis=0)),
    )


def _followed(model: Any, name: str | None, size: float) -> int | None:
    if name is not None:
        found = mujoco.mj_name2id(model, int(mujoco.mjtObj.mjOBJ_BODY), name)
        return found if found >= 0 else None
    for body in range(1, model.nbody):
        if model.body_weldid[body] != 0:
            # What moves first is the robot: on a base that is fixed it leaves nowhere, whatever lies about.
            root = int(model.body_rootid[body])
            return root if _can_leave(model, root, size) else None
    return None


def _span(model: Any, joint: int) -> float:
    """Return how far a joint moves between its limits."""
    return float(model.jnt_range[joint][1] - model.jnt_range[joint][0]) if model.jnt_limited[joint] else float("inf")


def _joints(model: Any, body: int) -> range:
    start = int(model.body_jntadr[body])
    return range(start, start + int(model.body_jntnum[body]))


def _can_leave(model: Any, body: int, size: float) -> bool:
    """Tell whether a body floats, or slides further than what moves is large."""
    return any(
        int(model.jnt_type[joint]) == _FREE or (int(model.jnt_type[joint]) == _SLIDE and _span(model, joint) > size)
        for joint in _joints(model, body)
    )


def _can_rise(model: Any, body: int) -> bool:
    """Tell whether a body floats, or slides upwards."""
    return any(
        int(model.jnt_type[joint]) == _FREE
        or (int(model.jnt_type[joint]) == _SLIDE and abs(float(model.jnt_axis[joint][2])) > 0.5)
        for joint in _joints(model, body)
    )


def _floor(model: Any, data: Any) -> int | None:
    """Return the first plane of the world that looks up."""
    for geom in range(model.ngeom):
        fixed = int(model.body_weldid[model.geom_bodyid[geom]]) == 0
        if int(model.geom_type[geom]) == PLANE and fixed and data.geom_xmat[geom][8] > 0.999:
            return geom
    return None


def _view(model: Any) -> tuple[float, float]:
    """Return azimuth and elevation in degrees."""
    own = (float(model.vis.global_.azimuth), float(model.vis.global_.elevation))
    if own != UNNAMED_VIEW:
        return own
    return SEEN_AT[0], SEEN_FROM_ABOVE if _level(model) else SEEN_AT[1]


def _level(model: Any) -> bool:
    """Tell whether every joint keeps the model in a level plane: hinges about z, slides along x and y."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    for joint in range(model.njnt):
        upright = abs(float(data.xaxis[joint][2]))
        kind = int(model.jnt_type[joint])
        if not ((kind == _HINGE and upright > 0.99) or (kind == _SLIDE and upright < 0.01)):
            return False
    return bool(model.njnt > 0)
