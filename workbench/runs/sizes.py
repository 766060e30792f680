"""How much of the disk a folder takes."""

from __future__ import annotations

import os
from pathlib import Path


def size_of(folder: Path) -> int:
    """Return the bytes in all files below a folder; what vanishes or cannot be read meanwhile counts as nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).lstat().st_size
            except OSError:
                continue
    return total
