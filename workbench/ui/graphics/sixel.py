"""Sixels: pictures as text, six rows of pixels at a time, a colour at a time.

Spoken by xterm, foot, WezTerm, Konsole, Windows Terminal, iTerm2, mlterm, and tmux from 3.4 on. The format is that of
the VT330/VT340 Programmer Reference Manual, chapter 14: after the colours come bands of six rows; a character is six
pixels of one colour, the top one its lowest bit, 63 higher; `!n` repeats, `$` goes back to the start of the band, `-`
to the next.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

COLOURS = 64
"""Of one picture; each costs a pass over the bands that have it."""
_BAND = 6
_EMPTY = 63
_LONG = 4
"""Runs from this length on are shorter with a count."""


def picture(pixels: bytes, size: tuple[int, int], shown: tuple[int, int]) -> str:
    """Return a picture as sixels.

    Args:
        pixels: `height * width * 3` bytes, rows from the top, red green blue.
        size: Width and height in pixels.
        shown: Width and height it is to have on the terminal.
    """
    from PIL import Image

    image = Image.frombytes("RGB", size, pixels)
    if shown != size:
        image = image.resize(shown, Image.Resampling.BILINEAR)
    few = image.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    palette = np.array(few.getpalette(), dtype=np.uint8).reshape(-1, 3)
    return encode(np.asarray(few, dtype=np.uint8), palette)


def encode(indices: NDArray[np.uint8], palette: NDArray[np.uint8]) -> str:
    """Return pixels of a palette as sixels.

    Args:
        indices: The colour of each pixel, `(height, width)`.
        palette: Red, green and blue of each colour, 0 to 255, `(n, 3)`.
    """
    height, width = indices.shape
    percent = np.round(palette.astype(np.float64) * (100 / 255)).astype(int).tolist()
    colours = "".join(f"#{place};2;{red};{green};{blue}" for place, (red, green, blue) in enumerate(percent))
    bands = [_band(indices[top : top + _BAND]) for top in range(0, height, _BAND)]
    return f'\x1bP0;1;0q"1;1;{width};{height}{colours}{"-".join(bands)}\x1b\\'


def _band(rows: NDArray[np.uint8]) -> str:
    """Six rows of pixels, or the fewer that are left at the end, `(rows, width)`."""
    used = np.unique(rows)
    bits = (1 << np.arange(len(rows), dtype=np.int64))[None, :, None]
    signs = _EMPTY + ((rows[None] == used[:, None, None]) * bits).sum(axis=1)
    lines = []
    for colour, line in zip(used.tolist(), signs, strict=True):
        ends = np.append(np.flatnonzero(line[1:] != line[:-1]) + 1, len(line))
        values = line[ends - 1].tolist()
        lengths = np.diff(ends, prepend=0).tolist()
        if values[-1] == _EMPTY:
            # What stands behind the last pixel of a colour is left to the others.
            values.pop()
            lengths.pop()
        lines.append(f"#{colour}" + "".join(map(_run, values, lengths)))
    return "$".join(lines)


def _run(value: int, length: int) -> str:
    return f"!{length}{chr(value)}" if length >= _LONG else chr(value) * length
