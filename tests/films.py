"""Films looked at by ffmpeg itself, for tests of what was written."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import imageio_ffmpeg
import numpy as np


def read_film(path: Path) -> np.ndarray:
    """Return every frame of a film, (frames, height, width, 3)."""
    decode = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(decode, check=True, capture_output=True)
    size = re.search(rb"Video: .* (\d+)x(\d+)", done.stderr)
    assert size is not None
    return np.frombuffer(done.stdout, np.uint8).reshape(-1, int(size[2]), int(size[1]), 3)
