"""Pictures of environments: each rendered once by a command of its own, kept in the cache, and read from there.

A picture shows the state at a reset. It belongs to everything its environment depends on, as a description does, so a
module that was edited gets a new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from workbench.project import Project, cache_folder

if TYPE_CHECKING:
    from workbench.catalog import Entry
    from workbench.remote.frames import Frame
    from workbench.ui.app import WorkbenchApp

SIZE = (480, 360)
REST_S = 0.8
"""A picture is made once the cursor has rested on its environment for this long."""
LIMIT_S = 60.0


class Painter(Protocol):
    """Makes a picture; tests have one that makes none."""

    async def __call__(self, project: Project, entry: Entry, path: Path, *, dark: bool) -> None:
        """Write the picture of an entry to `path`, or nothing where that cannot be done."""
        ...


async def paint(project: Project, entry: Entry, path: Path, *, dark: bool) -> None:
    """Have `workbench record` write the picture, at low priority; cancelling ends it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    words = ["record", entry.name, "--agent", "zero", "--seconds", "0.001", "--size", f"{SIZE[0]}x{SIZE[1]}"]
    words += ["--theme", "dark" if dark else "light", "-o", str(path)]
    silent = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "workbench", "--project", str(project.root), *words),
        stdin=silent,
        stdout=silent,
        stderr=silent,
        start_new_session=True,
    )
    try:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), LIMIT_S)
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


class Pictures:
    """The pictures of a project's environments, as far as there are any.

    Args:
        app: Whose workers wait for them, and whose screens are told.
        painter: What makes them.
    """

    def __init__(self, app: WorkbenchApp, painter: Painter) -> None:
        self._app = app
        self._painter = painter
        self._failed: set[Path] = set()
        self._making: tuple[str, bool] | None = None

    def want(self, entry: Entry, *, dark: bool) -> None:
        """Have a picture made where there is none; another one that was asked for before is given up.

        Args:
            entry: An environment that can be made.
            dark: Whether it is for a dark terminal.
        """
        if self._making == (entry.name, dark):
            return
        self._making = (entry.name, dark)
        self._app.run_worker(
            self._make(entry, dark), group="picture", exclusive=True, exit_on_error=False, description="a picture"
        )

    def close(self) -> None:
        """Make no more."""
        self._app.workers.cancel_group(self._app, "picture")

    async def _make(self, entry: Entry, dark: bool) -> None:
        try:
            path = await asyncio.to_thread(picture_path, entry, dark=dark)
            if path in self._failed or path.is_file():
                return
            await asyncio.sleep(REST_S)
            await self._painter(self._app.project, entry, path, dark=dark)
        finally:
            if self._making == (entry.name, dark):
                self._making = None
        if path.is_file():
            self._app.library_changed.publish(self._app.library)
        else:
            # No graphics here, or an environment that draws nothing: asking again would say the same.
            self._failed.add(path)


def picture_path(entry: Entry, *, dark: bool) -> Path:
    """Return where the picture of an environment is kept. Reads what the environment depends on."""
    from workbench.catalog import description_path

    return cache_folder() / "pictures" / f"{description_path(entry).stem}-{'dark' if dark else 'light'}.png"


def read_picture(path: Path, width: int, height: int) -> Frame | None:
    """Return a picture as large as it fits into some pixels; None where it cannot be read."""
    from PIL import Image

    from workbench.remote.frames import Frame

    try:
        with Image.open(path) as image:
            share = min(width / image.width, height / image.height)
            # Two pixels stand in one cell, one above the other.
            size = max(1, round(image.width * share)), max(2, round(image.height * share) // 2 * 2)
            small = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    except (OSError, ValueError):
        return None
    return Frame(small.width, small.height, 0, 0, small.tobytes())
