"""Measures how soon a window shows its first frame, and how fast it goes on, on an X server without a screen.

    python benchmarks/window.py [--env ant]… [--rounds 7] [--seconds 5] [--write]

`play` is started as the app starts it; the time runs from its start to the first state that it tells with a window,
which is after the first frame was drawn. Then the simulated seconds are counted that a second of real time brings, for
one model and for four ghosts. `--write` puts the figures into `viewer.md`; nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from sections import VIEWER, VIEWER_TITLE, machine, replace_section, table

TARGET_S = 1.2
TARGET_PACE = 0.97
ENVIRONMENTS = ("half_cheetah", "ant")
GHOSTS = 4
HEADING = "Window"
ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Measure, print a JSON document, and return 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", action="append", dest="envs", metavar="ENV")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--write", action="store_true", help="put the figures into viewer.md")
    asked = parser.parse_args()
    with display() as name, tempfile.TemporaryDirectory() as state:
        surroundings = os.environ | {"DISPLAY": name, "WORKBENCH_STATE": state}
        figures = [measure(env, asked.rounds, asked.seconds, surroundings) for env in asked.envs or ENVIRONMENTS]
    print(json.dumps(figures, indent=2))
    if asked.write:
        replace_section(VIEWER, HEADING, told(figures), title=VIEWER_TITLE)
    return 0 if all(figure["reached"] for figure in figures) else 1


def measure(env: str, rounds: int, seconds: float, surroundings: dict[str, str]) -> dict[str, Any]:
    """Open windows on one environment, and return what was counted."""
    starts = [open_window([env], 0.0, surroundings)[0] for _ in range(rounds)]
    pace = open_window([env], seconds, surroundings)[1]
    ghosts = open_window([env] * GHOSTS + ["--ghost"], seconds, surroundings)[1]
    start = statistics.median(starts)
    return {
        "env": env,
        "start_s": round(start, 3),
        "starts_s": [round(one, 3) for one in starts],
        "pace": round(pace, 3),
        "ghosts_pace": round(ghosts, 3),
        "reached": start < TARGET_S and min(pace, ghosts) >= TARGET_PACE,
    }


def open_window(words: Sequence[str], seconds: float, surroundings: dict[str, str]) -> tuple[float, float]:
    """Return the seconds to the first frame, and the simulated seconds in one of those that follow."""
    command = [sys.executable, "-m", "workbench.viewer", "--project", str(ROOT), *words, "--agent", "zero"]
    begun = time.perf_counter()
    player = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=surroundings
    )
    assert player.stdin is not None and player.stdout is not None
    first: float | None = None
    course: list[tuple[float, float]] = []
    for line in player.stdout:
        event, now = json.loads(line), time.perf_counter()
        if event["event"] == "error":
            raise SystemExit(event["message"])
        if event["event"] != "state" or not event["window"]:
            continue
        first = first or now - begun
        # The first second is left out: ghosts find out then how they are drawn.
        if event["episode"] == 1 and now - begun > first + 1:
            course.append((now, event["time_s"]))
        if now - begun > first + 1 + seconds or not seconds:
            break
    player.stdin.close()
    player.wait()
    assert first is not None
    pace = (course[-1][1] - course[0][1]) / (course[-1][0] - course[0][0]) if len(course) > 1 else 1.0
    return first, pace


@contextlib.contextmanager
def display() -> Iterator[str]:
    """Start an X server and yield the name of its display."""
    reader, writer = os.pipe()
    words = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"]
    server = subprocess.Popen(words, pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    try:
        yield f":{os.read(reader, 16).decode().strip()}"
    finally:
        os.close(reader)
        server.terminate()
        server.wait(timeout=20)


def told(figures: list[dict[str, Any]]) -> str:
    """Return the section of the file."""
    rows = [
        (
            figure["env"],
            f"{figure['start_s']:.2f} s",
            f"{figure['pace']:.2f} ×",
            f"{figure['ghosts_pace']:.2f} ×",
            "yes" if figure["reached"] else "NO",
        )
        for figure in figures
    ]
    head = ("environment", "first frame", "pace", f"pace of {GHOSTS} ghosts", "reached")
    return (
        f"From the start of the process to the first frame, and simulated over real seconds, on Xvfb; below {TARGET_S} "
        f"s and at least {TARGET_PACE} × are asked for. {machine()}.\n\n{table(head, rows)}\n\n"
        "`python benchmarks/window.py --write` measures it again."
    )


if __name__ == "__main__":
    sys.exit(main())
