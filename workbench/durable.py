"""Files that are either whole or absent.

Everything another process may read is written aside, flushed to the disk, and renamed into place; a reader
sees the old content or the new one, never a half.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any


def write_bytes(path: Path, content: bytes) -> None:
    """Replace `path` by `content` in one step.

    Raises:
        OSError: The disk is full or the folder cannot be written; the old file is left as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(aside).chmod(0o644)
        Path(aside).replace(path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


def write_text(path: Path, content: str) -> None:
    """Replace `path` by a UTF-8 text in one step."""
    write_bytes(path, content.encode())


def write_json(path: Path, value: Any, *, indent: int | None = 2) -> None:
    """Replace `path` by a JSON document in one step; a number that is not finite is an error."""
    write_text(path, json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any | None:
    """Return the document in `path`, or None where there is none or it cannot be read as JSON."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def seal_directory(aside: Path, final: Path) -> None:
    """Rename a finished folder into place, its files flushed to the disk first.

    Raises:
        OSError: `final` exists and is not empty, or the disk failed.
    """
    for path in aside.rglob("*"):
        if path.is_file():
            _sync(path)
    _sync(aside)
    aside.rename(final)
    _sync(final.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
