"""Pictures of an environment, one at a time: drawn by Polyscope for MuJoCo models, else by the environment itself.

A frame is raw pixels as the encoder takes them: a flat buffer, its channels, and whether its first row is the lowest.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.errors import GraphicsError
from workbench.viewer import backend, framing
from workbench.viewer.camera import (
    CameraName,
    Follower,
    Projection,
    Vector,
    View,
    find_camera,
    projection_of,
    view_of,
)
from workbench.viewer.look import Theme
from workbench.viewer.scene import Scene, length_scale

UP = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class PixelFormat:
    """What the encoder must know of the frames it will get."""

    size: tuple[int, int]
    """Width and height in pixels."""
    layout: str
    """`rgba` or `rgb24`, in ffmpeg's words."""
    bottom_up: bool
    """The first row is the lowest one."""


class FrameSource(Protocol):
    """Draws the environment as it is now."""

    @property
    def format(self) -> PixelFormat:
        """What each frame looks like."""

    def restart(self) -> None:
        """Tell that a new episode has begun: the camera jumps to it."""

    def draw(self, elapsed_s: float) -> NDArray[np.uint8]:
        """Return the picture of now, `elapsed_s` of simulated time after the last one."""

    def close(self) -> None:
        """Let go of the graphics."""


class MujocoFrames:
    """Pictures of a MuJoCo model with no display.

    Args:
        env: The plain Gymnasium environment, with `.unwrapped.model` and `.unwrapped.data`.
        size: Width and height in pixels.
        samples: Pixels drawn for each one shown, along each side.
        theme: The colours around the model.
        view: Where the camera stands, or the model's camera to look through; None to choose by the model.
        sees_through: Draw see-through what the model says is, which takes several times as long where anything is.

    Raises:
        RequestError: The model has no such camera.
        GraphicsError: Nothing can be drawn here.
    """

    def __init__(
        self,
        env: Any,
        *,
        size: tuple[int, int],
        samples: int,
        theme: Theme,
        view: View | CameraName | None = None,
        sees_through: bool = False,
    ) -> None:
        self._env = env.unwrapped
        self._format = PixelFormat(size, "rgba", bottom_up=True)
        self._sees_through = sees_through
        self._framing = framing.frame(self._env.model, follow=getattr(self._env, "follow_body", None))
        self._camera = None if view is None or isinstance(view, View) else find_camera(self._env.model, view)
        self._view = view_of(self._framing, view if isinstance(view, View) else None, size[0] / size[1])
        self._follower = Follower()
        backend.start("offscreen", size=size, samples=samples, theme=theme)
        self._polyscope = backend.import_polyscope()
        # The call beneath `polyscope.screenshot_to_buffer`, which would turn every frame over in Python.
        self._bindings = importlib.import_module("polyscope_bindings")
        with backend.failures_explained():
            self._scene = Scene(self._env.model, self._framing, theme, sees_through=sees_through)
        if self._camera is not None:
            look_through(self._polyscope, projection_of(self._env.model, self._camera, length_scale(self._framing)))
        self._options = self._bindings.ScreenshotOptions()
        self._options.include_UI = False
        self._options.transparent_background = False

    @property
    def format(self) -> PixelFormat:
        """RGBA, bottom row first, as the graphics card has it."""
        return self._format

    def restart(self) -> None:
        """Let the camera jump to the model instead of following."""
        self._follower.reset()

    def draw(self, elapsed_s: float) -> NDArray[np.uint8]:
        """Return the picture of now as a flat buffer."""
        return self.draw_state(self._env.data, elapsed_s)

    def draw_state(self, data: Any, elapsed_s: float) -> NDArray[np.uint8]:
        """Return the picture of a state of the same model, an `MjData`, as a flat buffer."""
        target = self._follower.update(self._framing.target(data), elapsed_s)
        with backend.failures_explained():
            self._scene.update(data, target)
            if self._camera is None:
                look(self._polyscope, self._view.position(target), target, UP)
            else:
                stand_at(self._polyscope, data, self._camera, target, self._framing.radius)
            buffer: NDArray[np.uint8] = self._bindings.screenshot_to_buffer(self._options)
        return buffer

    def resize(self, size: tuple[int, int]) -> None:
        """Draw at another width and height from now on."""
        self._format = PixelFormat(size, "rgba", bottom_up=True)
        with backend.failures_explained():
            self._polyscope.set_window_size(*size)

    def recolour(self, theme: Theme) -> None:
        """Put other colours around the model."""
        self._scene.close()
        with backend.failures_explained():
            backend.set_background(theme)
            self._scene = Scene(self._env.model, self._framing, theme, sees_through=self._sees_through)

    def close(self) -> None:
        """Let go of the scene and of the graphics."""
        self._options = None
        self._scene.close()
        backend.stop()


def look(polyscope: Any, position: Vector, target: Vector, up: Any) -> None:
    """Put the camera somewhere, looking at a point."""
    # Clipping is measured from the camera to this point, which looking at another one leaves behind.
    polyscope.set_view_center_raw(target)
    polyscope.look_at_dir(position, target, up)


def look_through(polyscope: Any, projection: Projection) -> None:
    """Let the camera map what it sees as one of a model does."""
    if projection.is_orthographic:
        polyscope.set_view_projection_mode("orthographic")
    polyscope.set_vertical_fov_degrees(projection.fov_deg)


def stand_at(polyscope: Any, data: Any, camera: int, target: Vector, radius: float) -> None:
    """Put the camera where one of the model is.

    Args:
        polyscope: The module.
        data: The state, an `MjData`.
        camera: The number of the model's camera.
        target: What is there to be seen, `(3,)`.
        radius: Its size in metres.
    """
    position, axes = data.cam_xpos[camera], data.cam_xmat[camera].reshape(3, 3)
    forward = -axes[:, 2]
    ahead = max(float(forward @ (target - position)), radius)
    look(polyscope, position, position + ahead * forward, axes[:, 1])


class RenderedFrames:
    """Pictures that an environment without a MuJoCo model renders itself (`render_mode="rgb_array"`)."""

    def __init__(self, env: Any) -> None:
        self._env = env
        first = rendered_picture(env)
        height, width = first.shape[:2]
        # Codecs need even sides; a row or column at the edge is given up for it.
        self._size = (width - width % 2, height - height % 2)

    @property
    def format(self) -> PixelFormat:
        """RGB, top row first, in the environment's own size."""
        return PixelFormat(self._size, "rgb24", bottom_up=False)

    def restart(self) -> None:
        """Nothing to do: the environment holds its own camera."""

    def draw(self, elapsed_s: float) -> NDArray[np.uint8]:
        """Return the picture of now, `(height, width, 3)`."""
        width, height = self._size
        return np.ascontiguousarray(rendered_picture(self._env)[:height, :width, :3])

    def close(self) -> None:
        """Nothing to let go of: whoever made the environment closes it."""


def rendered_picture(env: Any) -> NDArray[np.uint8]:
    """Return what an environment renders, `(height, width, 3 or 4)`.

    Raises:
        GraphicsError: It renders nothing, or lacks what it renders with.
    """
    name = type(env.unwrapped).__name__
    try:
        picture = env.render()
    except Exception as error:
        # Our own extra holds what theirs does, in the versions that go with the rest.
        why = str(error).replace("gymnasium[classic-control]", "workbench-rl[classic-control]")
        raise GraphicsError(f"{name} cannot render itself: {why}") from error
    if not isinstance(picture, np.ndarray) or picture.ndim != 3:
        raise GraphicsError(
            f"{name} renders no pictures.", hint='It has neither a MuJoCo model nor the render mode "rgb_array".'
        )
    return picture
