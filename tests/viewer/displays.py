"""A display of a test's own, and a click on a window's closing button."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

_CLIENT_MESSAGE = 33


class _ClientMessage(ctypes.Structure):
    """`XClientMessageEvent` of Xlib, padded to the size of an `XEvent`."""

    _fields_ = [
        ("type", ctypes.c_int),
        ("serial", ctypes.c_ulong),
        ("send_event", ctypes.c_int),
        ("display", ctypes.c_void_p),
        ("window", ctypes.c_ulong),
        ("message_type", ctypes.c_ulong),
        ("format", ctypes.c_int),
        ("data", ctypes.c_long * 5),
        ("padding", ctypes.c_long * 12),
    ]


@contextmanager
def display() -> Iterator[str]:
    """Start an X server and yield the name of its display."""
    with server() as (name, _):
        yield name


@contextmanager
def server() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start an X server and yield the name of its display, and its process."""
    reader, writer = os.pipe()
    words = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"]
    process = subprocess.Popen(words, pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    try:
        yield f":{os.read(reader, 16).decode().strip()}", process
    finally:
        os.close(reader)
        process.terminate()
        process.wait(timeout=20)


def find_window(display: str, title: str) -> int:
    """Return the ID of the window whose title holds some words."""
    words = ["xdotool", "search", "--sync", "--onlyvisible", "--name", title]
    found = subprocess.run(
        words, env=os.environ | {"DISPLAY": display}, capture_output=True, text=True, timeout=30, check=True
    )
    return int(found.stdout.split()[0])


def press(display: str, window: int, key: str) -> None:
    """Press a key in a window."""
    _xdotool(display, "windowfocus", str(window), "key", key)


def click(display: str, window: int, x: int, y: int) -> None:
    """Click at a pixel of a window."""
    _xdotool(display, "mousemove", "--window", str(window), str(x), str(y), "sleep", "0.2", "click", "1")


def _xdotool(display: str, *words: str) -> None:
    subprocess.run(["xdotool", *words], env=os.environ | {"DISPLAY": display}, timeout=30, check=True)


def close_window(display: str, window: int) -> None:
    """Do what a window manager does when the closing button is clicked."""
    xlib = ctypes.CDLL("libX11.so.6")
    xlib.XOpenDisplay.restype = ctypes.c_void_p
    xlib.XInternAtom.restype = ctypes.c_ulong
    connection = ctypes.c_void_p(xlib.XOpenDisplay(display.encode()))
    protocols, delete = (xlib.XInternAtom(connection, name, 0) for name in (b"WM_PROTOCOLS", b"WM_DELETE_WINDOW"))
    message = _ClientMessage(type=_CLIENT_MESSAGE, window=window, message_type=protocols, format=32)
    message.data[0] = delete
    xlib.XSendEvent(connection, ctypes.c_ulong(window), 0, ctypes.c_long(0), ctypes.byref(message))
    xlib.XCloseDisplay(connection)
