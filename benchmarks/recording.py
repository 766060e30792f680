"""Measures filming: beside the least that Polyscope and ffmpeg can do, and beside MuJoCo's own renderer.

    python benchmarks/recording.py [--env ant]… [--preset default]… [--frames 200] [--rounds 5] [--write]

Three processes film the same frames by turns: `record` as the verb does it, policy, simulation and all; a loop that
moves the same structures of Polyscope to places computed beforehand, takes the picture, and pipes it to ffmpeg; and
`mujoco.Renderer` with its default picture, which encodes nothing. Each is timed from its first frame to its last, the
end of the encoder included, and what it needs to start is left out. Neighbours are compared. `--write` puts the
figures into `viewer.md`; nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from sections import VIEWER, VIEWER_TITLE, machine, replace_section, table

TARGET_OF_BARE = 0.9
TARGET_OF_MUJOCO = 3.0
PRESETS = ("default", "draft")
"""The one that the targets are for, and the one for who is in a hurry."""
ENVIRONMENTS = ("half_cheetah", "ant", "Humanoid-v5")
WAYS = ("record", "bare", "mujoco")
HEADING = "Recording"


def main() -> int:
    """Measure, print a JSON document, and return 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", nargs="?", choices=[f"_{way}" for way in WAYS], help=argparse.SUPPRESS)
    parser.add_argument("--env", action="append", dest="envs", metavar="ENV")
    parser.add_argument("--preset", action="append", dest="presets", metavar="PRESET")
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="put the figures into viewer.md")
    asked = parser.parse_args()
    envs, presets = asked.envs or ENVIRONMENTS, asked.presets or PRESETS
    if asked.way is not None:
        film = {"_record": by_record, "_bare": by_hand, "_mujoco": by_mujoco}[asked.way]
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(film(envs[0], presets[0], asked.frames, Path(folder) / "film.mp4")))
        return 0
    figures = [measure(env, preset, asked.frames, asked.rounds) for preset in presets for env in envs]
    print(json.dumps(figures, indent=2))
    if asked.write:
        replace_section(VIEWER, HEADING, told(figures), title=VIEWER_TITLE)
    return 0 if all(figure["reached"] for figure in figures) else 1


def measure(env: str, preset: str, frames: int, rounds: int) -> dict[str, Any]:
    """Film one environment in all ways by turns, and return frames a second and what compares them."""
    spent: dict[str, list[Spent]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            words = [sys.executable, __file__, f"_{way}", "--env", env, "--preset", preset, "--frames", str(frames)]
            surroundings = os.environ | {"MUJOCO_GL": os.environ.get("MUJOCO_GL", "egl")}
            done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True, env=surroundings)
            wall, cpu = json.loads(done.stdout.splitlines()[-1])
            spent[way].append((wall, cpu))
    of = {
        (other, kind): statistics.median(
            theirs[kind] / ours[kind] for ours, theirs in zip(spent["record"], spent[other], strict=True)
        )
        for other in ("bare", "mujoco")
        for kind in (0, 1)
    }
    return {
        "env": env,
        "preset": preset,
        "frames": frames,
        "rounds": rounds,
        "fps": {way: round(statistics.median(frames / wall for wall, _ in times), 1) for way, times in spent.items()},
        "cpu_ms": {
            way: round(statistics.median(1000 * cpu / frames for _, cpu in times), 1) for way, times in spent.items()
        },
        "of_bare": round(of["bare", 0], 3),
        "of_bare_cpu": round(of["bare", 1], 3),
        "of_mujoco": round(of["mujoco", 0], 2),
        "of_mujoco_cpu": round(of["mujoco", 1], 2),
        "reached": of["bare", 0] >= TARGET_OF_BARE and of["mujoco", 0] >= TARGET_OF_MUJOCO,
    }


def told(figures: list[dict[str, Any]]) -> str:
    """Return the section of the file."""
    rows = [
        (
            figure["env"],
            f"{figure['preset']}, {figure['rounds']} rounds",
            *(f"{figure['fps'][way]:.1f} ({figure['cpu_ms'][way]:.0f})" for way in WAYS),
            f"{figure['of_bare']:.2f} × ({figure['of_bare_cpu']:.2f} ×)",
            f"{figure['of_mujoco']:.1f} × ({figure['of_mujoco_cpu']:.1f} ×)",
            "yes" if figure["reached"] else "NO",
        )
        for figure in figures
    ]
    head = ("environment", "preset", "`record`, fps", "bare, fps", "MuJoCo, fps", "of bare", "of MuJoCo", "reached")
    first = figures[0]
    return (
        "`record`, beside a loop of bare Polyscope frames into a bare ffmpeg, and beside `mujoco.Renderer` with its "
        "default picture of the same size, which encodes nothing. The preset `default` draws four pixels for each one "
        f"that is shown, `draft` one. {first['frames']} frames, medians of the rounds, by turns; at least "
        f"{TARGET_OF_BARE} × and {TARGET_OF_MUJOCO:.0f} × are asked for at `default`. In brackets the processor's "
        "time: ms a frame, and compared. "
        f"{machine()}.\n\n{table(head, rows)}\n\n`python benchmarks/recording.py --write` measures it again."
    )


Spent = tuple[float, float]
"""Seconds of the clock, and of all processors."""


class Stopwatch:
    """Counts both, those of processes that ended meanwhile included."""

    def __init__(self) -> None:
        self._begun = self._now()

    def read(self) -> Spent:
        """Return what went by."""
        wall, cpu = (now - then for now, then in zip(self._now(), self._begun, strict=True))
        return wall, cpu

    def _now(self) -> Spent:
        times = os.times()
        return time.perf_counter(), times.user + times.system + times.children_user + times.children_system


def open_session(env: str) -> Any:
    """Return a session of an agent that acts at random."""
    from workbench.project import open_project
    from workbench.viewer.target import find_target

    root = Path(__file__).resolve().parents[1]
    return find_target(open_project(root), env, agent="random").open(seed=0, stochastic=False)


def open_frames(env: Any, preset: str) -> Any:
    """Return what the verb draws with."""
    from workbench.viewer.frames import MujocoFrames
    from workbench.viewer.look import theme_named
    from workbench.viewer.options import PRESETS

    chosen = PRESETS[preset]  # type: ignore[index]
    return MujocoFrames(
        env, size=chosen.size, samples=chosen.samples, theme=theme_named("light"), sees_through=chosen.sees_through
    )


def by_record(env: str, preset: str, frames: int, path: Path) -> Spent:
    """Film as the verb does, and return the time it took."""
    from workbench.viewer.film import open_film
    from workbench.viewer.recorder import Filming, FrameClock, record

    session = open_session(env)
    session.begin(0)
    source = open_frames(session.env, preset)
    source.draw(0.0)
    watch = Stopwatch()
    with open_film(path, source.format, 30.0) as film:
        # A frame a step, whatever the control rate, so that all three ways show the same states.
        filming = Filming(source, film, FrameClock(30.0, 30.0))
        record(session, [filming], numbers=itertools.count(), should_stop=lambda: film.frames >= frames)
    spent = watch.read()
    source.close()
    return spent


def states(env: str, frames: int) -> tuple[Any, list[Any]]:
    """Return a session and the physical states that are filmed."""
    import mujoco
    import numpy as np

    session = open_session(env)
    model, kept = session.env.unwrapped.model, []
    which = int(mujoco.mjtState.mjSTATE_INTEGRATION)
    for number in itertools.count():
        session.begin(number)
        while True:
            kept.append(np.empty(mujoco.mj_stateSize(model, which)))
            mujoco.mj_getState(model, session.env.unwrapped.data, kept[-1], which)
            if len(kept) == frames:
                return session, kept
            if session.ended:
                break
            session.step()
    raise AssertionError


def posed(model: Any, kept: list[Any]) -> Any:
    """Yield an `MjData` in each of the states."""
    import mujoco

    data = mujoco.MjData(model)
    for state in kept:
        mujoco.mj_setState(model, data, state, int(mujoco.mjtState.mjSTATE_INTEGRATION))
        mujoco.mj_forward(model, data)
        yield data


def by_hand(env: str, preset: str, frames: int, path: Path) -> Spent:
    """Move, draw and encode with as few calls as there can be, and return the time it took."""
    import imageio_ffmpeg
    import numpy as np
    import polyscope as ps
    import polyscope_bindings as bindings

    session, kept = states(env, frames)
    session.env.reset(seed=0)
    source = open_frames(session.env, preset)
    source.draw(0.0)
    placed = []
    for data in posed(session.env.unwrapped.model, kept):
        source.restart()
        source.draw_state(data, 0.0)
        matrices = [np.asarray(structure.get_transform(), dtype=np.float32) for structure in source._scene._structures]
        placed.append((matrices, np.asarray(ps.get_camera_view_matrix()), np.asarray(ps.get_view_center())))
    bound = [structure.bound_instance for structure in source._scene._structures]
    options = bindings.ScreenshotOptions()
    options.include_UI, options.transparent_background = False, False
    width, height = source.format.size
    reading = ["-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{width}x{height}", "-r", "30", "-i", "-"]
    writing = ["-vf", "vflip", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "20", "-preset", "veryfast"]
    ffmpeg = imageio_ffmpeg.get_ffmpeg_exe()
    watch = Stopwatch()
    words = [ffmpeg, "-y", "-v", "error", *reading, *writing, "-movflags", "+faststart", str(path)]
    encoder = subprocess.Popen(words, stdin=subprocess.PIPE)
    assert encoder.stdin is not None
    for matrices, view, centre in placed:
        for structure, matrix in zip(bound, matrices, strict=True):
            structure.set_transform(matrix)
        ps.set_view_center_raw(centre)
        ps.set_camera_view_matrix(view)
        encoder.stdin.write(bindings.screenshot_to_buffer(options).data)
    encoder.stdin.close()
    encoder.wait()
    spent = watch.read()
    source.close()
    return spent


def by_mujoco(env: str, preset: str, frames: int, path: Path) -> Spent:
    """Draw with MuJoCo's own renderer, and return the time it took."""
    import mujoco

    from workbench.viewer.options import PRESETS

    session, kept = states(env, frames)
    model = session.env.unwrapped.model
    width, height = PRESETS[preset].size  # type: ignore[index]
    model.vis.global_.offwidth, model.vis.global_.offheight = max(width, 640), max(height, 480)
    renderer = mujoco.Renderer(model, height, width)
    data = next(posed(model, kept))
    renderer.update_scene(data)
    renderer.render()
    watch = Stopwatch()
    for state in kept:
        mujoco.mj_setState(model, data, state, int(mujoco.mjtState.mjSTATE_INTEGRATION))
        mujoco.mj_kinematics(model, data)
        renderer.update_scene(data)
        renderer.render()
    spent = watch.read()
    renderer.close()
    return spent


if __name__ == "__main__":
    sys.exit(main())
