"""One picture of a film or an image, as large as a part of the terminal; ffmpeg takes it out in its own process."""

from __future__ import annotations

import asyncio
from pathlib import Path

from workbench.remote.frames import Frame
from workbench.runs.recordings import FILM_SUFFIXES, IMAGE_SUFFIXES

PATIENCE_S = 10.0
SUFFIXES = FILM_SUFFIXES | IMAGE_SUFFIXES


async def take_still(
    path: Path, size: tuple[int, int], *, at_s: float = 0.0, backdrop: str = "#16181d"
) -> Frame | None:
    """Return the picture of a file at a moment, in the middle of a backdrop; None where there is none to be had.

    Args:
        path: A film or an image.
        size: Width and height in pixels.
        at_s: The moment of a film.
        backdrop: What shows where the picture's shape is another one, `#rrggbb`.
    """
    width, height = size
    if path.suffix.lower() not in SUFFIXES or width < 2 or height < 2:
        return None
    program = await asyncio.to_thread(_ffmpeg)
    fit = f"scale={width}:{height}:force_original_aspect_ratio=decrease"
    colour = "0x" + backdrop.lstrip("#")[:6]
    words = [program, "-v", "error", *(["-ss", f"{at_s:.3f}"] if at_s and path.suffix.lower() in FILM_SUFFIXES else [])]
    words += ["-i", str(path), "-frames:v", "1", "-vf", f"{fit},pad={width}:{height}:(ow-iw)/2:(oh-ih)/2:{colour}"]
    words += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    silent = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *words, stdin=silent, stdout=asyncio.subprocess.PIPE, stderr=silent, start_new_session=True
        )
    except OSError:
        return None
    try:
        pixels, _ = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    except (TimeoutError, asyncio.CancelledError) as error:
        process.kill()
        await process.wait()
        if isinstance(error, asyncio.CancelledError):
            raise
        return None
    return Frame(width, height, 0, 0, pixels) if len(pixels) == width * height * 3 else None


def _ffmpeg() -> str:
    """Return the encoder that the films were made with; importing it reads its folder."""
    import imageio_ffmpeg

    return str(imageio_ffmpeg.get_ffmpeg_exe())
