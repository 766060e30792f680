"""What a player is seen on: a MuJoCo scene, or the pictures an environment renders, with the panel over it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from workbench.viewer import backend, framing
from workbench.viewer.backend import Surface
from workbench.viewer.camera import Follower, Vector, view_of
from workbench.viewer.frames import UP, rendered_picture
from workbench.viewer.look import Theme
from workbench.viewer.panel import Panel
from workbench.viewer.player import Player
from workbench.viewer.preview import Picture, cropped, fitted
from workbench.viewer.scene import Scene
from workbench.viewer.session import has_mujoco_model

SIZE = (1100, 700)
"""The window's first size."""


class Stage(Protocol):
    """Shows a player."""

    def show(self, moved_s: float) -> None:
        """Draw a frame, `moved_s` of simulated time after the last one, and hear the mouse and the keys."""

    def closing(self) -> bool:
        """Tell whether someone closed the window since the last call."""

    def close(self) -> None:
        """Let go of the graphics."""


class WindowStage(Stage, Protocol):
    """A window that previews can be taken from."""

    def picture(self, size: tuple[int, int]) -> Picture:
        """Return what the window shows without its panel, scaled to fill `size`, `(height, width, 3)`."""

    def recolour(self, theme: Theme) -> None:
        """Put other colours around the model."""


class _Window:
    """Polyscope with our panel and none of its own."""

    def __init__(self, player: Player, theme: Theme, size: tuple[int, int], surface: Surface, *, follows: bool) -> None:
        backend.require(surface)
        ps = self._polyscope = backend.import_polyscope()
        self._player = player
        self._panel = Panel(player, theme, follows=follows)
        self._error: Exception | None = None
        ps.set_configure_imgui_style_callback(self._panel.style)
        try:
            backend.start(surface, size=size, samples=1, theme=theme, title=player.title)
        except BaseException:
            # A callback that outlives the interpreter ends the process with a segmentation fault.
            ps.clear_configure_imgui_style_callback()
            raise
        ps.set_build_default_gui_panels(False)
        ps.set_open_imgui_window_for_user_callback(False)
        # The player paces itself: Polyscope's own limit waits in a busy loop.
        ps.set_frame_tick_limit_fps_mode("ignore_limits")
        ps.set_enable_vsync(False)
        ps.set_user_callback(self._draw_panel)

    def closing(self) -> bool:
        """Tell whether someone closed the window since the last call."""
        return bool(self._polyscope.window_requests_close())

    def picture(self, size: tuple[int, int]) -> Picture:
        """Return what the window shows without its panel, scaled to fill `size`, `(height, width, 3)`."""
        with backend.failures_explained():
            pixels: Picture = self._polyscope.screenshot_to_buffer(False)
        return cropped(pixels[..., :3], size)

    def recolour(self, theme: Theme) -> None:
        """Put other colours around the model."""
        self._panel.recolour(theme)
        backend.set_background(theme)

    def close(self) -> None:
        """Let go of the window."""
        self._polyscope.clear_user_callback()
        self._polyscope.clear_configure_imgui_style_callback()
        backend.stop()

    def _tick(self) -> None:
        with backend.failures_explained():
            self._polyscope.frame_tick()
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def _draw_panel(self) -> None:
        # An exception that left this callback would leave Polyscope in the middle of a frame for good.
        try:
            self._panel.draw()
        except Exception as error:
            self._error = error


class MujocoStage(_Window):
    """The scene of a MuJoCo model; the camera follows it and keeps whatever angle and distance the mouse gave it."""

    def __init__(
        self, player: Player, theme: Theme, *, size: tuple[int, int] = SIZE, surface: Surface = "window"
    ) -> None:
        super().__init__(player, theme, size, surface, follows=True)
        self._env = player.session.env.unwrapped
        self._framing = framing.frame(self._env.model, follow=getattr(self._env, "follow_body", None))
        with backend.failures_explained():
            self._scene = Scene(self._env.model, self._framing, theme)
        self._follower = Follower()
        self._looks_at = self._follower.update(self._framing.target(self._env.data), 0.0)
        view = view_of(self._framing)
        self._polyscope.look_at_dir(view.position(self._looks_at), self._looks_at, UP)
        self._polyscope.set_view_center_raw(self._looks_at)

    def show(self, moved_s: float) -> None:
        """Draw a frame; the scene is drawn anew only when something moved.

        The camera glides by simulated time, so that it stands still while the simulation does.
        """
        player = self._player
        data = player.data
        if player.jumped or not player.follow:
            self._follower.reset()
        if player.follow:
            self._move_camera(self._follower.update(self._framing.target(data), moved_s))
        if moved_s or player.jumped:
            self._scene.update(data, self._looks_at)
        player.jumped = False
        self._tick()

    def recolour(self, theme: Theme) -> None:
        """Put other colours around the model; the camera stays."""
        super().recolour(theme)
        self._scene.close()
        with backend.failures_explained():
            self._scene = Scene(self._env.model, self._framing, theme)
        self._scene.update(self._player.data, self._looks_at)

    def close(self) -> None:
        """Let go of the scene and the window."""
        self._scene.close()
        super().close()

    def _move_camera(self, point: Vector) -> None:
        """Carry the camera along, its angle and its distance kept."""
        delta = point - self._looks_at
        if np.abs(delta).max() < 1e-4 * self._framing.radius:
            return
        ps = self._polyscope
        shift = np.eye(4)
        shift[:3, 3] = -delta
        centre = np.asarray(ps.get_view_center()) + delta
        ps.set_camera_view_matrix(ps.get_camera_view_matrix() @ shift)
        # Moving the camera puts the point that the mouse orbits somewhere else.
        ps.set_view_center_raw(centre)
        self._looks_at = point


class PictureStage(_Window):
    """The pictures of an environment that renders itself, filling the window."""

    def __init__(self, player: Player, theme: Theme, *, width: int = 800, surface: Surface = "window") -> None:
        self._env = player.session.env
        height, wide = rendered_picture(self._env).shape[:2]
        super().__init__(player, theme, (width, max(1, round(width * height / wide))), surface, follows=False)
        self._show_picture()

    def show(self, moved_s: float) -> None:
        """Draw a frame."""
        if moved_s or self._player.jumped:
            self._show_picture()
        self._player.jumped = False
        self._tick()

    def picture(self, size: tuple[int, int]) -> Picture:
        """Return the environment's picture, whole."""
        return fitted(rendered_picture(self._env)[..., :3], size)

    def _show_picture(self) -> None:
        picture: Any = rendered_picture(self._env)[..., :3].astype(np.float32) / 255
        self._polyscope.add_color_image_quantity("picture", picture, enabled=True, show_fullscreen=True)
        self._polyscope.request_redraw()


def make_stage(player: Player, theme: Theme) -> WindowStage:
    """Open a window on a player.

    Raises:
        GraphicsError: None opens here.
    """
    if has_mujoco_model(player.session.env):
        return MujocoStage(player, theme)
    return PictureStage(player, theme)
