"""The part of a window that nothing lies over, and how the camera aims so that models stand in its middle."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from workbench.viewer.camera import FIELD_OF_VIEW_DEG, Vector, View

EDGE = 0.03
"""Left free around what is to be seen whole, of the shorter side of the window."""

LOWEST = 0.3
"""The least share of the picture's height that a model is shrunk to, however little is left free."""


@dataclass(frozen=True)
class Room:
    """A window, and what lies over its left and its lower edge, in pixels."""

    width: float
    height: float
    left: float = 0.0
    bottom: float = 0.0

    @property
    def aspect(self) -> float:
        """Width over height of what is free."""
        return max(1.0, self.width - self.left) / max(1.0, self.height - self.bottom)

    @property
    def share(self) -> float:
        """The height of what is free over that of the whole picture."""
        return max(LOWEST, (self.height - self.bottom) / max(1.0, self.height))

    @property
    def middle(self) -> tuple[float, float]:
        """Where the middle of what is free is: shares of the width from the left and of the height from the top."""
        return (self.left + self.width) / (2 * self.width), (self.height - self.bottom) / (2 * self.height)

    def seen_whole(self, view: View) -> View:
        """Return a view that fills a whole picture, from so far away that the same fits into what is free."""
        return replace(view, distance=view.distance / self.share)

    def distance(self, view: View, points: Vector) -> float:
        """Return the least distance at which points lie within what is free; 0 where that is too small for any.

        Args:
            view: The direction; its distance does not matter.
            points: Where they are, from the point that the camera looks at, `(n, 3)`.
        """
        azimuth = math.radians(view.azimuth_deg)
        right = np.array([math.sin(azimuth), -math.cos(azimuth), 0.0])
        up = np.cross(right, view.direction)
        pixels = self.height / 2 / math.tan(math.radians(FIELD_OF_VIEW_DEG / 2))
        ahead, edge = points @ view.direction, EDGE * min(self.width, self.height)
        least = 0.0
        for across, size, covered in ((points @ right, self.width, self.left), (points @ up, self.height, self.bottom)):
            # The camera looks beside the points, so both edges of what is free are as far from their middle.
            half, whole = (size - covered) / 2 - edge, size / 2 - edge
            if half > 0 and len(points):
                beyond = pixels * across - whole * ahead
                before = -pixels * across - (whole - covered) * ahead
                least = max(least, float(beyond.max()) / half, float(before.max()) / half)
        return least

    def aside(self, view: View) -> Vector:
        """Return how far beside a point, `(3,)`, the camera looks for the point to be in the middle of what is free."""
        metres = 2 * view.distance * math.tan(math.radians(FIELD_OF_VIEW_DEG / 2)) / max(1.0, self.height)
        azimuth = math.radians(view.azimuth_deg)
        right = np.array([math.sin(azimuth), -math.cos(azimuth), 0.0])
        up = np.cross(right, view.direction)
        aside: Vector = -metres / 2 * (self.left * right + self.bottom * up)
        return aside
