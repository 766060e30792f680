"""Text on films: what a caption says, and drawing it with Pillow's built-in font."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, cast

from PIL import Image, ImageColor, ImageDraw, ImageFont

from workbench.errors import RequestError

TextLocation = Literal["bottom-left", "bottom-right", "top-left", "top-right", "center"]
Colour = tuple[int, int, int]

BACKGROUND: Colour = (20, 22, 28)
"""Behind everything."""
BAR: Colour = (31, 34, 43)
"""Behind captions."""
BRIGHT: Colour = (244, 246, 250)
MUTED: Colour = (150, 158, 174)
ACCENT: Colour = (122, 197, 255)
PLATE_ALPHA = 176
"""How dark the plate behind a film's label is, of 255."""
SMALLEST_TEXT_PX = 8.0

Font = ImageFont.FreeTypeFont


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


@cache
def load_font(size: float, path: Path | None = None) -> Font:
    """Return a font of that many pixels.

    Raises:
        RequestError: The file is no font.
    """
    if path is None:
        return cast(Font, ImageFont.load_default(max(SMALLEST_TEXT_PX, size)))
    try:
        return ImageFont.truetype(str(path), max(SMALLEST_TEXT_PX, size))
    except OSError as error:
        raise RequestError(f"--font-path {path} is no font that can be read: {error}.") from error


def fitting_font(text: str, size: float, width: float, path: Path | None = None) -> Font:
    """Return the largest font up to `size` in which `text` is no wider than `width`."""
    font = load_font(size, path)
    while font.getlength(text) > width and size > SMALLEST_TEXT_PX:
        size = max(SMALLEST_TEXT_PX, size * 0.94)
        font = load_font(size, path)
    return font


def shorten(text: str, font: Font, width: float) -> str:
    """Return `text`, cut with an ellipsis where it is wider than `width`."""
    if font.getlength(text) <= width:
        return text
    while text and font.getlength(text + "…") > width:
        text = text[:-1]
    return text.rstrip() + "…"


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
        width, round(max(font.getlength(text) for text, font in zip(texts, fonts, strict=True))) + 2 * pad_x
    )
    plate_height = sum(heights) + gap * (len(rows) - 1) + 2 * pad_y
    plate = _rounded((plate_width, plate_height), radius=round(text_px * 0.4), colour=(*BACKGROUND, PLATE_ALPHA))
    ink = _colour(style.colour)
    right, centred = style.location.endswith("right"), style.location == "center"
    y = pad_y
    for text, font, (_, _, alpha), row_height in zip(texts, fonts, rows, heights, strict=True):
        free = plate_width - 2 * pad_x - font.getlength(text)
        x = pad_x + (free if right else free / 2 if centred else 0)
        # Text goes on a layer of its own: drawn straight onto the plate it would replace the plate's opacity.
        layer = Image.new("RGBA", plate.size)
        ImageDraw.Draw(layer).text((x, y), text, font=font, fill=(*ink, alpha))
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
