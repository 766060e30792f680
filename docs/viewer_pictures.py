"""Writes the pictures of the viewer and of montages here: `python docs/viewer_pictures.py PROJECT CKPT CKPT…`.

PROJECT is a folder with runs, and at least two of their checkpoints, in one environment, are named: the first is seen
in the window, all of them side by side and as ghosts, the run of the first in the grid, and all runs on the poster. No
display is needed, nothing is remembered of windows, and clips go to the project's recordings.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from workbench.project import open_project
from workbench.viewer import options
from workbench.viewer.look import theme_named
from workbench.viewer.opening import open_show
from workbench.viewer.orders import Orders
from workbench.viewer.stage import MujocoStage
from workbench.viewer.target import find_target

HERE = Path(__file__).resolve().parent
WINDOW = (880, 600)
GAP = 12
"""Pixels between two pictures that are put beside each other."""
FRAME_S = 0.05


def window(project: Path, words: Sequence[str], seconds: float, prepare: Callable[[Orders], None]) -> Any:
    """Return what the window shows after so much simulated time, `(height, width, 3)`."""
    import polyscope

    parser = argparse.ArgumentParser()
    options.add_play_arguments(parser)
    with open_show(
        parser.parse_args([*words]),
        open_project(project),
        on_fault=_complain,
        on_episode=lambda *episode: None,
        on_lost=lambda: 1,
    ) as show:
        orders = show.orders
        prepare(orders)
        theme = theme_named(orders.view.theme)
        stage = MujocoStage(orders, theme, layout=show.layout, size=WINDOW, surface="offscreen")
        try:
            for _ in range(round(seconds / FRAME_S)):
                stage.show(orders.player.advance(FRAME_S))
            orders.do("pause")
            stage.show(0.0)
            return polyscope.screenshot_to_buffer(False, include_UI=True)[..., :3].copy()
        finally:
            stage.close()


def _complain(error: Exception) -> None:
    raise error


def beside(*pictures: Any) -> Image.Image:
    """Return pictures of one height beside each other."""
    gap = np.full((len(pictures[0]), GAP, 3), 255, np.uint8)
    parts = [part for picture in pictures for part in (gap, picture)][1:]
    return Image.fromarray(np.concatenate(parts, axis=1))


def workbench(project: Path, *words: str) -> None:
    """Run a command."""
    subprocess.run([sys.executable, "-m", "workbench", "--project", str(project), *words], check=True)


def frame(film: Path, at: float) -> Any:
    """Return a frame of a film, by its share of the whole, `(height, width, 3)`."""
    import imageio.v3 as imageio

    pictures = list(imageio.imiter(film))
    return pictures[round(at * (len(pictures) - 1))]


def closely(orders: Orders) -> None:
    """Show what a policy does and why, in the dark."""
    orders.do("theme", name="dark")
    for what in ("joints", "forces"):
        orders.do("mark", what=what, on=True)
    orders.do("panel", on=True, tab="environment")


def main() -> int:
    """Write them all."""
    if len(sys.argv) < 4:
        sys.stderr.write("usage: python docs/viewer_pictures.py PROJECT CKPT CKPT…\n")
        return 2
    project, policies = Path(sys.argv[1]), sys.argv[2:]
    # Runs may have been trained in copies of one environment.
    policies += ["--env", find_target(open_project(project), policies[0]).name]
    runs = list(dict.fromkeys(word.partition(":")[0] for word in policies[:-2]))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WORKBENCH_STATE"] = folder
        made = Path(folder)
        one = window(project, policies[:1], 2.4, closely)
        ghosts = window(project, [*policies, "--ghost"], 1.2, lambda orders: None)
        beside(one, ghosts).save(HERE / "window.png", optimize=True)
        for name, flags in (("rows", []), ("ghosts", ["--ghost", "--theme", "dark"])):
            words = ["record", *policies, "--still", "1.5s", "--size", "880x360", "--preset", "hd", *flags]
            workbench(project, *words, "-o", str(made / f"{name}.png"))
        pictures = [np.asarray(Image.open(made / f"{name}.png")) for name in ("rows", "ghosts")]
        beside(*pictures).save(HERE / "side_by_side.png", optimize=True)
        clips = ["montage", runs[0], "--num-videos", "4", "--columns", "4", "--curve"]
        workbench(project, *clips, "--layout", "grid", "-o", str(made / "grid.mp4"))
        Image.fromarray(frame(made / "grid.mp4", 0.55)).save(HERE / "montage.png", optimize=True)
        words = ["montage", *runs, "--layout", "poster", "--num-videos", "4", "--curve"]
        workbench(project, *words, "-o", str(HERE / "poster.png"))
        (HERE / "poster.png.json").unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
