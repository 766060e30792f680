"""The files of a catalogue's folders, and the folders that could not be looked into."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.errors import Problem


def visible_files(folder: Path) -> tuple[list[Path], list[Problem]]:
    """Return the files in a folder and below it, sorted, and what hid others.

    Hidden files and folders are left out, and virtual environments of Python; a folder that is not there has none.
    """
    errors: list[OSError] = []
    files: list[Path] = []
    for place, folders, names in os.walk(folder, onerror=errors.append):
        if "pyvenv.cfg" in names:
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        files += (Path(place, name) for name in names if not name.startswith("."))
    problems = [
        Problem("folder", f"cannot be read: {error.strerror}", path=Path(error.filename))
        for error in errors
        if not isinstance(error, FileNotFoundError | NotADirectoryError)
    ]
    return sorted(files), problems
