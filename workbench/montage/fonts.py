"""The fonts that montages are written with: Pillow's own, and where that lacks a letter one of the system's."""

from __future__ import annotations

import math
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import cast

from PIL import Image, ImageDraw, ImageFont

from workbench.errors import RequestError

Font = ImageFont.FreeTypeFont

SMALLEST_TEXT_PX = 8.0
FINENESS = 4
"""How much larger letters are drawn than shown."""

WIDE_FONTS = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "FreeSans.ttf", "Arial.ttf")
"""Fonts with many letters that systems have, the most usual first."""

_NO_CHARACTER = "\uffff"
"""Unicode promises that it never stands for anything, so fonts draw their sign for a missing letter."""


@cache
def load_font(size: float, path: Path | None = None) -> Font:
    """Return a font of that many pixels; Pillow's own without a file.

    Raises:
        RequestError: The file is no font.
    """
    if path is None:
        return cast(Font, ImageFont.load_default(max(SMALLEST_TEXT_PX, size)))
    try:
        return ImageFont.truetype(str(path), max(SMALLEST_TEXT_PX, size))
    except OSError as error:
        raise RequestError(f"--font-path {path} is no font that can be read: {error}.") from error


@cache
def _finer(font: Font) -> Font:
    return font.font_variant(size=font.size * FINENESS)


def length(text: str, font: Font) -> float:
    """Return how wide `write` writes a text, in pixels."""
    return _finer(font).getlength(text) / FINENESS


def write(
    draw: ImageDraw.ImageDraw, at: tuple[float, float], text: str, *, font: Font, fill: tuple[int, ...], anchor: str
) -> None:
    """Write a text with its letters where they belong, which small fonts move to whole pixels; else as Pillow does."""
    large = _finer(font)
    left, top, right, bottom = (edge / FINENESS for edge in large.getbbox(text, anchor=anchor))
    x, y = math.floor(at[0] + left), math.floor(at[1] + top)
    width, height = math.ceil(at[0] + right) - x + 1, math.ceil(at[1] + bottom) - y + 1
    mask = Image.new("L", (width * FINENESS, height * FINENESS))
    start = ((at[0] - x) * FINENESS, (at[1] - y) * FINENESS)
    ImageDraw.Draw(mask).text(start, text, font=large, fill=255, anchor=anchor)
    draw.bitmap((x, y), mask.resize((width, height), Image.Resampling.BOX), fill=fill)


def fitting_font(text: str, size: float, width: float, path: Path | None = None) -> Font:
    """Return the largest font up to `size` in which `text` is no wider than `width`."""
    font = load_font(size, path)
    while length(text, font) > width and size > SMALLEST_TEXT_PX:
        size = max(SMALLEST_TEXT_PX, size * 0.94)
        font = load_font(size, path)
    return font


def shorten(text: str, font: Font, width: float) -> str:
    """Return `text`, cut with an ellipsis where it is wider than `width`."""
    if length(text, font) <= width:
        return text
    while text and length(text + "…", font) > width:
        text = text[:-1]
    return text.rstrip() + "…"


@cache
def font_for(text: str, path: Path | None = None) -> Path | None:
    """Return the file of a font that has every letter of `text`: the one named, else Pillow's own, else a system's.

    Returns:
        The file; None for Pillow's own.

    Raises:
        RequestError: The font named lacks a letter, or none here has it.
    """
    missing = lacking(text, load_font(24.0, path))
    if not missing:
        return path
    if path is not None:
        raise RequestError(f"{path} has no letter `{missing}`, which the title has.", hint="Name another --font-path.")
    for other in _others(text):
        if not lacking(text, load_font(24.0, other)):
            return other
    raise RequestError(
        f"no font here has the letter `{missing}` of the title.",
        hint="--font-path FILE names a TrueType file that has.",
    )


def lacking(text: str, font: Font) -> str:
    """Return the first letter that a font has not; nothing where it has all."""
    none = bytes(font.getmask(_NO_CHARACTER))
    return next((letter for letter in text if not letter.isspace() and bytes(font.getmask(letter)) == none), "")


def _others(text: str) -> list[Path]:
    """Return files of fonts that may have the letters of a text."""
    found = []
    for name in WIDE_FONTS:
        try:
            # Pillow looks for a bare name in the system's folders.
            found.append(Path(str(ImageFont.truetype(name).path)))
        except OSError:
            continue
    match = shutil.which("fc-match")
    if match is not None:
        letters = " ".join(f"{ord(letter):x}" for letter in sorted(set(text)) if not letter.isspace())
        asked = [match, "--format=%{file}", f":charset={letters}"]
        said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        found += [Path(said)] if Path(said).suffix.lower() in {".ttf", ".otf", ".ttc"} else []
    return found
