"""Pictures for a terminal: small, at most so many a second, from the window where one is open, else drawn without."""

from __future__ import annotations

import time
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.viewer import backend
from workbench.viewer.company import Company, Layout
from workbench.viewer.ensemble import Troupe, columns_of, mosaic
from workbench.viewer.frames import UP, look, rendered_picture
from workbench.viewer.look import Theme
from workbench.viewer.player import Player
from workbench.viewer.room import Room
from workbench.viewer.session import has_mujoco_model
from workbench.viewer.view import ViewSettings

SAMPLES = 2
"""Pixels drawn for each one sent, along each side."""

BUSIEST = 0.4
"""The share of real time that drawing previews may take; a slow graphics driver sends fewer."""

Picture = NDArray[np.uint8]


class Painter(Protocol):
    """Draws what a player shows."""

    def paint(self, size: tuple[int, int], moved_s: float, *, jumped: bool) -> Picture:
        """Return a picture `(height, width, 3)`, `moved_s` of simulated time after the last one."""

    def recolour(self, theme: Theme) -> None:
        """Put other colours around the model."""

    def close(self) -> None:
        """Let go of the graphics."""


class OffscreenPainter:
    """Draws a MuJoCo scene with no display."""

    def __init__(
        self, player: Player, theme: Theme, size: tuple[int, int], view: ViewSettings, layout: Layout = "tiles"
    ) -> None:
        self._view = view
        self._size = size
        backend.start("offscreen", size=size, samples=SAMPLES, theme=theme)
        self._polyscope = backend.import_polyscope()
        with backend.failures_explained():
            self._company = Company(player, theme, view, layout)

    def paint(self, size: tuple[int, int], moved_s: float, *, jumped: bool) -> Picture:
        """Return a picture of the state shown."""
        ps = self._polyscope
        if size != self._size:
            self._size = size
            with backend.failures_explained():
                ps.set_window_size(*size)
        target = self._company.target(moved_s, jumped=jumped)
        # The distance that a window of another shape was left with would cut off what stands at the sides.
        wanted = None if self._company.is_tiled else self._view.camera
        eye = self._company.usual_view(wanted, size[0] / size[1]).position(target)
        begun = time.perf_counter()
        with backend.failures_explained():
            self._company.update(target, eye)
            look(ps, eye, target, UP)
            pixels: Picture = ps.screenshot_to_buffer(False)
        self._company.took(time.perf_counter() - begun)
        return pixels[..., :3]

    def recolour(self, theme: Theme) -> None:
        """Put other colours around the model."""
        with backend.failures_explained():
            backend.set_background(theme)
            self._company.recolour(theme)

    def close(self) -> None:
        """Let go of the graphics."""
        self._company.close()
        backend.stop()


class RenderedPainter:
    """Scales what environments without a MuJoCo model render themselves."""

    def __init__(self, player: Player) -> None:
        self._player = player

    def paint(self, size: tuple[int, int], moved_s: float, *, jumped: bool) -> Picture:
        """Return the environments' pictures, whole, their sides continued to fill the size."""
        return fitted(rendered_pictures(self._player), size)

    def recolour(self, theme: Theme) -> None:
        """Nothing to do: the environment chooses its colours."""

    def close(self) -> None:
        """Nothing to let go of."""


def make_painter(
    player: Player, theme: Theme, size: tuple[int, int], view: ViewSettings, layout: Layout = "tiles"
) -> Painter:
    """Return what draws a player without a window.

    Raises:
        GraphicsError: Nothing can be drawn on this machine.
    """
    if has_mujoco_model(player.session.env):
        return OffscreenPainter(player, theme, size, view, layout)
    return RenderedPainter(player)


def rendered_pictures(player: Troupe) -> Picture:
    """Return what the environments of a player render themselves, beside each other, `(height, width, 3)`.

    Raises:
        GraphicsError: One renders nothing, or lacks what it renders with.
    """
    pictures = [rendered_picture(lane.session.env)[..., :3] for lane in player.lanes]
    return pictures[0] if len(pictures) == 1 else mosaic(pictures, columns_of(len(pictures)))


def fitted(picture: Picture, size: tuple[int, int]) -> Picture:
    """Return a picture scaled to lie whole within `size`, the colours of its edge around it, `(height, width, 3)`."""
    from PIL import Image

    width, height = size
    tall, wide = picture.shape[:2]
    scale = min(width / wide, height / tall)
    inner = (max(1, min(width, round(wide * scale))), max(1, min(height, round(tall * scale))))
    image = Image.fromarray(np.ascontiguousarray(picture)).resize(inner, Image.Resampling.BOX, reducing_gap=2.0)
    left, top = (width - inner[0]) // 2, (height - inner[1]) // 2
    around = ((top, height - inner[1] - top), (left, width - inner[0] - left), (0, 0))
    return np.pad(np.asarray(image, dtype=np.uint8), around, mode="edge")


def placed(picture: Picture, room: Room) -> Picture:
    """Return a picture with so much around it that, stretched over a window, it lies whole in what is free there.

    What is around it has the colours of its edge.
    """
    tall, wide = picture.shape[:2]
    free = max(1.0, room.width - room.left), max(1.0, room.height - room.bottom)
    scale = min(free[0] / wide, free[1] / tall)
    left = (room.left + (free[0] - scale * wide) / 2) / scale
    top = (free[1] - scale * tall) / 2 / scale
    above, below = round(top), round(room.height / scale - tall - top)
    before, behind = round(left), round(room.width / scale - wide - left)
    return np.pad(picture, ((above, max(0, below)), (before, max(0, behind)), (0, 0)), mode="edge")


def cropped(picture: Picture, size: tuple[int, int], middle: tuple[float, float] = (0.5, 0.5)) -> Picture:
    """Return as much of a picture as fills `size`, scaled to it, `(height, width, 3)`.

    Args:
        picture: The whole, `(h, w, 3)`.
        size: Width and height.
        middle: What is in the middle as far as it can be: shares of the width from the left, the height from the top.
    """
    from PIL import Image

    width, height = size
    tall, wide = picture.shape[:2]
    scale = min(wide / width, tall / height)
    half_x, half_y = width * scale / 2, height * scale / 2
    x = min(max(middle[0] * wide, half_x), wide - half_x)
    y = min(max(middle[1] * tall, half_y), tall - half_y)
    box = (x - half_x, y - half_y, x + half_x, y + half_y)
    image = Image.fromarray(np.ascontiguousarray(picture))
    return np.asarray(image.resize(size, Image.Resampling.BOX, box=box, reducing_gap=2.0), dtype=np.uint8)


class PreviewClock:
    """When the next picture is due: at most so many a second, and never more than a share of the time there is.

    Args:
        fps: Pictures a second, at the most.
    """

    def __init__(self, fps: float) -> None:
        self.fps = fps
        self._next = 0.0

    def due(self, now_s: float) -> bool:
        """Tell whether a picture may be drawn now."""
        return now_s >= self._next

    def drawn(self, begun_s: float, now_s: float) -> None:
        """Note when a picture was begun and done."""
        # Kept to its grid, so that a loop at another rate does not lower this one.
        due = self._next if begun_s - self._next < 1 / self.fps else begun_s
        self._next = max(due + 1 / self.fps, begun_s + (now_s - begun_s) / BUSIEST)
