"""Pulling at bodies, against MuJoCo's own function and the formula that its documentation gives."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from tests.viewer.fakes import Nodding
from tests.viewer.test_history import Falling
from tests.viewer.test_orders import Leaning
from workbench.errors import RequestError
from workbench.simulation import EnvSource, make_single
from workbench.viewer.hand import Hand, body_named
from workbench.viewer.session import Session
from workbench.viewer.strings import write_pose


def begun(env: Any, actor: Any = None) -> Session:
    session = Session(env, actor or Nodding(), seed=0)
    session.begin(0)
    return session


def test_the_force_is_a_damped_spring() -> None:
    session, hand = begun(Falling()), Hand()
    model, data = session.env.model, session.env.data
    data.qvel[:3] = (0.3, 0.0, 0.0)
    mujoco.mj_forward(model, data)
    to = data.xipos[1] + (0.5, 0.0, 0.25)
    hand.pull(session, 1, to)
    session.before_step()
    mass, stiffness = float(model.body_mass[1]), float(model.vis.map.stiffness)
    # A free ball: the whole mass is against the spring, whose damping is half of the critical 2 sqrt(k).
    expected = mass * (stiffness * np.array([0.5, 0, 0.25]) - np.sqrt(stiffness) * np.array([0.3, 0, 0]))
    assert data.xfrc_applied[1] == pytest.approx([*expected, 0, 0, 0], abs=1e-6)


def test_it_is_the_force_of_mujocos_own_viewer_at_any_point_of_a_jointed_body() -> None:
    session, hand = begun(Leaning()), Hand()
    model, data = session.env.model, session.env.data
    write_pose(session, np.array([0.2, 0.3]))
    pole = body_named(model, "pole")
    at, to = data.xpos[pole] + (0.05, 0.0, 0.15), np.array([0.6, 0.1, 0.5])
    hand.pull(session, pole, to, at=at)
    session.before_step()

    scene, camera, perturb = mujoco.MjvScene(model, maxgeom=100), mujoco.MjvCamera(), mujoco.MjvPerturb()
    mujoco.mjv_defaultFreeCamera(model, camera)
    mujoco.mjv_updateScene(model, data, mujoco.MjvOption(), None, camera, 1, scene)
    perturb.select, perturb.active = pole, int(mujoco.mjtPertBit.mjPERT_TRANSLATE)
    perturb.localpos[:] = data.xmat[pole].reshape(3, 3).T @ (at - data.xpos[pole])
    mujoco.mjv_initPerturb(model, data, scene, perturb)
    perturb.refselpos[:] = to
    other = mujoco.MjData(model)
    mujoco.mj_copyData(other, model, data)
    other.xfrc_applied[:] = 0
    mujoco.mjv_applyPerturbForce(model, other, perturb)
    assert np.abs(other.xfrc_applied[pole]).max() > 0.1
    assert data.xfrc_applied[pole] == pytest.approx(other.xfrc_applied[pole])
    assert hand.held_point(data) == pytest.approx(at)


def test_the_body_comes_along_and_is_free_again_when_let_go() -> None:
    session, hand = begun(Falling(10_000)), Hand()
    data = session.env.data
    hand.pull(session, 1, np.array([1.0, 0.5, 3.0]))
    for _ in range(300):
        session.step()
    # It hangs below the point where the spring carries its weight.
    sag = 9.81 / float(session.env.model.vis.map.stiffness)
    assert data.qpos[:3] == pytest.approx([1.0, 0.5, 3.0 - sag], abs=0.02)
    hand.release()
    assert not data.xfrc_applied.any()
    before = float(data.qvel[2])
    session.step()
    assert data.qvel[2] - before == pytest.approx(-9.81 * 5 * session.env.model.opt.timestep, rel=0.01)
    assert hand.body is None


def test_what_cannot_move_is_not_held() -> None:
    session = begun(Leaning())
    for body in (0, -1, 99):
        with pytest.raises(RequestError, match="fixed to the world"):
            Hand().pull(session, body, np.zeros(3))


@pytest.fixture
def batched() -> Any:
    env = make_single(EnvSource.from_entry(_entry("half_cheetah")))
    yield env
    env.close()


def _entry(name: str) -> Any:
    from workbench.catalog import discover
    from workbench.project import shipped_project

    return discover(shipped_project()).find(name)


class Still:
    """Does nothing, in an environment with six motors."""

    deterministic = True

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def act(self, observations: Any) -> Any:
        self.seen.append(np.array(observations[0]))
        return np.zeros((1, 6), np.float32)

    def reset(self, ids: Any = None, *, streams: Any = None) -> None:
        pass


def test_an_environment_of_a_batch_is_pulled_and_posed_as_well(batched: Any) -> None:
    actor = Still()
    session, hand = begun(batched, actor), Hand()
    core = batched.unwrapped
    torso = body_named(core.model, "torso")
    for _ in range(20):
        session.step()
    rest = float(core.data.xpos[torso][2])
    hand.pull(session, torso, core.data.xipos[torso] + (0.0, 0.0, 1.0))
    for _ in range(20):
        session.step()
    assert core.data.xpos[torso][2] > rest + 0.4
    hand.release()
    qpos = np.array(core.data.qpos)
    qpos[2] = 0.7
    write_pose(session, qpos)
    assert core.data.qpos == pytest.approx(qpos)
    session.step()
    # The second number that the half-cheetah observes is its pitch.
    assert actor.seen[-1][1] == pytest.approx(0.7, abs=1e-6)
    assert core.data.qpos[2] == pytest.approx(0.7, abs=0.15)
