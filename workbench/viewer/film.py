"""Writing frames into a film, streamed: MP4, animated WebP, GIF, or one PNG.

A film is written aside and renamed when whole, so that nobody opens half of one. ffmpeg comes with imageio-ffmpeg
and runs as a process of its own.
"""

from __future__ import annotations

import contextlib
import fcntl
import re
import signal
import subprocess
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from workbench.errors import RequestError, WorkFailedError
from workbench.runs.recordings import part_path
from workbench.suggest import nearest_one
from workbench.viewer.frames import PixelFormat


class Film(Protocol):
    """Something frames are added to; a context manager that finishes it, or leaves nothing after an error."""

    frames: int
    """Frames added so far."""

    def add(self, frame: NDArray[np.uint8]) -> None:
        """Append a frame."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *raised: Any) -> None: ...


_MP4 = ["-crf", "20", "-preset", "veryfast", "-movflags", "+faststart"]
_WEBP = ["-quality", "70", "-compression_level", "4", "-loop", "0"]

PIPE_BYTES = 1 << 20
"""What the encoder's pipe may hold: the most that Linux grants unasked."""

PALETTE_FRAMES = 50
"""The colours of a GIF are chosen from so many frames; ffmpeg keeps these, uncompressed, and would keep all."""

_GIF_FILTERS = f"format=rgb24,split[a][b];[a]trim=end_frame={PALETTE_FRAMES},palettegen[p];[b][p]paletteuse"

# Suffix: the codec, the pixel format of the file, what else ffmpeg is told, and the end of the filter chain.
_ENCODINGS: dict[str, tuple[str, str, list[str], str]] = {
    ".mp4": ("libx264", "yuv420p", _MP4, ""),
    ".webp": ("libwebp_anim", "yuv420p", _WEBP, ""),
    ".gif": ("gif", "pal8", ["-loop", "0"], _GIF_FILTERS),
}
_STILL = ".png"

_SPEAKER = re.compile(r"^(\[[^\]]* @ 0x[0-9a-f]+\]\s*)+")
"""Which part of ffmpeg says a line, and where that lies in memory."""

SUFFIXES = (*_ENCODINGS, _STILL)
"""What can be written, the usual first."""


def check_suffix(path: Path, also: tuple[str, ...] = ()) -> None:
    """Refuse a file name whose suffix names no format that can be written.

    Args:
        path: The name.
        also: What can be written there besides films and pictures.

    Raises:
        RequestError: It does not.
    """
    suffix = path.suffix.lower()
    known = (*SUFFIXES, *also)
    if suffix not in known:
        near = nearest_one(suffix, known) or SUFFIXES[0]
        raise RequestError(
            f"`{path.name}` names no format that can be written; there are {', '.join(known)}.",
            hint=f"Name it {path.with_suffix(near).name}.",
        )


def is_still(path: Path) -> bool:
    """Tell whether the file holds one picture."""
    return path.suffix.lower() == _STILL


def open_film(path: Path, pixels: PixelFormat, fps: float) -> Film:
    """Return a film that will be at `path`, in the format its suffix names."""
    check_suffix(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    return Still(path, pixels) if is_still(path) else EncodedFilm(path, pixels, fps)


class EncodedFilm:
    """A film that ffmpeg encodes while frames arrive.

    Args:
        path: Where it will be; replaced when the film is whole.
        pixels: What the frames look like.
        fps: Frames a second.
    """

    def __init__(self, path: Path, pixels: PixelFormat, fps: float) -> None:
        self.frames = 0
        self._path = path
        self._part = part_path(path)
        self._pixels = pixels
        self._fps = fps
        self._encoder: subprocess.Popen[bytes] | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed on leaving the film)

    def add(self, frame: NDArray[np.uint8]) -> None:
        """Append a frame.

        Raises:
            WorkFailedError: ffmpeg ended, for want of space or because it cannot encode.
        """
        if self._encoder is None:
            self._encoder = self._start()
        assert self._encoder.stdin is not None
        try:
            self._encoder.stdin.write(frame.data)
        except OSError as error:
            self._encoder.wait()
            raise self._failure() from error
        self.frames += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: Any) -> None:
        try:
            if self._encoder is not None:
                self._finish(self._encoder, abandon=raised[0] is not None)
        finally:
            self._errors.close()
            self._part.unlink(missing_ok=True)

    def _start(self) -> subprocess.Popen[bytes]:
        import imageio_ffmpeg

        codec, pixel_format, extra, chain = _ENCODINGS[self._path.suffix.lower()]
        filters = ",".join(part for part in ("vflip" if self._pixels.bottom_up else "", chain) if part) or "null"
        width, height = self._pixels.size
        rate = Fraction(self._fps).limit_denominator(100_000)
        reading = ["-f", "rawvideo", "-pix_fmt", self._pixels.layout, "-s", f"{width}x{height}", "-r", str(rate)]
        writing = ["-vf", filters, "-an", "-c:v", codec, "-pix_fmt", pixel_format, *extra]
        encoder = subprocess.Popen(
            [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error", *reading, "-i", "-", *writing, str(self._part)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            # Ctrl-C in the terminal is for us: the encoder must live on to finish the film.
            start_new_session=True,
        )
        assert encoder.stdin is not None
        _widen(encoder.stdin.fileno())
        return encoder

    def _finish(self, encoder: subprocess.Popen[bytes], *, abandon: bool) -> None:
        assert encoder.stdin is not None
        if abandon:
            encoder.kill()
        with contextlib.suppress(OSError):
            encoder.stdin.close()
        code = encoder.wait()
        if abandon:
            return
        if code != 0:
            raise self._failure()
        try:
            self._part.replace(self._path)
        except OSError as error:
            why = error.strerror or error
            raise WorkFailedError(f"the film {self._path} could not be written: {why}.") from error

    def _failure(self) -> WorkFailedError:
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        code = None if self._encoder is None else self._encoder.returncode
        how = f" ({signal.strsignal(-code)})" if code is not None and code < 0 else ""
        reason = _SPEAKER.sub("", said[-1].strip()) if said else f"the encoder ended without a word{how}"
        return WorkFailedError(f"the film {self._path} could not be written: {reason.rstrip('.')}.")


def _widen(pipe: int) -> None:
    """Let a pipe hold most of a frame, where the system allows: the next one is drawn while the encoder reads."""
    set_size = getattr(fcntl, "F_SETPIPE_SZ", None)
    if set_size is not None:
        # A user's pipes may hold only so much together.
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, set_size, PIPE_BYTES)


class Still:
    """The last frame added, as a picture."""

    def __init__(self, path: Path, pixels: PixelFormat) -> None:
        self.frames = 0
        self._path = path
        self._pixels = pixels
        self._last: NDArray[np.uint8] | None = None

    def add(self, frame: NDArray[np.uint8]) -> None:
        """Take the place of the frame before."""
        self._last = frame
        self.frames = 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: Any) -> None:
        if raised[0] is not None or self._last is None:
            return
        from PIL import Image

        width, height = self._pixels.size
        picture = self._last.reshape(height, width, -1)[..., :3]
        part = part_path(self._path)
        try:
            Image.fromarray(np.ascontiguousarray(picture[::-1] if self._pixels.bottom_up else picture)).save(part)
            part.replace(self._path)
        except OSError as error:
            why = error.strerror or error
            raise WorkFailedError(f"the picture {self._path} could not be written: {why}.") from error
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
