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


def take(path: Path, flags: int = os.O_RDONLY) -> int | None:
    """Take a file or folder for as long as the descriptor stays open; None where somebody else has it.

    Never waits. The kernel lets go with the last process that holds it, however that process ends.

    Args:
        path: What is taken.
        flags: How it is opened.

    Raises:
        OSError: It cannot be opened.
    """
    handle = os.open(path, flags | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if isinstance(error, BlockingIOError):
            return None
        raise
    return handle
