"""What a player is seen on: a MuJoCo scene, or the pictures an environment renders, with the panel over it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.viewer import backend
from workbench.viewer.backend import Surface
from workbench.viewer.camera import Vector, View
from workbench.viewer.cast import window_title_of
from workbench.viewer.company import Company, Layout
from workbench.viewer.frames import UP
from workbench.viewer.look import Theme
from workbench.viewer.mouse import Mouse
from workbench.viewer.orders import Orders
from workbench.viewer.panel import MARGIN, WIDTH, Panel, strip
from workbench.viewer.preview import Picture, cropped, fitted, placed, rendered_pictures
from workbench.viewer.room import Room
from workbench.viewer.session import has_mujoco_model
from workbench.viewer.staging import WindowStage

SIZE = (1100, 700)
"""The window's first size."""


class _Window:
    """Polyscope with our panel and none of its own."""

    def __init__(self, orders: Orders, theme: Theme, size: tuple[int, int], surface: Surface) -> None:
        backend.require(surface)
        ps = self._polyscope = backend.import_polyscope()
        self._orders = orders
        self._player = orders.player
        self._surface = surface
        self._panel = Panel(orders, theme)
        self._error: Exception | None = None
        ps.set_configure_imgui_style_callback(self._panel.style)
        try:
            backend.start(surface, size=size, samples=1, theme=theme, title=window_title_of(orders.casts))
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
        return cropped(pixels[..., :3], size, self._room().middle)

    def recolour(self, theme: Theme) -> None:
        """Put other colours around the model."""
        self._panel.recolour(theme)
        backend.set_background(theme)

    def close(self) -> None:
        """Let go of the window."""
        self._polyscope.clear_user_callback()
        self._polyscope.clear_configure_imgui_style_callback()
        backend.stop()

    def _room(self) -> Room:
        """Return what the panel leaves free."""
        width, height = (float(side) for side in self._polyscope.get_window_size())
        if not self._orders.view.panel:
            return Room(width, height)
        return Room(width, height, WIDTH + MARGIN, strip(height, is_seekable=self._player.seekable))

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
        self,
        orders: Orders,
        theme: Theme,
        *,
        layout: Layout = "tiles",
        size: tuple[int, int] | None = None,
        surface: Surface = "window",
    ) -> None:
        view = orders.view
        super().__init__(orders, theme, size or view.size or SIZE, surface)
        with backend.failures_explained():
            self._company = Company(orders.player, theme, view, layout)
        self._point = self._company.target(0.0, jumped=True)
        self._aside: Vector = np.zeros(3)
        self._span = self._company.span
        self._look(view.camera)
        self._calls, self._version = view.camera_calls, -1
        self._eye: Vector = np.zeros(3)
        self._mouse = Mouse(orders, self._company, self._polyscope)
        self._panel.on_frame = self._over_the_picture

    def show(self, moved_s: float) -> None:
        """Draw a frame; the scene is drawn anew only when something moved.

        The camera glides by simulated time, so that it stands still while the simulation does.
        """
        player, view = self._player, self._orders.view
        asked = self._calls != view.camera_calls
        jumped = player.jumped or asked or not view.track
        point = self._company.target(moved_s, jumped=jumped)
        if asked:
            self._calls = view.camera_calls
            self._point, self._span = point, self._company.span
            self._look(view.camera)
        elif view.track or self._company.is_tiled:
            self._follow(point)
        eye, begun = self._position(), time.perf_counter()
        moved = bool(moved_s) or player.jumped or self._version != view.version
        if moved:
            with backend.failures_explained():
                self._company.update(point, eye)
        elif view.marks and np.abs(eye - self._eye).max() > 1e-6:
            self._company.mark_again(eye)
        self._eye, self._version = eye, view.version
        player.jumped = False
        self._tick()
        if moved:
            self._company.took(time.perf_counter() - begun)
        self._note_view()

    def recolour(self, theme: Theme) -> None:
        """Put other colours around the model; the camera stays."""
        super().recolour(theme)
        with backend.failures_explained():
            self._company.recolour(theme)
            self._company.update(self._point, self._eye)

    def close(self) -> None:
        """Let go of the scene and the window."""
        self._company.close()
        super().close()

    def _over_the_picture(self) -> None:
        """Hear the mouse, and write over the picture; within a frame."""
        self._aim()
        self._mouse.hear()
        if self._orders.view.gizmo:
            self._panel.draw_gizmo(self._polyscope)
        if len(self._player.lanes) > 1:
            self._panel.draw_names(self._polyscope, self._company, self._room())
        self._mouse.draw()

    def _look(self, wanted: View | None) -> None:
        """Put the camera where a view is; what it looks at stands in the middle of what the panel leaves free."""
        room = self._room()
        view = self._company.usual_view(wanted, room.aspect)
        if wanted is None or not wanted.distance:
            view = room.seen_whole(view)
            least = room.distance(view, self._company.corners() - self._point)
            view = replace(view, distance=max(view.distance, least))
        self._aside = room.aside(view)
        target = self._point + self._aside
        self._polyscope.look_at_dir(view.position(target), target, UP)
        self._polyscope.set_view_center_raw(target)

    def _aim(self) -> None:
        """Keep what is looked at in the middle of what is free, after the mouse turned the view or brought it nearer.

        The mouse turns it around the point that the camera looks at, which lies beside the model.
        """
        aside = self._room().aside(self._view())
        self._carry(aside - self._aside)
        self._aside = aside

    def _view(self) -> View:
        """Return where the mouse left the camera."""
        direction = np.asarray(self._polyscope.get_view_camera_parameters().get_look_dir(), dtype=float)
        distance = float(np.linalg.norm(np.asarray(self._polyscope.get_view_center()) - self._position()))
        return View.along(direction, distance)

    def _position(self) -> Vector:
        return np.asarray(self._polyscope.get_view_camera_parameters().get_position(), dtype=float)

    def _note_view(self) -> None:
        """Keep where the mouse left the camera, for the next time."""
        if self._calls != self._orders.view.camera_calls:
            return  # Another view was asked for within this frame, and is yet to be taken.
        self._orders.view.camera = self._view()
        if self._surface == "window":
            width, height = self._polyscope.get_window_size()
            self._orders.view.size = (int(width), int(height))

    def _follow(self, point: Vector) -> None:
        """Carry the camera along, its angle kept, and its distance as long as what it shows stays as large."""
        span = self._company.span
        if abs(span / self._span - 1) > 1e-3:
            ps = self._polyscope
            centre = np.asarray(ps.get_view_center(), dtype=float)
            shift = np.eye(4)
            shift[:3, 3] = (1 - span / self._span) * (self._position() - centre)
            self._span = span
            ps.set_camera_view_matrix(ps.get_camera_view_matrix() @ shift)
            ps.set_view_center_raw(centre)
        if np.abs(point - self._point).max() > 1e-4 * self._company.framing.radius:
            self._carry(point - self._point)
            self._point = point

    def _carry(self, delta: Vector) -> None:
        """Move the camera and what it looks at."""
        if not np.abs(delta).max() > 1e-6 * self._company.framing.radius:
            return
        ps = self._polyscope
        shift = np.eye(4)
        shift[:3, 3] = -delta
        centre = np.asarray(ps.get_view_center()) + delta
        ps.set_camera_view_matrix(ps.get_camera_view_matrix() @ shift)
        # Moving the camera puts the point that the mouse orbits somewhere else.
        ps.set_view_center_raw(centre)


class PictureStage(_Window):
    """The pictures of environments that render themselves, whole in what the panel leaves free."""

    def __init__(
        self,
        orders: Orders,
        theme: Theme,
        *,
        size: tuple[int, int] | None = None,
        surface: Surface = "window",
    ) -> None:
        rendered_pictures(orders.player)  # What renders nothing says so before a window opens.
        super().__init__(orders, theme, size or orders.view.size or SIZE, surface)
        self._shown: Room | None = None

    def show(self, moved_s: float) -> None:
        """Draw a frame."""
        if moved_s or self._player.jumped or self._shown != self._room():
            self._show_picture()
        self._player.jumped = False
        self._tick()
        if self._surface == "window":
            width, height = self._polyscope.get_window_size()
            self._orders.view.size = (int(width), int(height))

    def picture(self, size: tuple[int, int]) -> Picture:
        """Return the environment's picture, whole."""
        return fitted(rendered_pictures(self._player), size)

    def _show_picture(self) -> None:
        self._shown = room = self._room()
        picture: Any = placed(rendered_pictures(self._player), room).astype(np.float32) / 255
        self._polyscope.add_color_image_quantity("picture", picture, enabled=True, show_fullscreen=True)
        self._polyscope.request_redraw()


def make_stage(orders: Orders, theme: Theme, *, layout: Layout = "tiles") -> WindowStage:
    """Open a window on what plays.

    Raises:
        GraphicsError: None opens here.
    """
    if has_mujoco_model(orders.player.session.env):
        return MujocoStage(orders, theme, layout=layout)
    return PictureStage(orders, theme)
