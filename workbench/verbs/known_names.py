"""The names of the environments there are, for completion: read from a small cache while no file of theirs changed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench import durable
from workbench.durable import read_document
from workbench.project import Project, cache_folder, shipped_project

_FRESH_S = 3600.0
"""Environments of a package that was installed meanwhile are known after so long at the latest."""


def environment_names(project: Project) -> Sequence[str]:
    """Return the short names of the project's environments and of those that came with workbench and packages."""
    stamp = _stamp(project)
    path = cache_folder() / "completion" / f"{hashlib.sha256(os.fsencode(project.root)).hexdigest()[:16]}.json"
    known = read_document(path)
    names, written = known.get("names"), known.get("time")
    is_fresh = isinstance(written, int | float) and 0 <= time.time() - written < _FRESH_S
    if known.get("stamp") == stamp and is_fresh and isinstance(names, list):
        return [name for name in names if isinstance(name, str)]
    from workbench.catalog import discover

    found = sorted({entry.name for entry in discover(project).entries})
    with contextlib.suppress(OSError):
        durable.write_json(path, {"stamp": stamp, "time": time.time(), "names": found}, indent=None)
    return found


def _stamp(project: Project) -> str:
    """Return a digest of every file that can name an environment, by name, size and time."""
    digest = hashlib.sha256()
    for folder in (project.envs, shipped_project().envs):
        for line in _files(folder):
            digest.update(line.encode(errors="surrogateescape"))
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            with contextlib.suppress(OSError):
                status = (Path(parent) / name).stat()
                yield f"{parent}/{name} {status.st_size} {status.st_mtime_ns}\n"
