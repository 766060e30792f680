"""Writes the picture of every task that has a recipe: `python docs/task_pictures.py PROJECT`.

PROJECT is a folder with runs. Each task is seen as the best of its runs plays it; one that nobody trained there stands
still. No display is needed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

HERE = Path(__file__).resolve().parent
SIZE = (320, 240)
COLUMNS = 6
GAP = 8
"""Pixels between two pictures."""
STILL = "3s"
SOONER = {"reacher": "0.5s", "arm_reach": "2s", "arm_joints": "2s", "humanoid": "1s"}
"""Where all is over, or has come to rest, by then."""
UNTRAINED = "0.2s"
"""Before it falls."""


def workbench(project: Path, *words: str) -> str:
    """Run a command and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "workbench", "--project", str(project), *words],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout


def best_runs(project: Path) -> dict[str, str]:
    """Return the run with the highest return for each environment's name."""
    lines = json.loads(workbench(project, "results", "--json"))["results"]
    found: dict[str, tuple[float, str]] = {}
    for line in lines:
        for run, value in zip(line["runs"], line["return_by_seed"].values(), strict=True):
            found[line["environment"]] = max(found.get(line["environment"], (-float("inf"), "")), (value, run))
    return {name: run for name, (_, run) in found.items()}


def tasks(project: Path) -> list[str]:
    """Return the names of all environments with a recipe to train by."""
    entries: list[dict[str, Any]] = json.loads(workbench(project, "list", "--json"))["environments"]
    return sorted(entry["name"] for entry in entries if entry["trainable"])


def labelled(picture: Image.Image, name: str) -> Image.Image:
    """Return a picture with a name in its corner."""
    pen = ImageDraw.Draw(picture)
    pen.text((12, 8), name, fill=(60, 66, 78), font=ImageFont.load_default(size=18))
    return picture


def main() -> int:
    """Write it."""
    if len(sys.argv) != 2:
        sys.stderr.write("usage: python docs/task_pictures.py PROJECT\n")
        return 2
    project = Path(sys.argv[1])
    runs, names = best_runs(project), tasks(project)
    width, height = SIZE[0] + GAP, SIZE[1] + GAP
    rows = -(-len(names) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * width - GAP, rows * height - GAP), "white")
    with tempfile.TemporaryDirectory() as folder:
        for place, name in enumerate(names):
            file = Path(folder) / f"{name}.png"
            who = [f"{runs[name]}:best"] if name in runs else [name, "--agent", "zero"]
            when = SOONER.get(name, STILL) if name in runs else UNTRAINED
            look = ["--size", f"{SIZE[0]}x{SIZE[1]}", "--preset", "hd"]
            workbench(project, "record", *who, "--still", when, *look, "-o", str(file))
            row, column = divmod(place, COLUMNS)
            sheet.paste(labelled(Image.open(file).convert("RGB"), name), (column * width, row * height))
    sheet.save(HERE / "tasks.png", optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
