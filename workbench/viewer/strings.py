"""Pulling at an environment from outside: its pose, forces on its bodies, and what it would then observe.

Environments of one batched copy keep their state in arrays of the batch, Gymnasium's in an `MjData`; both are reached
here, so that whatever is changed is still there at the next step.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from workbench.viewer.session import Session


def write_pose(session: Session, qpos: NDArray[np.floating[Any]]) -> None:
    """Put the model into a pose, at rest, and let what acts see it.

    Args:
        session: Whose environment has a MuJoCo model.
        qpos: Positions, `(nq,)`; quaternions are made of unit length.
    """
    core = session.env.unwrapped
    qpos = np.array(qpos, dtype=float)
    mujoco.mj_normalizeQuat(core.model, qpos)
    batch = getattr(core, "batch", None)
    if batch is not None:
        batch.qpos[0], batch.qvel[0] = qpos, 0.0
        batch.batch.forward(np.array([0]))
        batch.measure()
        # Brings the `MjData` that the environment hands out up to date.
        batch.data(0)
        session.observation = np.array(batch.observe()[0])
        return
    core.data.qpos[:], core.data.qvel[:] = qpos, 0.0
    mujoco.mj_forward(core.model, core.data)
    observe = getattr(core, "_get_obs", None)
    if callable(observe):
        # Gymnasium's environments have no public way to ask.
        session.observation = observe()


def write_force(session: Session, body: int, wrench: NDArray[np.floating[Any]]) -> None:
    """Let a force and a torque act on a body, in the world's axes, until they are written again.

    Args:
        session: Whose environment has a MuJoCo model.
        body: The body's number.
        wrench: Force, then torque about its centre of mass, `(6,)`.
    """
    core = session.env.unwrapped
    batch = getattr(core, "batch", None)
    if batch is not None:
        batch.batch.bind("xfrc_applied")[0, body] = wrench
    core.data.xfrc_applied[body] = wrench
