"""Text on films: what a caption says, in which colours, and the label of a clip."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from PIL import Image, ImageColor, ImageDraw

from workbench.errors import RequestError
from workbench.montage.fonts import SMALLEST_TEXT_PX, fitting_font, length, load_font, shorten, write

TextLocation = Literal["bottom-left", "bottom-right", "top-left", "top-right", "center"]
Colour = tuple[int, int, int]

PLATE_ALPHA = 176
"""How dark the plate behind a film's label is, of 255."""


@dataclass(frozen=True)
class Ink:
    """The colours of what stands around clips, and its font."""

    background: Colour
    """Behind everything."""
    bar: Colour
    """Behind captions."""
    bright: Colour
    """Of what matters most."""
    muted: Colour
    accent: Colour
    curves: tuple[Colour, ...]
    """Of the curves of runs, in order."""
    font: Path | None = None
    """A TrueType file; Pillow's own without."""


DARK = Ink(
    background=(20, 22, 28),
    bar=(31, 34, 43),
    bright=(244, 246, 250),
    muted=(150, 158, 174),
    accent=(122, 197, 255),
    curves=(
        (122, 197, 255), (255, 183, 108), (140, 220, 150), (230, 145, 215), (240, 225, 120), (255, 128, 122),
        (120, 225, 225), (176, 160, 255), (200, 170, 140), (190, 200, 215),
    ),
)  # fmt: skip
"""For films, which are shown on screens."""
LIGHT = Ink(
    background=(255, 255, 255),
    bar=(236, 239, 244),
    bright=(24, 28, 36),
    muted=(98, 106, 122),
    accent=(20, 98, 178),
    curves=(
        (20, 98, 178), (214, 110, 10), (30, 140, 70), (176, 50, 150), (150, 125, 0), (200, 45, 50),
        (0, 140, 150), (105, 80, 200), (130, 90, 55), (100, 110, 125),
    ),
)  # fmt: skip
"""For a page with light pictures."""


@dataclass(frozen=True)
class LabelStyle:
    """How the label of a film's clip looks, sizes in percent of the film's height."""

    location: TextLocation = "bottom-left"
    text_height_pct: float = 5.0
    margin_pct: float = 3.0
    colour: str = "white"
    """Any colour that Pillow knows by name, or `#rrggbb`."""
    font: Path | None = None
    """A TrueType file; Pillow's built-in font without."""

    def check(self) -> None:
        """Raise if a value makes no sense.

        Raises:
            RequestError: Names the flag and what it takes.
        """
        if not 0 < self.text_height_pct <= 50:
            raise RequestError(f"--text-height-pct is {self.text_height_pct:g}; it must be above 0 and at most 50.")
        if not 0 <= self.margin_pct <= 40:
            raise RequestError(f"--margin-pct is {self.margin_pct:g}; it must be 0 to 40.")
        _colour(self.colour)
        load_font(12, self.font)


@dataclass(frozen=True)
class Stamp:
    """A picture and where on the film it goes."""

    picture: Image.Image
    x: int
    y: int


def steps_text(steps: int) -> str:
    """Return a step count with its thousands apart."""
    return f"{steps:,}".replace(",", " ")


def return_text(value: float) -> str:
    """Return a return with as many decimals as it needs to be told from its neighbours."""
    digits = 0 if abs(value) >= 1000 or value == round(value) else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}".replace(",", " ")


def film_label(headline: str, detail: str, size: tuple[int, int], style: LabelStyle) -> Stamp:
    """Return the label of one clip: a headline, and smaller under it a detail, on a dark translucent plate."""
    width, height = size
    text_px = max(SMALLEST_TEXT_PX, height * style.text_height_pct / 100)
    margin = round(height * style.margin_pct / 100)
    pad_x, pad_y, gap = round(text_px * 0.7), round(text_px * 0.5), round(text_px * 0.3)
    room = max(1, width - 2 * margin - 2 * pad_x)
    rows = [
        (text, text_px * scale, alpha) for text, scale, alpha in ((headline, 1.0, 255), (detail, 0.74, 190)) if text
    ]
    fonts = [fitting_font(text, px, room, style.font) for text, px, _ in rows]
    texts = [shorten(text, font, room) for (text, _, _), font in zip(rows, fonts, strict=True)]
    heights = [sum(font.getmetrics()) for font in fonts]
    plate_width = min(
        width, round(max(length(text, font) for text, font in zip(texts, fonts, strict=True))) + 2 * pad_x
    )
    plate_height = sum(heights) + gap * (len(rows) - 1) + 2 * pad_y
    plate = _rounded((plate_width, plate_height), radius=round(text_px * 0.4), colour=(*DARK.background, PLATE_ALPHA))
    ink = _colour(style.colour)
    right, centred = style.location.endswith("right"), style.location == "center"
    y = pad_y
    for text, font, (_, _, alpha), row_height in zip(texts, fonts, rows, heights, strict=True):
        free = plate_width - 2 * pad_x - length(text, font)
        x = pad_x + (free if right else free / 2 if centred else 0)
        # Text goes on a layer of its own: drawn straight onto the plate it would replace the plate's opacity.
        layer = Image.new("RGBA", plate.size)
        write(ImageDraw.Draw(layer), (x, y), text, font=font, fill=(*ink, alpha), anchor="la")
        plate = Image.alpha_composite(plate, layer)
        y += row_height + gap
    left = (width - plate_width) // 2 if centred else width - margin - plate_width if right else margin
    top = margin if style.location.startswith("top") else height - margin - plate_height
    return Stamp(plate, max(0, left), max(0, (height - plate_height) // 2 if centred else top))


def _rounded(size: tuple[int, int], *, radius: int, colour: tuple[int, int, int, int]) -> Image.Image:
    scale = 4
    mask = Image.new("L", (size[0] * scale, size[1] * scale))
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, mask.width - 1, mask.height - 1), radius * scale, fill=colour[3])
    plate = Image.new("RGBA", size, (*colour[:3], 0))
    plate.putalpha(mask.resize(size, Image.Resampling.LANCZOS))
    return plate


def _colour(text: str) -> Colour:
    try:
        red, green, blue, *_ = ImageColor.getrgb(text)
    except ValueError as error:
        raise RequestError(
            f"--font-color {text} is no colour.", hint="Give a name such as white or tomato, or #rrggbb."
        ) from error
    return red, green, blue
