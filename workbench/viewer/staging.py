"""What a player is seen on, as those know it who draw nothing themselves."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.viewer.look import Theme


class Stage(Protocol):
    """Shows a player."""

    def show(self, moved_s: float) -> None:
        """Draw a frame, `moved_s` of simulated time after the last one, and hear the mouse and the keys.

        The player's `jumped` is cleared in between: what is heard may set it again, for the next frame.
        """

    def closing(self) -> bool:
        """Tell whether someone closed the window since the last call."""

    def close(self) -> None:
        """Let go of the graphics."""


class WindowStage(Stage, Protocol):
    """A window that previews can be taken from."""

    def picture(self, size: tuple[int, int]) -> NDArray[np.uint8]:
        """Return what the window shows without its panel, scaled to fill `size`, `(height, width, 3)`."""

    def recolour(self, theme: Theme) -> None:
        """Put other colours around the model."""
