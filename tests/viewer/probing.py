"""Reading films back with ffmpeg itself, not with the code that wrote them."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np


@dataclass(frozen=True)
class Read:
    """A film decoded."""

    size: tuple[int, int]
    fps: float
    frames: Any
    """`(n, height, width, 3)`."""


def read_film(path: Path) -> Read:
    """Decode a film; fails where ffmpeg finds anything wrong with it."""
    ffmpeg = imageio_ffmpeg.get_ffmpeg_exe()
    told = subprocess.run([ffmpeg, "-i", path], capture_output=True, text=True, check=False).stderr
    shape = re.search(r"Video: .* (\d+)x(\d+)", told)
    rate = re.search(r"([\d.]+) fps", told)
    assert shape is not None, told
    assert rate is not None, told
    width, height = int(shape[1]), int(shape[2])
    words = [ffmpeg, "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-fps_mode", "passthrough", "-"]
    done = subprocess.run(words, capture_output=True, check=True)
    return Read((width, height), float(rate[1]), np.frombuffer(done.stdout, np.uint8).reshape(-1, height, width, 3))
