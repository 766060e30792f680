"""Measures making montages: time against a hand-written ffmpeg command, and memory.

    python benchmarks/montage.py [speed] [memory] [--rounds 5] [--frames 600] [--write]

`speed` makes a grid of four clips by `workbench montage`, start to end, and by the shortest ffmpeg command that puts
the same clips under the same captions, by turns; it compares neighbours. `memory` makes a grid and a film of nine
clips of 1,000 frames of 1280x720, and tells the most that a process took. `--write` puts the figures into `viewer.md`;
nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from sections import VIEWER, VIEWER_TITLE, machine, replace_section, table

from workbench.montage.ffmpeg import ffmpeg, probe

TARGET_RATIO = 1.3
TARGET_MB = 300
HEADING = "Montages"
PRIORITY = ["nice", "-n", "10"]
"""Montages are made beside training, so the encoder lowers its priority; the other one gets the same."""
STILL = ["--head-seconds", "0", "--tail-seconds", "0", "--transition-seconds", "0"]


def main() -> int:
    """Measure, print a JSON document, and return 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", metavar="speed|memory")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--frames", type=int, default=600, help="of each clip, where time is measured")
    parser.add_argument("--write", action="store_true", help="put the figures into viewer.md")
    asked = parser.parse_args()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        if "speed" in asked.what or not asked.what:
            figures["speed"] = measure_speed(Path(folder) / "speed", asked.rounds, asked.frames)
        if "memory" in asked.what or not asked.what:
            figures["memory"] = measure_memory(Path(folder) / "memory")
    print(json.dumps(figures, indent=2))
    if asked.write:
        replace_section(VIEWER, HEADING, told(figures), title=VIEWER_TITLE)
    return 0 if all(part["reached"] for part in figures.values()) else 1


def told(figures: dict[str, Any]) -> str:
    """Return the section of the file."""
    rows: list[list[object]] = []
    if speed := figures.get("speed"):
        what = f"four clips of {speed['frames']} frames side by side, against a hand-written ffmpeg command"
        rows.append([what, f"{speed['ratio']:.2f} x ({speed['workbench_s']:.2f} s)", f"at most {TARGET_RATIO} x"])
    if memory := figures.get("memory"):
        for layout in ("grid", "film"):
            what = f"{layout} of nine clips of 1,000 frames of 1280x720, the largest process"
            rows.append([what, f"{memory[layout]['largest_mb']} MB", f"below {TARGET_MB} MB"])
    return f"{machine()}; `python benchmarks/montage.py`.\n\n{table(['what', 'measured', 'target'], rows)}"


def lay_out_run(root: Path, count: int, frames: int, size: str) -> list[Path]:
    """Make a project with a run whose checkpoints hold films of a moving picture, and return the films."""
    run = root / "runs" / "PPO" / "ant_20260101-120000_7f3a"
    films = []
    for place in range(count):
        checkpoint = run / f"checkpoint_{place * 1000:012d}"
        checkpoint.mkdir(parents=True)
        (checkpoint / "policy.json").write_text(json.dumps({"iteration": place, "steps": place * 1000}))
        films.append(checkpoint / "video_000.mp4")
        # Each begins elsewhere, so that no two frames of the whole are alike.
        source = (
            f"testsrc2=size={size}:rate=30,trim=start_frame={place * 7}:end_frame={place * 7 + frames},setpts=N/30/TB"
        )
        words = ["-f", "lavfi", "-i", source, "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p"]
        ffmpeg_run([*words, str(films[-1])])
    (run / "run.json").write_text(json.dumps({"format": 1, "spec": {"env_id": "workbench/Ant-v0", "eval_seed": 1}}))
    return films


def ffmpeg_run(words: Sequence[str]) -> float:
    """Run ffmpeg and return how long it took in seconds."""
    begun = time.perf_counter()
    subprocess.run([*PRIORITY, ffmpeg(), "-y", "-v", "error", "-nostdin", *words], check=True)
    return time.perf_counter() - begun


# Time.


def measure_speed(root: Path, rounds: int, frames: int) -> dict[str, Any]:
    """Make the same grid both ways by turns."""
    films = lay_out_run(root, 4, frames, "480x360")
    captions = draw_captions(root)
    ours, theirs = root / "ours.mp4", root / "theirs.mp4"
    pairs = []
    for number in range(rounds + 1):
        # Which is first changes by turns: a machine that warms up favours neither.
        took = {mine: by_workbench(root, ours) if mine else by_hand(films, captions, theirs) for mine in turn(number)}
        # The first round fills the file caches.
        pairs += [(took[True], took[False])] if number else []
    if probe(ours).frames != probe(theirs).frames:
        raise SystemExit("the two films differ in length")
    ratio = statistics.median(mine / other for mine, other in pairs)
    return {
        "frames": frames,
        "workbench_s": round(statistics.median(mine for mine, _ in pairs), 3),
        "by_hand_s": round(statistics.median(other for _, other in pairs), 3),
        "ratio": round(ratio, 3),
        "ratios": [round(mine / other, 3) for mine, other in pairs],
        "target": TARGET_RATIO,
        "reached": ratio <= TARGET_RATIO,
    }


def turn(number: int) -> tuple[bool, bool]:
    """Return the order of a round: ours first or second."""
    return (True, False) if number % 2 else (False, True)


def by_workbench(root: Path, film: Path) -> float:
    """Make the grid by the command, start to end."""
    words = ["montage", "7f3a", "--layout", "grid", "--columns", "2", *STILL, "-o", str(film)]
    begun = time.perf_counter()
    subprocess.run(
        [*PRIORITY, sys.executable, "-m", "workbench", "--project", str(root), *words],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - begun


def by_hand(films: Sequence[Path], captions: Sequence[Path], film: Path) -> float:
    """Make it by what a person would type: each clip under its caption, and four of them stacked."""
    inputs = [word for path in (*films, *captions) for word in ("-i", str(path))]
    cells = [f"[{n}:v]setsar=1,pad=480:400:0:40[p{n}];[p{n}][{len(films) + n}:v]overlay=0:0[v{n}]" for n in range(4)]
    stack = "[v0][v1][v2][v3]xstack=inputs=4:layout=0_0|w0_0|0_h0|w0_h0,format=yuv420p[out]"
    how = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "18", "-movflags", "+faststart"]
    return ffmpeg_run([*inputs, "-filter_complex", ";".join([*cells, stack]), "-map", "[out]", *how, str(film)])


def draw_captions(root: Path) -> list[Path]:
    """Draw the pictures that a person would have drawn beforehand."""
    from PIL import Image, ImageDraw

    paths = []
    for number in range(4):
        caption = Image.new("RGB", (480, 40))
        ImageDraw.Draw(caption).text((10, 10), f"step {number * 1000}")
        paths.append(root / f"caption-{number}.png")
        caption.save(paths[-1])
    return paths


# Memory.


def measure_memory(root: Path, frames: int = 1000) -> dict[str, Any]:
    """Return the most that the command and its encoder took."""
    lay_out_run(root, 9, frames, "1280x720")
    figures: dict[str, Any] = {layout: peak(root, layout) for layout in ("grid", "film")}
    return {**figures, "target": TARGET_MB, "reached": all(item["largest_mb"] < TARGET_MB for item in figures.values())}


def peak(root: Path, layout: str) -> dict[str, int]:
    """Make one montage and return the largest resident set of any of its processes, and of this one's child alone."""
    words = ["montage", "7f3a", "--layout", layout, "--num-videos", "9", *STILL, "-o", str(root / f"{layout}.mp4")]
    code = (
        "import resource, sys\nfrom workbench.cli import main\n"
        f"code = main(['--project', {str(root)!r}, *{words!r}])\n"
        "own, children = (resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, "
        "resource.RUSAGE_CHILDREN))\n"
        "print(own, children)\nsys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=os.environ)
    own, encoder = (int(text) for text in done.stdout.split()[-2:])
    return {"command_mb": own, "encoder_mb": encoder, "largest_mb": max(own, encoder)}


if __name__ == "__main__":
    sys.exit(main())
