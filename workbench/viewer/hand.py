"""A hand that pulls at a body by a spring, as MuJoCo's own viewer does: its stiffness, its damping."""

from __future__ import annotations

import re
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from workbench.errors import RequestError
from workbench.suggest import nearest
from workbench.viewer.session import Session, has_mujoco_model
from workbench.viewer.strings import write_force

Vector = NDArray[np.floating[Any]]


class Hand:
    """Holds a body of one session, or none.

    The spring has the stiffness of the model's visual settings times the mass that the held point puts against it,
    and half of the damping that would be critical, so that a light foot and a heavy torso are moved alike.
    """

    def __init__(self) -> None:
        self._session: Session | None = None
        self._perturb: Any = None
        self._scene: Any = None

    @property
    def body(self) -> int | None:
        """The number of the body that is held."""
        return None if self._perturb is None else int(self._perturb.select)

    @property
    def target(self) -> Vector:
        """Where the held point is pulled to, `(3,)`."""
        return np.array(self._perturb.refselpos)

    def held_point(self, data: Any) -> Vector:
        """Return where the held point is, `(3,)`."""
        body = self._perturb.select
        rotation = data.xmat[body].reshape(3, 3)
        point: Vector = data.xpos[body] + rotation @ self._perturb.localpos
        return point

    def pull(self, session: Session, body: int, target: Vector, *, at: Vector | None = None) -> None:
        """Hold a body, or go on holding it, and pull it to `target` from the next step on.

        Args:
            session: Where it is.
            body: Its number.
            target: Where the held point is to go, `(3,)` in the world.
            at: The point that is held, `(3,)` in the world; None for the one that is held already, else the centre
                of mass.

        Raises:
            RequestError: There is nothing to pull at.
        """
        if not has_mujoco_model(session.env):
            raise RequestError("this environment has no MuJoCo model, so there is no body to pull at.")
        core = session.env.unwrapped
        model, data = core.model, core.data
        if not 0 < body < model.nbody or int(model.body_weldid[body]) == 0:
            name = model.body(body).name if 0 <= body < model.nbody else str(body)
            raise RequestError(f"`{name}` is fixed to the world: nothing moves it.")
        if self._session is not session or self.body != body or at is not None:
            self.release()
            self._session = session
            self._perturb = self._grab(model, data, body, data.xipos[body] if at is None else at)
            session.before_step = self._apply
        self._perturb.refselpos[:] = target

    def release(self) -> None:
        """Let go."""
        if self._session is not None and self._perturb is not None:
            write_force(self._session, int(self._perturb.select), np.zeros(6))
            self._session.before_step = lambda: None
        self._session = self._perturb = None

    def _grab(self, model: Any, data: Any, body: int, point: Vector) -> Any:
        perturb = mujoco.MjvPerturb()
        perturb.select = body
        perturb.active = int(mujoco.mjtPertBit.mjPERT_TRANSLATE)
        perturb.localpos[:] = data.xmat[body].reshape(3, 3).T @ (point - data.xpos[body])
        # MuJoCo measures the mass at the held point while it works out a scale for a mouse, for which it needs a
        # camera; neither draws anything.
        if self._scene is None or self._scene[0] is not model:
            scene, camera = mujoco.MjvScene(model, maxgeom=0), mujoco.MjvCamera()
            mujoco.mjv_defaultFreeCamera(model, camera)
            scene.camera[0].frustum_near = scene.camera[1].frustum_near = 0.01
            scene.camera[0].frustum_far = scene.camera[1].frustum_far = 1.0
            for one in scene.camera:
                one.forward[:], one.up[:] = (1, 0, 0), (0, 0, 1)
            self._scene = (model, scene)
        mujoco.mjv_initPerturb(model, data, self._scene[1], perturb)
        return perturb

    def _apply(self) -> None:
        assert self._session is not None
        core = self._session.env.unwrapped
        data, body = core.data, int(self._perturb.select)
        mujoco.mjv_applyPerturbForce(core.model, data, self._perturb)
        write_force(self._session, body, np.array(data.xfrc_applied[body]))


def body_named(model: Any, name: str) -> int:
    """Return the number of a body, called by its name, or by `body` and its number.

    Raises:
        RequestError: There is none of that name; says which there are.
    """
    names = [body_name(model, body) for body in range(model.nbody)]
    if name in names:
        return names.index(name)
    numbered = re.fullmatch(r"body ([0-9]{1,9})", name)
    if numbered is not None and int(numbered[1]) < model.nbody:
        return int(numbered[1])
    close = nearest(name, names)
    hint = f"Did you mean {' or '.join(close)}?" if close else f"There are {', '.join(names)}."
    raise RequestError(f"there is no body `{name}`.", hint=hint)


def body_name(model: Any, body: int) -> str:
    """Return what a body is called: its name, else `body` and its number."""
    return str(model.body(body).name) or f"body {body}"
