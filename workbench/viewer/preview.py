"""Pictures for a terminal: small, at most so many a second, from the window where one is open, else drawn without."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.viewer.frames import MujocoFrames, rendered_picture
from workbench.viewer.look import Theme
from workbench.viewer.player import Player
from workbench.viewer.session import has_mujoco_model

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

    def __init__(self, player: Player, theme: Theme, size: tuple[int, int]) -> None:
        self._player = player
        self._frames = MujocoFrames(player.session.env, size=size, samples=SAMPLES, theme=theme)

    def paint(self, size: tuple[int, int], moved_s: float, *, jumped: bool) -> Picture:
        """Return a picture of the state shown."""
        if size != self._frames.format.size:
            self._frames.resize(size)
        if jumped:
            self._frames.restart()
        width, height = size
        pixels = self._frames.draw_state(self._player.data, moved_s)
        return pixels.reshape(height, width, 4)[::-1, :, :3]

    def recolour(self, theme: Theme) -> None:
        """Put other colours around the model."""
        self._frames.recolour(theme)

    def close(self) -> None:
        """Let go of the graphics."""
        self._frames.close()


class RenderedPainter:
    """Scales what an environment without a MuJoCo model renders itself."""

    def __init__(self, env: Any) -> None:
        self._env = env

    def paint(self, size: tuple[int, int], moved_s: float, *, jumped: bool) -> Picture:
        """Return the environment's picture, whole, its sides continued to fill the size."""
        return fitted(rendered_picture(self._env)[..., :3], size)

    def recolour(self, theme: Theme) -> None:
        """Nothing to do: the environment chooses its colours."""

    def close(self) -> None:
        """Nothing to let go of."""


def make_painter(player: Player, theme: Theme, size: tuple[int, int]) -> Painter:
    """Return what draws a player without a window.

    Raises:
        GraphicsError: Nothing can be drawn on this machine.
    """
    env = player.session.env
    return OffscreenPainter(player, theme, size) if has_mujoco_model(env) else RenderedPainter(env)


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


def cropped(picture: Picture, size: tuple[int, int]) -> Picture:
    """Return the middle of a picture scaled to fill `size`, `(height, width, 3)`."""
    from PIL import Image

    width, height = size
    tall, wide = picture.shape[:2]
    scale = min(wide / width, tall / height)
    half_x, half_y = width * scale / 2, height * scale / 2
    box = (wide / 2 - half_x, tall / 2 - half_y, wide / 2 + half_x, tall / 2 + half_y)
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
