"""How a scene looks: two themes, the studio material, and the arithmetic between display colours and Polyscope's.

Polyscope shows a linear value `v` of a lit surface or of the background as `(1.1 v) ** (1 / 2.2)`; the material
"flat" shows a colour as it is. All colours here are what the display should show.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Colour = tuple[float, float, float]
ThemeName = Literal["light", "dark"]

STUDIO = "studio"
"""The name that the studio material is registered under."""


@dataclass(frozen=True)
class Theme:
    """The colours around a model; the model keeps its own."""

    background: Colour
    tile: Colour
    """The darker of the two floor tiles' colours."""
    tile_other: Colour
    shadow: Colour


THEMES: dict[ThemeName, Theme] = {
    "light": Theme((0.957, 0.965, 0.976), (0.800, 0.816, 0.855), (0.894, 0.906, 0.925), (0.620, 0.640, 0.690)),
    "dark": Theme((0.085, 0.095, 0.115), (0.155, 0.170, 0.200), (0.205, 0.225, 0.260), (0.070, 0.078, 0.095)),
}


def theme_named(name: str) -> Theme:
    """Return a theme by its name, which has been checked."""
    return THEMES["dark" if name == "dark" else "light"]


def linear(colour: Colour) -> Colour:
    """Return what Polyscope must be given for a lit surface or background to show `colour`."""
    red, green, blue = (float(np.clip(channel, 0, 1)) ** 2.2 / 1.1 for channel in colour)
    return red, green, blue


def blend(colour: Colour, other: Colour, share: float) -> Colour:
    """Return `colour` moved towards `other` by `share` in 0..1."""
    red, green, blue = (a + (b - a) * share for a, b in zip(colour, other, strict=True))
    return red, green, blue


def studio_material(size: int = 128) -> list[NDArray[np.uint8]]:
    """Return the four pictures of the studio material, `(size, size, 3)` each: red, green, blue, and what is left.

    Each picture tells the light that a surface sends to the camera by the direction it looks in: a soft key light
    from the upper left, sky from above, a small highlight, and a faint rim that parts dark models from the dark.
    """
    half = np.linspace(-1, 1, size)
    x, y = np.meshgrid(half, half[::-1])
    # Beyond the unit circle no surface looks; those pixels repeat the rim so that filtering finds no seam.
    radius = np.maximum(np.hypot(x, y), 1e-9)
    inside = np.minimum(radius, 0.999)
    x, y = x / radius * inside, y / radius * inside
    z = np.sqrt(1 - x**2 - y**2)
    normal = np.stack([x, y, z], axis=-1)

    key = _unit([-0.42, 0.66, 0.62])
    wrap = 0.25
    lit = np.clip((normal @ key + wrap) / (1 + wrap), 0, 1)
    sky = 0.5 + 0.5 * y
    diffuse = 0.12 + 0.16 * sky + 0.70 * lit
    halfway = _unit(key + np.array([0, 0, 1.0]))
    gloss = 0.10 * np.clip(normal @ halfway, 0, 1) ** 32 + 0.02 * (1 - z) ** 3 * sky

    def picture(colour: Any) -> NDArray[np.uint8]:
        light = diffuse[..., None] * np.asarray(colour, dtype=float) + gloss[..., None]
        # Pictures of materials are read as display colours.
        pixels: NDArray[np.uint8] = np.round(255 * np.clip(light, 0, 1) ** (1 / 2.2)).astype(np.uint8)
        return pixels

    return [picture((1, 0, 0)), picture((0, 1, 0)), picture((0, 0, 1)), picture((0, 0, 0))]


def write_studio_material(folder: Path) -> list[Path]:
    """Write the four pictures of the studio material into `folder` and return their paths."""
    from PIL import Image

    paths = [folder / f"studio_{part}.png" for part in "rgbk"]
    for path, picture in zip(paths, studio_material(), strict=True):
        Image.fromarray(picture).save(path)
    return paths


def _unit(vector: Any) -> NDArray[np.floating[Any]]:
    array: NDArray[np.floating[Any]] = np.asarray(vector, dtype=float)
    return array / float(np.linalg.norm(array))
