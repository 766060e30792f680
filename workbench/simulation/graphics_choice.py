"""What `MUJOCO_GL` does to this process, told before anything is asked of MuJoCo.

MuJoCo chooses its own renderer while it is imported, and a choice that it cannot carry out keeps the whole library
from loading, although films, windows and training here need none of its renderers.
"""

from __future__ import annotations

import os

from workbench.errors import RequestError

VARIABLE = "MUJOCO_GL"


def require_mujoco_loads() -> None:
    """Refuse a renderer that keeps MuJoCo from loading; costs nothing where none is chosen.

    Raises:
        RequestError: `MUJOCO_GL` names a renderer that MuJoCo does not know, or that is not installed.
    """
    choice = os.environ.get(VARIABLE, "").strip()
    if not choice:
        return
    try:
        import mujoco  # noqa: F401
    except ImportError:
        # A library that is missing or broken, whatever is chosen; whoever needs it says so.
        return
    except Exception as error:
        # MuJoCo says itself what it does not know; a library that is absent shows only as some other failure.
        why = (
            "MuJoCo knows no renderer of that name"
            if isinstance(error, RuntimeError)
            else "the renderer is not installed"
        )
        raise RequestError(
            f"{VARIABLE}={choice} keeps MuJoCo from loading: {why}.",
            hint=f"`unset {VARIABLE}`, or set {VARIABLE}=egl.",
        ) from error
