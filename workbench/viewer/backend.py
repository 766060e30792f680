"""Starting and ending Polyscope, offscreen through EGL or in a window, with every failure as one sentence.

Nothing imports Polyscope but through `import_polyscope`, and only when a picture is wanted: a machine without graphics
libraries learns what is missing instead of failing on an import.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from workbench.errors import GraphicsError
from workbench.viewer.camera import FIELD_OF_VIEW_DEG
from workbench.viewer.look import STUDIO, Theme, linear, write_studio_material

Surface = Literal["offscreen", "window"]

OFFSCREEN_PACKAGES = ("libegl1", "libegl-mesa0", "libgl1", "libopengl0", "libgl1-mesa-dri", "libx11-6")
"""Debian and Ubuntu packages that recording needs; Polyscope links against X11 even where it opens no window."""

WINDOW_PACKAGES = ("libglx-mesa0", "libxrandr2", "libxinerama1", "libxcursor1", "libxi6")
"""What a window needs besides."""

WINDOW_LIBRARIES = ("libX11.so.6", "libGL.so.1", "libXrandr.so.2", "libXinerama.so.1", "libXcursor.so.1", "libXi.so.6")
"""What is loaded when a window opens."""

OFFSCREEN_FIX = f"On Debian and Ubuntu: apt-get install {' '.join(OFFSCREEN_PACKAGES)}"
WINDOW_FIX = f"On Debian and Ubuntu: apt-get install {' '.join(OFFSCREEN_PACKAGES + WINDOW_PACKAGES)}"
DRIVER_FIX = "`workbench doctor` tries the graphics driver out; a smaller --size asks less of it."
NO_DISPLAY_FIX = (
    "`workbench record` films without a display, and `xvfb-run -a workbench play …` plays on a display of its own."
)

_started: Surface | None = None


def start(surface: Surface, *, size: tuple[int, int], samples: int, theme: Theme, title: str = "workbench") -> None:
    """Start Polyscope with an empty scene.

    Args:
        surface: No window and no display, or a window.
        size: Width and height in pixels.
        samples: Pixels drawn for each one shown, along each side.
        theme: Sets the background.
        title: The window's title, which cannot be changed later.

    Raises:
        GraphicsError: Libraries, a display or a device are missing; the hint says how to mend it.
    """
    global _started
    if _started is not None:
        stop()
    require(surface)
    ps = import_polyscope()
    ps.set_allow_headless_backends(True)
    ps.set_verbosity(0)
    ps.set_use_prefs_file(False)
    # Before init: without it a missing libEGL ends the process with a segmentation fault.
    ps.set_errors_throw_exceptions(True)
    ps.set_display_message_popups(False)
    ps.set_warn_for_invalid_values(False)
    ps.set_enable_render_error_checks(False)
    # Automatic extents would move the near plane and every relative size with the model.
    ps.set_automatically_compute_scene_extents(False)
    ps.set_program_name(title)
    ps.set_window_size(*size)
    ps.set_SSAA_factor(samples)
    try:
        # The libraries below complain on stdout, which belongs to the command's result.
        with _stdout_silenced():
            ps.init("openGL3_egl" if surface == "offscreen" else "openGL3_glfw")
    except RuntimeError as error:
        _let_exit_be_quiet()
        raise _explained(surface, error) from error
    _started = surface
    if surface == "offscreen":
        # Without a window the number of samples takes effect only when the size is set after a first picture; and
        # Polyscope remembers the number beyond its end, and would not tell it to the renderer that starts anew.
        for number in (1, samples):
            ps.set_SSAA_factor(number)
            ps.screenshot_to_buffer(False)
        ps.set_window_size(*size)
    ps.set_up_dir("z_up")
    ps.set_front_dir("x_front")
    ps.set_ground_plane_mode("none")
    ps.set_transparency_mode("none")
    ps.set_view_projection_mode("perspective")
    ps.set_vertical_fov_degrees(FIELD_OF_VIEW_DEG)
    set_background(theme)
    with tempfile.TemporaryDirectory() as folder:
        pictures = write_studio_material(Path(folder))
        ps.load_blendable_material(STUDIO, filenames=[str(path) for path in pictures])


def set_background(theme: Theme) -> None:
    """Set the colour behind everything."""
    import_polyscope().set_background_color(linear(theme.background))


def stop() -> None:
    """End Polyscope; nothing happens where it was not started.

    References to structures must be gone by then, or their library lists them on stderr when Python ends.
    """
    global _started
    if _started is not None:
        _started = None
        import_polyscope().shutdown()


def require(surface: Surface) -> None:
    """Say at once that there is no display, where a window could not open.

    Raises:
        GraphicsError: A window is wanted on Linux without an X display.
    """
    if surface == "window" and sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        raise GraphicsError("there is no display to open a window on.", hint=NO_DISPLAY_FIX)


def import_polyscope() -> Any:
    """Return the module `polyscope`.

    Raises:
        GraphicsError: A library it is linked against is missing.
    """
    try:
        import polyscope
    except ImportError as error:
        raise GraphicsError(f"Polyscope cannot be loaded: {error}.", hint=OFFSCREEN_FIX) from error
    return polyscope


@contextlib.contextmanager
def failures_explained() -> Iterator[None]:
    """Turn what Polyscope raises while it draws into an error for people.

    Raises:
        GraphicsError: It raised; a driver ran out of memory, or was lost.
    """
    try:
        yield
    except RuntimeError as error:
        raise GraphicsError(f"the picture could not be drawn: {_words(error)}.", hint=DRIVER_FIX) from error


def display_opens() -> bool:
    """Tell whether the X display that `$DISPLAY` names answers.

    Not to be asked right before a window opens: Xvfb starts afresh when its only client leaves, and refuses the next
    one meanwhile.
    """
    try:
        xlib = ctypes.CDLL("libX11.so.6")
    except OSError:
        return False
    xlib.XOpenDisplay.restype = ctypes.c_void_p
    display = xlib.XOpenDisplay(None)
    if display:
        xlib.XCloseDisplay(ctypes.c_void_p(display))
    return bool(display)


def _let_exit_be_quiet() -> None:
    """Keep Polyscope's own clean-up at exit from complaining that it was never started."""
    usual = sys.unraisablehook

    def hook(raised: sys.UnraisableHookArgs) -> None:
        if "Polyscope has not been initialized" not in str(raised.exc_value):
            usual(raised)

    sys.unraisablehook = hook


def _explained(surface: Surface, error: RuntimeError) -> GraphicsError:
    said = _words(error)
    if surface == "window":
        hint = WINDOW_FIX if display_opens() else NO_DISPLAY_FIX
        return GraphicsError(f"no window opens on display {os.environ.get('DISPLAY', '')} ({said}).", hint=hint)
    return GraphicsError(f"no picture can be drawn without a display ({said}).", hint=OFFSCREEN_FIX)


def _words(error: RuntimeError) -> str:
    """Return what Polyscope said, without its marks."""
    words = str(error).replace("[polyscope]", "").replace("[EXCEPTION]", "").replace("ERROR:", "")
    return " ".join(words.split()).rstrip(".")


@contextlib.contextmanager
def _stdout_silenced() -> Iterator[None]:
    """Send what C libraries print on stdout nowhere for a while."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:  # The process was started with stdout closed.
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
