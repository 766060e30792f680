"""Holding a folder, so that of several processes one at a time changes what is in it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Keep everybody else who asks from the folder meanwhile; whoever comes later waits.

    The kernel lets go with the process, and no file is left behind.

    Raises:
        OSError: The folder is gone or cannot be opened.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
