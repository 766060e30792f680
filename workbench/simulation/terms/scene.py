"""What terms read: the live arrays of an environment, and its model's entities by name.

After a step, what comes from positions and velocities of joints is of the present state; positions and orientations of
bodies and sites, contacts and forces are, like everything `mj_step` derives, of the state before the last simulation
step. After a restart all are of the state itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from workbench.errors import NotFoundError, RequestError
from workbench.simulation.episodes import Floats
from workbench.simulation.mjcf import actuator_name
from workbench.simulation.terms.naming import missing
from workbench.simulation.terms.touching import Touch, touching

if TYPE_CHECKING:
    from workbench.simulation.batch_env import BatchEnv

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class FloatingBase:
    """The state of a body with a free joint, live."""

    position: Floats
    """(n, 3), m."""
    quaternion: Floats
    """(n, 4), w first; of about unit length."""
    velocity: Floats
    """(n, 3), m/s, in the world's axes."""
    turning: Floats
    """(n, 3), rad/s, in the body's own axes."""


class Scene:
    """An environment as its terms see it.

    Args:
        env: Model and batch exist.
        goals: The vectors (n, k) that are sampled at the start of each episode, live.
    """

    def __init__(self, env: BatchEnv[Any], goals: Mapping[str, Floats]) -> None:
        self.model: Any = env.model
        self.n_envs = env.n_envs
        self.control_dt = env.control_dt
        self.goals = goals
        self.actions: Floats = np.zeros((env.n_envs, 0))
        """Those of the last step (n, a), within their bounds."""
        self.previous_actions: Floats = np.zeros((env.n_envs, 0))
        """Those of the step before (n, a)."""
        self.is_first: Bools = np.ones(env.n_envs, dtype=bool)
        """Which copies (n,) have taken no step but the last in their episode."""
        self._batch: Any = env.batch

    def field(self, name: str) -> NDArray[Any]:
        """Return a live array (n, …) of a field of `MjData`."""
        found: NDArray[Any] = self._batch.bind(name)
        return found

    def body(self, name: str) -> int:
        """Return a body's number."""
        return self._id(mujoco.mjtObj.mjOBJ_BODY, "body", name)

    def position(self, body: str) -> Floats:
        """Return where the origin of a body's frame is (n, 3), live."""
        return self.field("xpos")[:, self.body(body)]

    def orientation(self, body: str) -> Floats:
        """Return the quaternion (n, 4) of a body, live."""
        return self.field("xquat")[:, self.body(body)]

    def positions(self, bodies: Iterable[str]) -> tuple[Floats, list[int]]:
        """Return the array (n, bodies, 3) of all bodies, live, and the numbers of some."""
        return self.field("xpos"), [self.body(name) for name in bodies]

    def frame(self, name: str) -> tuple[Floats, Floats]:
        """Return position (n, 3) and rotation (n, 3, 3) of a site or a body, live."""
        site = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_SITE, name)
        if site >= 0:
            return self.field("site_xpos")[:, site], self._square(self.field("site_xmat")[:, site])
        body = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, name)
        if body < 0:
            known = [*self._names(mujoco.mjtObj.mjOBJ_SITE), *self._names(mujoco.mjtObj.mjOBJ_BODY)]
            raise missing("site or body", name, known)
        return self.field("xpos")[:, body], self._square(self.field("xmat")[:, body])

    def place(self, target: Any) -> Floats:
        """Return where something is (n, 3), live: a goal, a site, a body, or a point (3,)."""
        if not isinstance(target, str):
            return np.broadcast_to(np.array(target, dtype=np.float64), (self.n_envs, 3))
        if target in self.goals:
            return self.goal(target, 3)
        try:
            return self.frame(target)[0]
        except NotFoundError:
            known = [*self.goals, *self._names(mujoco.mjtObj.mjOBJ_SITE), *self._names(mujoco.mjtObj.mjOBJ_BODY)]
            raise missing("goal, site or body", target, known) from None

    def goal(self, name: str, size: int) -> Floats:
        """Return a goal (n, size), live."""
        if name not in self.goals:
            raise missing("goal", name, self.goals)
        found = self.goals[name]
        if found.shape[1] != size:
            raise RequestError(f"the goal {name} has {found.shape[1]} numbers, and {size} are due.")
        return found

    def joint(self, name: str) -> Floats:
        """Return the position (n,) of a hinge (rad) or slide (m), live."""
        index = self._id(mujoco.mjtObj.mjOBJ_JOINT, "joint", name)
        if int(self.model.jnt_type[index]) not in _SCALAR:
            raise RequestError(f"the joint {name} is neither a hinge nor a slide: it has no one position.")
        return self.field("qpos")[:, int(self.model.jnt_qposadr[index])]

    def limited_joints(self, prefix: str | None) -> tuple[NDArray[np.intp], Floats]:
        """Return where the positions of hinges and slides with limits are in `qpos` (k,), and the limits (k, 2).

        Args:
            prefix: What their names begin with; None for all.
        """
        model = self.model
        named = range(model.njnt) if prefix is None else self._with_prefix(mujoco.mjtObj.mjOBJ_JOINT, "joint", prefix)
        found = [one for one in named if model.jnt_limited[one] and int(model.jnt_type[one]) in _SCALAR]
        if not found:
            which = "of the model" if prefix is None else f"beginning with {prefix}"
            raise RequestError(f"no hinge or slide {which} has limits.", hint="Give a joint a range in the model.")
        return model.jnt_qposadr[found].astype(np.intp), model.jnt_range[found].copy()

    def actuators(self, prefix: str | None) -> list[int]:
        """Return the numbers of the actuators whose names (or whose joints' names) begin with a prefix, or of all."""
        names = [actuator_name(self.model, index) for index in range(self.model.nu)]
        found = [index for index, name in enumerate(names) if prefix is None or name.startswith(prefix)]
        if not found:
            if prefix is None:
                raise RequestError("the model has no actuator.")
            raise missing("actuator that begins with", prefix, names)
        return found

    def base(self, name: str | None) -> FloatingBase:
        """Return a floating base: that of a body, or the only one there is."""
        model = self.model
        free = [int(joint) for joint in np.flatnonzero(model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE))]
        names = [str(model.body(int(model.jnt_bodyid[joint])).name) for joint in free]
        if not free:
            raise RequestError("no body of the model has a free joint: there is no floating base.")
        if name is None and len(free) > 1:
            raise RequestError(f"{len(free)} bodies have free joints: {', '.join(names)}.", hint="Name one as robot=.")
        if name is not None and name not in names:
            raise missing("body with a free joint", name, names)
        joint = free[0] if name is None else free[names.index(name)]
        first, dof = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        qpos, qvel = self.field("qpos"), self.field("qvel")
        return FloatingBase(
            position=qpos[:, first : first + 3],
            quaternion=qpos[:, first + 3 : first + 7],
            velocity=qvel[:, dof : dof + 3],
            turning=qvel[:, dof + 3 : dof + 6],
        )

    def bodies_with(self, prefix: str) -> list[str]:
        """Return the names of the bodies that begin with a prefix; at least one."""
        return [str(self.model.body(one).name) for one in self._with_prefix(mujoco.mjtObj.mjOBJ_BODY, "body", prefix)]

    def touching(self, touch: Touch) -> Callable[[], Bools]:
        """Return what tells which copies (n,) have a contact; the model must have been prepared for it."""
        return touching(self.model, self.field("sensordata"), touch)

    def _square(self, matrices: NDArray[Any]) -> Floats:
        return matrices.reshape(self.n_envs, 3, 3)

    def _id(self, kind: Any, word: str, name: str) -> int:
        index = int(mujoco.mj_name2id(self.model, kind, name))
        if index < 0:
            raise missing(word, name, self._names(kind))
        return index

    def _names(self, kind: Any) -> list[str]:
        count = {
            mujoco.mjtObj.mjOBJ_BODY: self.model.nbody,
            mujoco.mjtObj.mjOBJ_SITE: self.model.nsite,
            mujoco.mjtObj.mjOBJ_JOINT: self.model.njnt,
        }[kind]
        names = (mujoco.mj_id2name(self.model, kind, index) for index in range(count))
        return [str(name) for name in names if name]

    def _with_prefix(self, kind: Any, word: str, prefix: str) -> list[int]:
        names = self._names(kind)
        found = [int(mujoco.mj_name2id(self.model, kind, name)) for name in names if name.startswith(prefix)]
        if not found:
            raise missing(f"{word} that begins with", prefix, names)
        return found


_SCALAR = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
