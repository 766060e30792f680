"""Models that nobody here wrote: they load, stand in the picture, and are lit."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest

from workbench.simulation import EnvSource, make_single
from workbench.viewer.frames import MujocoFrames
from workbench.viewer.look import THEMES

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*settotalmass.*"),
    pytest.mark.xdist_group("polyscope"),
]

SIZE = (160, 120)
GYMNASIUM = (
    "Ant", "HalfCheetah", "Hopper", "Humanoid", "HumanoidStandup", "InvertedDoublePendulum", "InvertedPendulum",
    "Pusher", "Reacher", "Swimmer", "Walker2d",
)  # fmt: skip
ROBOTICS = (
    "fetch/reach", "fetch/push", "fetch/slide", "fetch/pick_and_place", "hand/reach", "hand/manipulate_block",
    "hand/manipulate_egg", "hand/manipulate_pen", "adroit_hand/adroit_door", "adroit_hand/adroit_hammer",
    "adroit_hand/adroit_pen", "adroit_hand/adroit_relocate", "kitchen_franka/kitchen_assets/kitchen_env_model",
)  # fmt: skip


class Posed:
    """A model as it is made, dressed as an environment."""

    def __init__(self, model: Any) -> None:
        self.model, self.data, self.unwrapped = model, mujoco.MjData(model), self
        mujoco.mj_forward(model, self.data)


def shares(env: Any) -> tuple[float, float]:
    """Return the share of the picture that the model covers, and how much of that lies on its edge."""
    pictures = []
    for shown in (True, False):
        frames = MujocoFrames(env, size=SIZE, samples=1, theme=THEMES["light"])
        if not shown:
            frames._scene.show(range(env.unwrapped.model.nbody), {"floor"})
        pictures.append(frames.draw(0.0).reshape(SIZE[1], SIZE[0], 4)[..., :3].astype(int))
        frames.close()
    covered = np.abs(pictures[0] - pictures[1]).max(axis=-1) > 12
    inner = covered[3:-3, 3:-3].sum()
    return covered.mean(), 1 - inner / max(1, covered.sum())


@pytest.mark.parametrize("name", GYMNASIUM)
def test_models_of_gymnasium_stand_in_the_picture(name: str) -> None:
    env = gymnasium.make(f"{name}-v5")
    env.reset(seed=1)
    covered, outside = shares(env)
    env.close()
    assert 0.01 < covered < 0.6
    # Reacher's walls and the pendulum's rail leave it, and bodies do not.
    assert outside < 0.25


needs_robotics = pytest.mark.skipif(
    importlib.util.find_spec("gymnasium_robotics") is None, reason="gymnasium-robotics, an extra, is not installed"
)


@needs_robotics
@pytest.mark.filterwarnings("ignore:.*share an object.*")
@pytest.mark.parametrize("env_id", ["FetchReach-v4", "HandReach-v3", "AdroitHandPen-v1", "FrankaKitchen-v1"])
def test_environments_of_gymnasium_robotics_are_made_and_stepped(env_id: str) -> None:
    env = make_single(EnvSource(env_id, env_id))
    env.reset(seed=0)
    env.step(env.action_space.sample())
    env.close()


@needs_robotics
@pytest.mark.parametrize("name", ROBOTICS)
def test_models_of_gymnasium_robotics_stand_in_the_picture(name: str) -> None:
    spec = importlib.util.find_spec("gymnasium_robotics")
    assert spec is not None and spec.origin is not None
    path = Path(spec.origin).parent / "envs" / "assets" / f"{name}.xml"
    covered, outside = shares(Posed(mujoco.MjModel.from_xml_path(str(path))))
    assert 0.01 < covered < 0.9
    assert outside < 0.5
