"""What is done when the X server of a window goes away: Xlib would end the process from within C, in its own words.

Xlib tells an I/O error to a handler, and calls `exit` once that returns; `XSetIOErrorHandler(3)` has it. So what is
there to be said and kept is said and kept within the handler, which ends the process itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Callable, Iterator

_HANDLER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


@contextlib.contextmanager
def handled(on_lost: Callable[[], int]) -> Iterator[None]:
    """End the process where the display is lost meanwhile.

    Where there is no Xlib, nothing changes.

    Args:
        on_lost: Called then, on the thread that drew and in the middle of a frame: graphics must not be touched any
            more. Returns the exit code; what is buffered, and what waits for the interpreter's end, is lost.
    """
    xlib = _xlib()
    if xlib is None:
        yield
        return

    def end(display: int | None) -> int:
        code = 1
        try:
            code = on_lost()
        finally:
            os._exit(code)

    handler = _HANDLER(end)
    before = xlib.XSetIOErrorHandler(handler)
    try:
        yield
    finally:
        xlib.XSetIOErrorHandler(ctypes.c_void_p(before))


def _xlib() -> ctypes.CDLL | None:
    """Return the library that the window's own is linked against."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        xlib = ctypes.CDLL("libX11.so.6")
        xlib.XSetIOErrorHandler.restype = ctypes.c_void_p
    except (OSError, AttributeError):
        return None
    return xlib
