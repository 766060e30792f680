"""One thing tried out in a process of its own: `python -m workbench.viewer.probe NAME` prints what came of it as JSON.

A graphics driver or a native library that ends the process with a signal is then a finding and not a crash.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.simulation.graphics_choice import require_mujoco_loads

SIZE = (64, 48)


def _simulator() -> str:
    """Step a batch of two copies."""
    import mujoco
    from mujoco.batch import Batch

    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    Batch(model, 2, 1).step()
    return f"mujoco {version('mujoco')} steps batches"


def _learner() -> str:
    """Multiply two matrices."""
    import torch

    torch.ones(2, 2) @ torch.ones(2, 2)
    where = f"CUDA {torch.cuda.get_device_name(0)}" if torch.cuda.is_available() else "CPU only"
    return f"torch {torch.__version__}, {torch.get_num_threads()} threads, {where}"


def _pictures() -> str:
    """Draw a tiny picture with no display."""
    from workbench.errors import GraphicsError
    from workbench.viewer import backend
    from workbench.viewer.look import THEMES

    theme = THEMES["light"]
    backend.start("offscreen", size=SIZE, samples=1, theme=theme)
    picture = backend.import_polyscope().screenshot_to_buffer(False)
    wanted = [round(255 * channel) for channel in theme.background]
    if abs(picture[0, 0, :3].astype(int) - wanted).max() > 8:
        raise GraphicsError("pictures come out in wrong colours: the graphics driver is at fault.")
    backend.stop()
    return f"polyscope {version('polyscope')} draws without a display (EGL)"


def _window() -> str:
    """Ask for everything a window needs, without opening one."""
    import ctypes

    from workbench.errors import GraphicsError
    from workbench.viewer import backend

    backend.require("window")
    if not sys.platform.startswith("linux"):
        return "this system has windows of its own"
    missing = []
    for library in backend.WINDOW_LIBRARIES:
        try:
            ctypes.CDLL(library)
        except OSError:
            missing.append(library)
    if missing:
        raise GraphicsError(f"a window needs {', '.join(missing)}.", hint=backend.WINDOW_FIX)
    if not backend.display_opens():
        raise GraphicsError("the display that $DISPLAY names does not answer.", hint=backend.NO_DISPLAY_FIX)
    return "a display answers"


def _encoder() -> str:
    """Encode a tiny film."""
    import imageio_ffmpeg
    import numpy as np

    from workbench.viewer.film import open_film
    from workbench.viewer.frames import PixelFormat

    width, height = SIZE
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "probe.mp4"
        with open_film(path, PixelFormat(SIZE, "rgba", bottom_up=True), 10) as film:
            for _ in range(3):
                film.add(np.full(width * height * 4, 128, dtype=np.uint8))
        path.stat()
    return f"ffmpeg {imageio_ffmpeg.get_ffmpeg_version()} writes MP4"


PROBES: dict[str, Callable[[], str]] = {
    "simulator": _simulator,
    "learner": _learner,
    "pictures": _pictures,
    "encoder": _encoder,
    "window": _window,
}


def main(name: str) -> int:
    """Run one probe and print a JSON object with `detail`, or with `error` and `fix`."""
    try:
        if name != "learner":  # Every other one loads MuJoCo.
            require_mujoco_loads()
        document = {"detail": PROBES[name]()}
    except WorkbenchError as error:
        document = {"error": error.message, "fix": error.hint}
    except Exception as error:
        document = {"error": f"{type(error).__name__}: {error}", "fix": ""}
    sys.stdout.write(f"{json.dumps(document)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
