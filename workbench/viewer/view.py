"""What is drawn and from where: all that the panel's settings and the scene table change. Pure state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from workbench.remote.declaration import (
    GROUPS,
    MARKS,
    PARTS,
    SLOWEST_FOLLOWING_S,
    TABS,
)
from workbench.viewer.camera import ALONG_S, View
from workbench.viewer.look import ThemeName
from workbench.viewer.shapes import SHOWN_GROUPS

SMALLEST, LARGEST = 200, 8192
"""Pixels along a side of a window that is opened as it was left."""


@dataclass
class ViewSettings:
    """What is drawn, and from where."""

    theme: ThemeName = "light"
    track: bool = True
    """The camera follows the model."""
    smoothing_s: float = ALONG_S
    """How long it takes to catch up, in simulated seconds; 0 for at once."""
    marks: set[str] = field(default_factory=set)
    """Which of contacts, forces, joints and mass are drawn."""
    gizmo: bool = True
    hidden: set[str] = field(default_factory=set)
    """Names of bodies that are not shown."""
    groups: set[int] = field(default_factory=lambda: set(SHOWN_GROUPS))
    """Groups of geoms that are."""
    parts: set[str] = field(default_factory=lambda: set(PARTS))
    """Which of floor, shadows, sites and tendons are shown."""
    panel: bool = True
    tab: str = "play"
    camera: View | None = None
    """Where the camera stands; None for what suits the model. Distances of 0 are the model's own."""
    size: tuple[int, int] | None = None
    """The window's; None for the usual one."""
    camera_calls: int = 0
    """How often someone asked for another view: not dragged with the mouse, which the window itself notes."""

    version: int = 0
    """Counts changes, so that a picture that stands is drawn anew."""

    def look(self, view: View) -> None:
        """Ask for another view."""
        self.camera = view
        self.camera_calls += 1

    def told(self) -> dict[str, Any]:
        """Return what the `view` event tells of it."""
        return {
            "track": self.track,
            "smoothing_s": self.smoothing_s,
            "marks": sorted(self.marks),
            "gizmo": self.gizmo,
            "hidden": sorted(self.hidden),
            "groups": [str(group) for group in sorted(self.groups)],
            "parts": sorted(self.parts),
            "panel": self.panel,
            "tab": self.tab,
        }

    def to_json(self) -> dict[str, Any]:
        """Return plain data that `from_json` reads."""
        camera = self.camera
        return {
            **self.told(),
            "theme": self.theme,
            "camera": None if camera is None else [camera.azimuth_deg, camera.elevation_deg, camera.distance],
            "size": self.size,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], theme: ThemeName | None = None) -> ViewSettings:
        """Read what can be read; the rest is as it is for a model that was never looked at.

        Args:
            data: What `to_json` returned, or whatever came of it.
            theme: The theme where one was asked for; None for the one that is read.
        """
        wanted = theme or data.get("theme")
        view = cls(theme=next((name for name in get_args(ThemeName) if name == wanted), "light"))
        for name in ("track", "gizmo", "panel"):
            if isinstance(data.get(name), bool):
                setattr(view, name, data[name])
        smoothing = _number(data.get("smoothing_s"))
        if smoothing is not None and 0 <= smoothing <= SLOWEST_FOLLOWING_S:
            view.smoothing_s = smoothing
        view.marks = set(MARKS) & _texts(data, "marks", view.marks)
        view.parts = set(PARTS) & _texts(data, "parts", view.parts)
        view.hidden = _texts(data, "hidden", view.hidden)
        groups = _texts(data, "groups", {str(group) for group in view.groups})
        view.groups = {group for group in range(GROUPS) if str(group) in groups}
        if data.get("tab") in TABS:
            view.tab = data["tab"]
        view.camera = _view(data.get("camera"))
        view.size = _size(data.get("size"))
        return view


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if is_number else None  # type: ignore[arg-type]


def _texts(data: Mapping[str, Any], name: str, usual: set[str]) -> set[str]:
    given = data.get(name)
    return {item for item in given if isinstance(item, str)} if isinstance(given, list) else usual


def _view(given: object) -> View | None:
    numbers = [_number(item) for item in given] if isinstance(given, list) else []
    if len(numbers) != 3 or None in numbers:
        return None
    azimuth, elevation, distance = (float(number) for number in numbers if number is not None)
    return View(azimuth, elevation, distance) if -89.9 <= elevation <= 89.9 and distance >= 0 else None


def _size(given: object) -> tuple[int, int] | None:
    if not isinstance(given, list) or len(given) != 2 or not all(isinstance(side, int) for side in given):
        return None
    width, height = given
    return (width, height) if SMALLEST <= width <= LARGEST and SMALLEST <= height <= LARGEST else None
