"""Measures the preview in the terminal, and what watching a run costs its training.

    python benchmarks/preview.py preview [--size 80x24] [--seconds 10] [--env ant] [--write]
    python benchmarks/preview.py following [--rounds 6] [--seconds 10] [--env ant] [--write]

`preview` plays an environment in the app's own preview, on a terminal of that size that reads everything, and counts
the frames drawn and the processor time of both sides. `following` trains, and turns a viewer that follows the newest
checkpoint on and off by turns in that one run; it compares the steps a second of neighbouring stretches. `--write`
puts the figures into `viewer.md`; nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import pty
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from sections import VIEWER, VIEWER_TITLE, machine, replace_section

FPS = 60
"""Asked for, so that the figure is what is possible."""

TARGET_FPS = 25.0
TARGET_COST = 0.01


def main() -> int:
    """Measure, print a JSON document, and return 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("preview", "following", "_draw"))
    parser.add_argument("--size", default="80x24")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--env", default="ant")
    parser.add_argument("--write", action="store_true", help="put the figures into viewer.md")
    parser.add_argument("--to", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.what == "_draw":
        draw(asked.env, asked.seconds, asked.to)
        return 0
    if asked.what == "preview":
        figures = measure_preview(asked.env, asked.size, asked.seconds)
        reached = figures["fps"] >= TARGET_FPS
        heading, text = "Preview in the terminal", told_of_preview(figures)
    else:
        figures = measure_following(asked.env, asked.rounds, asked.seconds)
        reached = figures["cost"] < TARGET_COST
        heading, text = "Following a run that trains", told_of_following(figures)
    print(json.dumps(figures, indent=2))
    if asked.write:
        again = f"`python benchmarks/preview.py {asked.what} --write` measures it again."
        replace_section(VIEWER, heading, f"{text} {machine()}.\n\n{again}", title=VIEWER_TITLE)
    return 0 if reached else 1


def told_of_preview(figures: dict[str, Any]) -> str:
    """Return the figures in words."""
    return (
        f"`{figures['env']}` in the app's own preview on a terminal of {figures['size']} that reads everything: "
        f"**{figures['fps']:.1f} frames a second** of the {TARGET_FPS:.0f} asked for. The processor's time is "
        f"{figures['app_cpu_ms_per_frame']:.1f} ms a frame of the app's and {figures['viewer_cpu_ms_per_frame']:.1f} "
        f"of the viewer's; the terminal reads {figures['kB_per_s']:.0f} kB a second."
    )


def told_of_following(figures: dict[str, Any]) -> str:
    """Return the figures in words."""
    costs = ", ".join(f"{100 * cost:+.1f}" for cost in figures["costs"])
    return (
        f"PPO on `{figures['env']}` at {figures['steps_per_s_alone']} steps a second, with and without a viewer that "
        f"follows its newest checkpoint at 30 frames a second, by turns in the one run: watching takes "
        f"**{100 * figures['cost']:.1f} %** of the steps a second, the median of the pairs ({costs}); less than "
        f"{100 * TARGET_COST:.0f} % is asked for."
    )


# The preview, on a terminal of its own.


def measure_preview(env: str, size: str, seconds: float) -> dict[str, Any]:
    """Draw previews on a pseudo-terminal that reads everything, and return what was counted."""
    columns, rows = (int(part) for part in size.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "figures.json"
        mine, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        words = [sys.executable, __file__, "_draw", "--env", env, "--seconds", str(seconds), "--to", str(answer)]
        surroundings = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        app = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=surroundings)
        os.close(theirs)
        written = [0]
        reader = threading.Thread(target=_swallow, args=(mine, written), daemon=True)
        reader.start()
        app.wait()
        reader.join(2)
        figures: dict[str, Any] = json.loads(answer.read_text())
    return {
        "env": env,
        "size": size,
        **figures,
        "kB_per_s": round(written[0] / 1000 / seconds, 1),
        "target_fps": TARGET_FPS,
    }


def _swallow(terminal: int, written: list[int]) -> None:
    try:
        while piece := os.read(terminal, 1 << 16):
            written[0] += len(piece)
    except OSError:  # The other end is closed.
        return


def draw(env: str, seconds: float, to: Path) -> None:
    """Show previews for so long, and write what was counted."""
    from textual.app import App, ComposeResult

    from workbench.project import open_project
    from workbench.remote.frames import Frame
    from workbench.remote.lines import encode_command
    from workbench.ui.graphics.choosing import Way
    from workbench.ui.viewer_link import ProcessPlayer
    from workbench.ui.widgets.preview import Preview

    class Drawing(App[None]):
        """Nothing but a preview."""

        picture_way = Way("halfblocks")

        def compose(self) -> ComposeResult:
            yield Preview()

        def on_mount(self) -> None:
            self.run_worker(self.measure())

        def heard(self, event: str, values: Any) -> None:
            if event == "error":
                raise SystemExit(values["message"])

        def framed(self, frame: Frame) -> None:
            self.query_one(Preview).show(frame)

        def ended(self, code: int, tail: tuple[str, ...]) -> None:
            pass

        async def measure(self) -> None:
            preview = self.query_one(Preview)
            player = ProcessPlayer(open_project(None), ["play", env, "--agent", "sweep"], self, window=False)
            while min(preview.pixels) == 0:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            width, height = preview.pixels
            # An environment that acts 20 times a second has no more pictures in real time.
            player.send(encode_command("speed", value=8))
            player.send(encode_command("preview", width=width, height=height, fps=FPS))
            while preview.drawn < 5:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            assert player.pid is not None
            before = _moment(player.pid), preview.drawn
            await asyncio.sleep(seconds)
            (wall, own, child), drawn = _moment(player.pid), preview.drawn - before[1]
            wall, own, child = wall - before[0][0], own - before[0][1], child - before[0][2]
            self.figures = {
                "fps": round(drawn / wall, 1),
                "app_cpu_ms_per_frame": round(1000 * own / drawn, 2),
                "viewer_cpu_ms_per_frame": round(1000 * child / drawn, 2),
            }
            player.end()
            self.exit()

    app = Drawing()
    app.run()
    to.write_text(json.dumps(app.figures))


def _moment(child: int) -> tuple[float, float, float]:
    """Return wall time and the processor time of this process and of another, in seconds."""
    import psutil

    times = psutil.Process(child).cpu_times()
    return time.perf_counter(), time.process_time(), times.user + times.system


# Following a run.


def measure_following(env: str, rounds: int, seconds: float) -> dict[str, Any]:
    """Train, watch every other stretch, and return how many steps a second each kind had."""
    from workbench.runs import RunDirectory
    from workbench.runs.directory import run_directories

    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "workbench", "--project", folder]
        train = subprocess.Popen(
            [*words, "train", env, "--algorithm", "ppo", "--max-steps", "1000000000", "--checkpoint-freq", "5"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            run = _wait_for(
                lambda: next((item for item in run_directories(Path(folder) / "runs") if item.latest()), None)
            )
            time.sleep(seconds)
            pairs = []
            for number in range(rounds):
                # Which kind is first changes by turns: a machine that warms up favours neither.
                speeds = {
                    kind: _stretch(words, run, seconds, watched=kind) for kind in (number % 2 == 0, number % 2 == 1)
                }
                pairs.append((speeds[False], speeds[True]))
        finally:
            subprocess.run([*words, "stop", RunDirectory(run.path).short_id], check=False, stdout=subprocess.DEVNULL)
            train.wait()
    costs = [1 - watched / alone for alone, watched in pairs]
    return {
        "env": env,
        "cost": round(statistics.median(costs), 4),
        "costs": [round(cost, 4) for cost in costs],
        "steps_per_s_alone": round(statistics.median(alone for alone, _ in pairs)),
        "target_cost": TARGET_COST,
    }


def _stretch(words: list[str], run: Any, seconds: float, *, watched: bool) -> float:
    """Return the steps a second of a stretch, with or without a viewer that follows."""
    viewer = None
    reader, writer = os.pipe()
    if watched:
        command = [sys.executable, "-m", "workbench.viewer", *words[3:], str(run.path), "--no-window"]
        viewer = subprocess.Popen(
            [*command, "--frames-fd", str(writer)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[writer],
        )
        assert viewer.stdin is not None
        for order in ({"do": "follow", "on": True}, {"do": "preview", "width": 46, "height": 36, "fps": 30}):
            viewer.stdin.write(json.dumps(order).encode() + b"\n")
        viewer.stdin.flush()
        threading.Thread(target=_swallow, args=(reader, [0]), daemon=True).start()
        # Opening it is over before the stretch begins.
        time.sleep(4)
    os.close(writer)
    speed = _speed(run, seconds)
    if viewer is not None:
        assert viewer.stdin is not None
        viewer.stdin.close()
        viewer.wait()
    return speed


def _speed(run: Any, seconds: float) -> float:
    """Return the steps a second of the iterations that ended within a stretch."""
    from workbench.runs import History

    history = History(run)
    history.refresh()
    before = {name: len(series.steps) for name, series in history.series.items()}
    time.sleep(seconds)
    history.refresh()
    name = next(iter(before))
    new = slice(before[name], None)
    steps, wall = history.series[name].steps[new], history.series[name].wall_s[new]
    if len(steps) < 3:
        raise SystemExit(
            "fewer than three iterations ended within a stretch: give more --seconds, or the run has ended"
        )
    return float((steps[-1] - steps[0]) / (wall[-1] - wall[0]))


def _wait_for(found: Any) -> Any:
    end = time.monotonic() + 120
    while time.monotonic() < end:
        thing = found()
        if thing is not None:
            return thing
        time.sleep(0.1)
    raise SystemExit("the run has not begun after two minutes")


if __name__ == "__main__":
    sys.exit(main())
