"""Writes the pictures of the app in this folder: `python docs/screenshots.py PROJECT`.

PROJECT is a folder with some runs; they are shown as they are. The app runs without a
terminal, reads no settings of the person, and remembers nothing.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from workbench.project import Project, open_project
from workbench.ui.app import WorkbenchApp
from workbench.ui.state import Remembered

HERE = Path(__file__).resolve().parent
SIZE = (132, 38)
PICTURES: dict[str, tuple[str, ...]] = {
    "runs": ("2",),
    "environments": ("1",),
    "help": ("2", "question_mark"),
}
"""By file, the keys that lead to what it shows."""
PAUSE_S = 1.0


async def draw(project: Project, name: str, keys: tuple[str, ...]) -> None:
    """Write one picture."""
    with tempfile.TemporaryDirectory() as folder:
        nowhere = Path(folder)
        app = WorkbenchApp(
            project,
            remembered=Remembered(nowhere / "app.json"),
            settings_file=nowhere / "settings.toml",
        )
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause(3 * PAUSE_S)
            for key in keys:
                await pilot.press(key)
                await pilot.pause(PAUSE_S)
            app.clear_notifications()
            await pilot.pause(PAUSE_S)
            (HERE / f"{name}.svg").write_text(app.export_screenshot(title="workbench"), encoding="utf-8")


def main() -> int:
    """Write them all."""
    # Bands are drawn as tints where there are colours enough.
    os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    if len(sys.argv) != 2:
        sys.stderr.write("usage: python docs/screenshots.py PROJECT\n")
        return 2
    for name, keys in PICTURES.items():
        asyncio.run(draw(open_project(sys.argv[1]), name, keys))
    return 0


if __name__ == "__main__":
    sys.exit(main())
