"""The one place that runs ffmpeg: probing films, taking stills out of them, and encoding filter graphs.

The binary is imageio-ffmpeg's own, so nothing need be installed. Films pass through it as streams: no whole film is
ever held in this process, nor, whatever its length, in ffmpeg's.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import psutil

from workbench.errors import WorkFailedError
from workbench.runs.recordings import part_path

NICENESS = 10
"""Films are made beside training and must not slow it down."""
FILM_SUFFIXES = (".mp4", ".webp", ".gif")
"""What a film can be written as, the usual first."""
GIF_MOST_FPS = 50
"""A GIF counts in hundredths of a second, and viewers slow down what is faster than two of them a frame."""
_MP4 = ("-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart")
_MANY_PIXELS = 900_000
_FRUGAL = ("-x264-params", "threads=2:sliced-threads=1:sync-lookahead=0:rc-lookahead=0:bframes=0")
"""What a film of many pixels is encoded with: no frame waits for later ones, each of which takes 20 bytes a pixel."""
_WEBP = ("-c:v", "libwebp_anim", "-quality", "75", "-compression_level", "4", "-loop", "0", "-pix_fmt", "yuv420p")
_GIF = ("-c:v", "gif", "-loop", "0")
_PALETTE_FRAMES = 60
"""How many frames, spread over the film, the colours of a GIF are chosen from."""
RANGE = "out_color_matrix=bt601:out_range=tv"
"""How a scaler is told what every film is made of."""
COLOURS = "setparams=colorspace=smpte170m:color_primaries=smpte170m:color_trc=smpte170m:range=tv"
"""What the pixels are after ffmpeg's own conversion from RGB; without the tag a player guesses by size."""
STOP_PATIENCE_S = 3.0
ERROR_LINES = 4

_NTSC = {"23.98": Fraction(24000, 1001), "29.97": Fraction(30000, 1001), "59.94": Fraction(60000, 1001)}
_VIDEO = re.compile(r"Stream #.*Video: .*?\b(\d{2,5})x(\d{2,5})\b.*?([\d.]+) fps")
_FRAME = re.compile(r"^frame=\s*(\d+)", re.MULTILINE)


@dataclass(frozen=True)
class FilmInfo:
    """What a film is made of."""

    width: int
    height: int
    fps: Fraction
    frames: int

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self.width, self.height

    @property
    def even_size(self) -> tuple[int, int]:
        """The size with odd sides a pixel shorter: what an encoder takes."""
        return self.width - self.width % 2, self.height - self.height % 2

    @property
    def duration_s(self) -> float:
        """How long it plays."""
        return float(self.frames / self.fps)


def ffmpeg() -> str:
    """Return the path of the ffmpeg binary."""
    import imageio_ffmpeg

    try:
        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except RuntimeError as error:
        raise WorkFailedError(
            "there is no ffmpeg here.", hint="Reinstall imageio-ffmpeg, which carries one, or set IMAGEIO_FFMPEG_EXE."
        ) from error


def probe(film: Path) -> FilmInfo:
    """Return size, rate and number of frames of `film`, its packets counted without decoding them.

    Raises:
        WorkFailedError: It is not a film, or holds no frame.
    """
    try:
        stat = film.stat()
    except OSError as error:
        raise WorkFailedError(f"{film} is not a film that can be read: {error.strerror or error}") from error
    return _probe(film, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=256)
def _probe(film: Path, _mtime_ns: int, _size: int) -> FilmInfo:
    words = [ffmpeg(), "-hide_banner", "-nostdin", "-i", str(film), "-map", "0:v:0", "-c", "copy", "-f", "null", "-"]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    stream = _VIDEO.search(done.stderr)
    counts = _FRAME.findall(done.stderr.replace("\r", "\n"))
    if done.returncode != 0 or stream is None or not counts or int(counts[-1]) == 0:
        raise WorkFailedError(f"{film} is not a film that can be read: {_last_lines(done.stderr)}")
    width, height, rate = stream.groups()
    return FilmInfo(int(width), int(height), _NTSC.get(rate) or Fraction(rate), int(counts[-1]))


def still(film: Path, info: FilmInfo, frame: int, picture: Path) -> None:
    """Write frame number `frame` of `film`, counted from zero, as a PNG file.

    Raises:
        WorkFailedError: ffmpeg failed.
    """
    # Half a frame early: a seek lands on the first frame at or after the time.
    start = max(0.0, float((min(frame, info.frames - 1) - Fraction(1, 2)) / info.fps))
    words = ["-ss", f"{start:.6f}", "-i", str(film), "-frames:v", "1", "-update", "1", str(picture)]
    run(words, doing=f"taking a still of {film.name}")
    if not picture.is_file():
        raise WorkFailedError(f"{film} has no frame {frame}.")


def encode(
    inputs: Sequence[Path],
    graph: str,
    film: Path,
    *,
    frames: int,
    size: tuple[int, int],
    scratch: Path,
    on_frame: Callable[[int], None] = lambda frame: None,
) -> None:
    """Encode the `[out]` of a filter graph over `inputs`, as MP4, animated WebP or GIF by the film's suffix.

    Args:
        inputs: Films and pictures, in the order of the graph's numbers.
        graph: The filter graph, with one output named `out`.
        film: Where the film goes; it appears whole or not at all.
        frames: How many frames to write.
        size: Width and height.
        scratch: A folder for a GIF's colours.
        on_frame: Called with the number of frames written so far.

    Raises:
        WorkFailedError: ffmpeg failed; its last words are in the message.
    """
    film.parent.mkdir(parents=True, exist_ok=True)
    part = part_path(film)
    # One decoding thread a clip: the clips are small, and frame threads would each hold frames.
    sources = [word for path in inputs for word in ("-threads", "1", "-i", str(path))]
    suffix, doing = film.suffix.lower(), f"encoding {film.name}"
    how: tuple[str, ...] = _WEBP if suffix == ".webp" else _MP4
    if suffix == ".mp4" and size[0] * size[1] > _MANY_PIXELS:
        how = (*_MP4, *_FRUGAL)
    if suffix == ".gif":
        palette = scratch / "palette.png"
        # Colours first, from frames of the whole film: in one pass ffmpeg would hold all of them until it has chosen.
        chosen = f"{graph};[out]select='not(mod(n,{max(1, frames // _PALETTE_FRAMES)}))',palettegen[palette]"
        run([*sources, "-filter_complex", chosen, "-map", "[palette]", "-frames:v", "1", str(palette)], doing=doing)
        graph = f"{graph};[out]format=rgb24[rgb];[rgb][{len(inputs)}:v]paletteuse[gif]"
        sources, how = [*sources, "-i", str(palette)], _GIF
    words = [*sources, "-filter_complex", graph, "-map", "[gif]" if suffix == ".gif" else "[out]"]
    try:
        run([*words, "-frames:v", str(frames), *how, str(part)], doing=doing, on_frame=on_frame)
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.replace(film)
    finally:
        part.unlink(missing_ok=True)


def run(words: Sequence[str], *, doing: str, on_frame: Callable[[int], None] = lambda frame: None) -> None:
    """Run ffmpeg with `words` at low priority; it never outlives this call.

    Raises:
        WorkFailedError: It failed; its last words are in the message.
    """
    command = [ffmpeg(), "-hide_banner", "-nostdin", "-y", "-loglevel", "error", "-progress", "pipe:1", *words]
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            with suppress(psutil.Error, OSError):
                psutil.Process(child.pid).nice(NICENESS)
            assert child.stdout is not None
            for line in child.stdout:
                if found := _FRAME.match(line):
                    on_frame(int(found[1]))
            child.wait()
        finally:
            _end(child)
        if child.returncode != 0:
            errors.seek(0)
            raise WorkFailedError(f"{doing} failed: {_last_lines(errors.read().decode(errors='replace'))}")


def _end(child: subprocess.Popen[str]) -> None:
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(STOP_PATIENCE_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    if child.stdout is not None:
        child.stdout.close()


def _last_lines(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines[-ERROR_LINES:]) or "ffmpeg said nothing"
