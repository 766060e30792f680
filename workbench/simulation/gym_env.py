"""A batched environment of one copy as a plain `gymnasium.Env`, for viewers, scripts and anyone else's tools."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import mujoco
import numpy as np
from numpy.typing import NDArray

from workbench.errors import GraphicsError
from workbench.simulation.batch_env import BatchEnv

RENDER_SIZE = (480, 480)
CAMERA_DISTANCE = 4.0


class GymEnv(gymnasium.Env[NDArray[np.float64], NDArray[Any]]):
    """One copy of a batched environment.

    It cuts its own episodes at the time limit; `info` carries `reward_<term>`, the environment's own infos and, in the
    last step, `terminated_reason` or `truncated_reason`.

    Args:
        batch: The environment, with one copy.
        render_mode: None or `rgb_array`.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"]}
    render_modes: ClassVar[tuple[str, ...]] = ("rgb_array",)

    def __init__(self, batch: BatchEnv[Any], render_mode: str | None = None) -> None:
        self.batch = batch
        self.render_mode = render_mode
        self.metadata = {"render_modes": list(self.render_modes), "render_fps": max(1, round(batch.control_hz))}
        self.observation_space: Any = batch.observation_space
        self.action_space: Any = batch.action_space
        self.observation_names = batch.observation_names
        self.action_names = batch.action_names
        self.follow_body = batch.follow_body
        self._picture: Picture | None = None
        self._view: Any = None

    @property
    def model(self) -> Any:
        """The compiled `MjModel`."""
        return self.batch.model

    @property
    def data(self) -> Any:
        """The state as an `MjData` with every derived field current."""
        if self._view is None:
            self._view = self.batch.data(0)
        return self._view

    @property
    def episode_steps(self) -> int:
        """Steps of the time limit; 0 where there is none."""
        return self.batch.episode_steps

    @property
    def dt(self) -> float:
        """Seconds in one step."""
        return self.batch.control_dt

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Begin a new episode."""
        super().reset(seed=seed)
        observations = self.batch.reset(seed=seed)
        # One generator, not two: what the environment draws is what `np_random` has drawn.
        self._np_random = self.batch.generators[0]
        self._view = None
        return observations[0], {}

    def step(self, action: NDArray[np.float32]) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """Take one step."""
        result = self.batch.advance(np.asarray(action)[None])
        self._view = None
        info: dict[str, Any] = {f"reward_{name}": float(value[0]) for name, value in result.reward_terms.items()}
        info |= {name: value[0] for name, value in result.infos.items()}
        for episode in result.episodes:
            info |= episode.ending()
        terminated, truncated = bool(result.terminated[0]), bool(result.truncated[0])
        return result.observations[0], float(result.rewards[0]), terminated, truncated, info

    def render(self) -> Any:
        """Return a picture (height, width, 3) of the present state, or None without `rgb_array`."""
        if self.render_mode != "rgb_array":
            return None
        if self._picture is None:
            self._picture = Picture(self.model, self.follow_body)
        return self._picture.draw(self.data)

    def close(self) -> None:
        """Let simulation and renderer go; may be called twice."""
        if self._picture is not None:
            self._picture.close()
            self._picture = None
        self._view = None
        self.batch.close()


class Picture:
    """Draws states of one model offscreen with MuJoCo's own renderer, made only when a picture is asked for.

    Args:
        model: The `MjModel`; its offscreen buffer is made large enough.
        follow_body: The body the camera follows; None for the model's free camera.

    Raises:
        GraphicsError: There is no way to draw here.
    """

    def __init__(self, model: Any, follow_body: str | None) -> None:
        height, width = RENDER_SIZE
        model.vis.global_.offwidth = max(model.vis.global_.offwidth, width)
        model.vis.global_.offheight = max(model.vis.global_.offheight, height)
        try:
            self._renderer = mujoco.Renderer(model, height, width)
        except (mujoco.FatalError, RuntimeError) as error:
            raise GraphicsError(
                f"MuJoCo cannot draw here: {error}.",
                hint="Without a display, set MUJOCO_GL=egl before Python starts. `workbench doctor` tells what works.",
            ) from error
        self._camera = mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(model, self._camera)
        body = -1 if follow_body is None else mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, follow_body)
        if body >= 0:
            self._camera.type = mujoco.mjtCamera.mjCAMERA_TRACKING
            self._camera.trackbodyid = body
            self._camera.distance = CAMERA_DISTANCE

    def draw(self, data: Any) -> NDArray[np.uint8]:
        """Return a picture (height, width, 3)."""
        self._renderer.update_scene(data, self._camera)
        picture: NDArray[np.uint8] = self._renderer.render().copy()
        return picture

    def close(self) -> None:
        """Free the graphics context."""
        self._renderer.close()
