"""Files that are either whole or absent.

Everything another process may read is written aside, flushed to the disk, and renamed into place; a reader
sees the old content or the new one, never a half.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LONGEST_WHOLE = 300
"""Digits of the longest whole number that is taken; any of so many is a finite float too."""

_LARGE = re.compile(rb"[eE]\+?\d{3}")
_LONG = re.compile(rb"\d{301}")
"""What a text must hold for a number in it to be out of range; most texts need no closer look."""
_STRIDE = 15
_PERHAPS_LONG = re.compile(rb"\d{20}")
"""What a text with so many digits in a row holds if only every fifteenth byte of it is looked at."""


_READER = json.JSONDecoder(parse_constant=lambda _: None)
"""Reads texts without unusual numbers; made once, which takes longer than reading a line."""


def write_bytes(path: Path, content: bytes, *, makes_folder: bool = True, mode: int = 0o644) -> None:
    """Replace `path` by `content` in one step.

    Args:
        path: The file.
        content: What it holds from then on.
        makes_folder: Make its folder where it is missing; otherwise that is an error.
        mode: Who may read it; nobody else may while it is written.

    Raises:
        OSError: The disk is full or the folder cannot be written; the old file is left as it was.
    """
    if makes_folder:
        make_folder(path.parent)
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(aside).chmod(mode)
        Path(aside).replace(path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


def make_folder(path: Path) -> None:
    """Make a folder and those above it, where they are missing.

    Raises:
        NotADirectoryError: A file is in the place of one of them.
        OSError: The disk is full, or the folder above cannot be written.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        # "File exists" would be taken for the file that is to be written.
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), error.filename) from None


def write_text(path: Path, content: str, *, makes_folder: bool = True) -> None:
    """Replace `path` by a UTF-8 text in one step; what UTF-8 has no bytes for is written as escapes."""
    write_bytes(path, content.encode(errors="backslashreplace"), makes_folder=makes_folder)


def write_json(path: Path, value: Any, *, indent: int | None = 2, makes_folder: bool = True, mode: int = 0o644) -> None:
    """Replace `path` by a JSON document in one step; a number that is not finite is an error."""
    write_bytes(path, to_json(value, indent=indent) + b"\n", makes_folder=makes_folder, mode=mode)


def to_json(value: Any, *, indent: int | None = None) -> bytes:
    """Return a value as JSON in UTF-8, on one line and without spaces where no indent is given.

    Raises:
        ValueError: A number in it is not finite.
    """
    separators = (",", ":") if indent is None else None
    try:
        return json.dumps(value, indent=indent, separators=separators, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        # A file name may hold bytes that are no text; an escape brings them back as they were.
        return json.dumps(value, indent=indent, separators=separators, allow_nan=False).encode()


def read_json(path: Path) -> Any | None:
    """Return the document in `path`, or None where there is none or it cannot be read as JSON."""
    try:
        return parse_json(path.read_bytes())
    except OSError:
        return None


def read_document(path: Path) -> dict[str, Any]:
    """Return the JSON object in `path`; empty where there is none, or it cannot be read."""
    value = read_json(path)
    return value if isinstance(value, dict) else {}


def parse_json_lines(lines: Sequence[bytes]) -> list[Any | None]:
    """Return the value on each of some lines as `parse_json` does, in a fraction of its time where all are sound."""
    text = b",".join(lines)
    if not _is_unusual(text):
        with contextlib.suppress(ValueError, RecursionError):
            values = _READER.decode(f"[{text.decode()}]")
            if len(values) == len(lines):
                return list(values)
    return [parse_json(line) for line in lines]


def parse_json(text: bytes) -> Any | None:
    """Return the value in a text, numbers out of range as null; None where it is no JSON.

    Python's reader takes numbers that no arithmetic survives (`NaN`, `1e400`, whole numbers without end) and gives up
    in the middle of what is nested without end; here the first are null, and the second is no JSON.
    """
    try:
        if not _is_unusual(text):
            return _READER.decode(text.decode(json.detect_encoding(text), "surrogatepass"))
        return json.loads(text, parse_constant=lambda _: None, parse_float=_float, parse_int=_int)
    except (ValueError, RecursionError):
        return None


def _is_unusual(text: bytes) -> bool:
    """Return whether a number in a text may be out of range."""
    if _LARGE.search(text) is not None:
        return True
    return _PERHAPS_LONG.search(text[::_STRIDE]) is not None and _LONG.search(text) is not None


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


def replace_directory(aside: Path, final: Path) -> None:
    """Seal a finished folder in the place of another, which goes once this one is there.

    Raises:
        OSError: The disk failed; the other folder is where it was.
    """
    old = final.with_name(f".{final.name}.{os.getpid()}.old")
    is_taken = final.is_dir() and any(final.iterdir())
    if is_taken:
        final.rename(old)
    try:
        seal_directory(aside, final)
    except BaseException:
        if is_taken:
            old.rename(final)
        raise
    if is_taken:
        shutil.rmtree(old, ignore_errors=True)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _float(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _int(text: str) -> int | None:
    return int(text) if len(text.lstrip("-")) <= LONGEST_WHOLE else None
