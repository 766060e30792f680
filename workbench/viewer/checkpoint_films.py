"""Films of a run's checkpoints, made beside the training: `python -m workbench.viewer.checkpoint_films`.

The process reads a request a line and answers with a line when the films of that checkpoint are made. When its stdin
ends, so has the training: it makes what was still asked for, puts clips that nobody fetched into TensorBoard itself,
and ends. A checkpoint gets `video_000.mp4` and so on, each with its sidecar, and `video_labels.json`, whole or not at
all; one that was deleted meanwhile stays deleted.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.durable import parse_json
from workbench.errors import GraphicsError, WorkbenchError, WorkFailedError
from workbench.policies.scoring import NICE, THREADS
from workbench.runs import EventTail, EventWriter, RunDirectory, film_events
from workbench.storyboard.checkpoint_films import LABELS_NAME, Clip, FilmOrder, film_name

MOST_FRAMES = 300
LONGEST_SIDE = 480
"""What of a film TensorBoard gets: every other frame and pixel, or fewer, where it has more."""

_END_BYTES = 2**18
"""How much of the end of a stream is looked at for what the training may just have written."""

UNLIMITED_S = 120.0
"""Simulated seconds after which an episode is cut that the environment itself does not cut."""


def film_checkpoint(order: FilmOrder, clips: Path) -> list[Clip]:
    """Film the episodes of a checkpoint, greedily, into its folder.

    Args:
        order: What is filmed.
        clips: The folder that clips for TensorBoard are put into.

    Returns:
        The clips, where some are wanted.

    Raises:
        FileNotFoundError: The checkpoint was deleted.
        GraphicsError: Nothing can be drawn here.
        WorkbenchError: Something else went wrong with the policy, the environment or the film.
        OSError: Something cannot be written.
    """
    from workbench.policies import read_record

    record = read_record(order.checkpoint)
    run = RunDirectory(order.checkpoint.parent)
    aside = Path(tempfile.mkdtemp(prefix=".films-", dir=order.checkpoint.parent))
    try:
        films = _film(order, aside, run.name)
        made = [_clip(film, index, order, clips) for index, film in enumerate(films)] if order.has_clips else []
        _write_labels(aside / LABELS_NAME, iteration=record.iteration, steps=record.steps)
        # Sidecars first: who finds a film finds how it was made.
        for path in sorted(aside.iterdir(), key=lambda path: path.suffix == ".mp4"):
            path.replace(order.checkpoint / path.name)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return made


def _film(order: FilmOrder, folder: Path, run: str) -> list[Path]:
    from workbench.runs.recordings import Sidecar, write_sidecar
    from workbench.viewer.film import open_film
    from workbench.viewer.look import theme_named
    from workbench.viewer.options import PRESETS
    from workbench.viewer.recorder import Filming, FrameClock, frame_rate, record
    from workbench.viewer.session import control_period, has_mujoco_model, longest_episode
    from workbench.viewer.target import target_of

    target = target_of(order.checkpoint)
    session = target.open(seed=order.seed, stochastic=False)
    made = []
    with contextlib.ExitStack() as stack:
        stack.callback(session.env.close)
        control_hz = 1 / control_period(session.env)
        clock = FrameClock(control_hz, frame_rate(control_hz, order.fps))
        cut = None if longest_episode(session.env) else math.ceil(UNLIMITED_S * control_hz)
        session.begin(0)
        source = _source(session.env, PRESETS["draft"].size, PRESETS["draft"].samples, theme_named("light"))
        stack.callback(source.close)
        for index in range(order.episodes):
            path = folder / film_name(index)
            with open_film(path, source.format, clock.fps) as film:
                recorded = record(session, [Filming(source, film, clock)], numbers=[index], last_step=cut)
            seed = order.seed + index
            words = ["workbench", "record", f"{run}:{order.steps}", "--seed", str(seed)]
            # An environment that renders itself has a size of its own.
            words += ["--preset", "draft"] if has_mujoco_model(session.env) else []
            sidecar = Sidecar(
                command=(*words, *(() if order.fps is None else ("--fps", f"{order.fps:g}"))),
                checkpoint=str(order.checkpoint),
                environment=target.source.env_id,
                seed=seed,
                episodes=tuple(recorded.episodes),
                size=source.format.size,
                fps=round(clock.fps, 3),
                frames=film.frames,
                duration_s=round(film.frames / clock.fps, 3),
                theme="light",
                created=time.time(),
            )
            write_sidecar(path, sidecar)
            made.append(path)
    return made


def _source(env: Any, size: tuple[int, int], samples: int, theme: Any) -> Any:
    from workbench.viewer.frames import MujocoFrames, RenderedFrames
    from workbench.viewer.session import has_mujoco_model

    return MujocoFrames(env, size=size, samples=samples, theme=theme) if has_mujoco_model(env) else RenderedFrames(env)


def _write_labels(path: Path, *, iteration: Any, steps: Any) -> None:
    """Write what a montage puts under a film, in the words of RLlib; not at all where it is not known."""
    from workbench import durable

    labels = {"training_iteration": iteration, "num_env_steps_sampled_lifetime": steps}
    if all(isinstance(value, int | float) and math.isfinite(value) for value in labels.values()):
        durable.write_json(path, labels)


def _clip(film: Path, index: int, order: FilmOrder, folder: Path) -> Clip:
    """Make a GIF that TensorBoard shows at once: not too many frames, not too large, as long as the film."""
    import imageio_ffmpeg

    from workbench.runs.recordings import read_sidecar

    sidecar = read_sidecar(film)
    assert sidecar is not None and sidecar.size is not None and sidecar.frames and sidecar.fps
    stride, size = clip_shape(sidecar.frames, sidecar.size)
    path = folder / f"{order.checkpoint.name}_{index}.gif"
    filters = (
        f"select=not(mod(n\\,{stride})),setpts=N*{stride}/{sidecar.fps}/TB,scale={size[0]}:{size[1]}:flags=area,"
        # Dithering moves with every frame and would triple the file.
        "split[a][b];[a]trim=end_frame=50,palettegen[p];[b][p]paletteuse=dither=none"
    )
    words = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "error", "-i", str(film), "-vf", filters]
    words += ["-fps_mode", "vfr", "-loop", "0", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise WorkFailedError(f"the clip for TensorBoard could not be made: {done.stderr.strip()[-200:]}")
    return Clip(path, index, size)


def clip_shape(frames: int, size: tuple[int, int]) -> tuple[int, tuple[int, int]]:
    """Return which frame of how many a clip takes, and its width and height."""
    shrink = max(1.0, max(size) / LONGEST_SIDE)
    width, height = (max(1, round(side / shrink)) for side in size)
    return max(1, math.ceil(frames / MOST_FRAMES)), (width, height)


def answer(order: FilmOrder, clips: Path) -> dict[str, Any]:
    """Film a checkpoint and return what came of it: `ok`, `gone`, `no_graphics`, `reason`, `files` and `clips`."""
    told: dict[str, Any] = {"checkpoint": str(order.checkpoint), "ok": False, "reason": ""}
    if not order.checkpoint.is_dir():
        return {**told, "gone": True}
    try:
        made = film_checkpoint(order, clips)
    except GraphicsError as error:
        return {**told, "no_graphics": True, "reason": " ".join(str(error).split())}
    except WorkbenchError as error:
        is_there = order.checkpoint.is_dir()
        return {**told, "gone": not is_there, "reason": " ".join(str(error).split()) if is_there else ""}
    except Exception as error:
        if not order.checkpoint.is_dir():
            return {**told, "gone": True}
        traceback.print_exc()
        return {**told, "reason": f"{type(error).__name__}: {error}"}
    files = [film_name(index) for index in range(order.episodes)]
    return {**told, "ok": True, "files": files, "clips": [clip.to_json() for clip in made]}


def main() -> int:
    """Film until stdin ends and everything that was asked for is made."""
    for name, value in THREADS.items():
        os.environ.setdefault(name, value)
    with contextlib.suppress(OSError):
        os.nice(NICE)
    # Ctrl-C in a terminal reaches this process too; it is for whoever started it to act on.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What an environment prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    orders: queue.SimpleQueue[FilmOrder | None] = queue.SimpleQueue()
    is_alone = threading.Event()
    began = time.time()
    threading.Thread(target=_listen, args=(orders, is_alone), daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="workbench-clips-") as folder:
        made: list[tuple[Path, int, dict[str, Any]]] = []
        while (order := orders.get()) is not None:
            told = answer(order, Path(folder))
            made.append((order.checkpoint.parent, order.steps, told))
            with contextlib.suppress(OSError, ValueError):
                # Nobody may listen any more.
                answers.write(json.dumps(told) + "\n")
                answers.flush()
            if told.get("no_graphics"):
                event = {"failure": told["reason"]}
                _say(film_events.failure_in_words(event))
                # Its events are the training's to write for as long as that lives and listens.
                while orders.get() is not None:
                    pass
                leave_event(RunDirectory(order.checkpoint.parent), event, began)
                break
            if told["reason"]:
                _say(f"{order.checkpoint.name} could not be filmed: {told['reason']}")
            if is_alone.is_set() and not (order.checkpoint.parent / "run.json").is_file():
                break
        _put_in_tensorboard(made)
    # The references that Polyscope's library counts at the end of an interpreter are of no use to anyone.
    os._exit(0)


def _say(text: str) -> None:
    """Add a line to the run's log, which stderr is."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stderr.flush()


def leave_event(run: RunDirectory, event: dict[str, str], since: float) -> None:
    """Tell a run's stream that nothing is filmed, where the training ended before it could.

    Args:
        run: The run.
        event: What is told.
        since: When this process began to film, unix seconds; what was told before is of another one.
    """
    newest = [parse_json(line) for line in EventTail(run.events_path).end(_END_BYTES)]
    films = [told for told in newest if isinstance(told, dict) and told.get("kind") == film_events.KIND]
    if not run.is_run() or any(film_events.keeps_all(told) and float(told.get("time") or 0) >= since for told in films):
        return
    steps = max((told["steps"] for told in newest if isinstance(told, dict) and "steps" in told), default=0)
    with contextlib.suppress(OSError), EventWriter(run.events_path) as writer:
        writer.append(film_events.KIND, steps=steps, **event)


def _put_in_tensorboard(made: list[tuple[Path, int, dict[str, Any]]]) -> None:
    """Put the clips that the training did not fetch into an event file of this process."""
    clips = [(run, steps, Clip.from_json(clip)) for run, steps, told in made for clip in told.get("clips", ())]
    left = [(run, steps, clip) for run, steps, clip in clips if clip.path.exists() and (run / "run.json").is_file()]
    if left:
        # One process films for one run.
        with _event_file(left[0][0]) as add_summary:
            for _, steps, clip in left:
                clip.put(add_summary, steps)


@contextlib.contextmanager
def _event_file(run: Path) -> Iterator[Any]:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(run))
    try:
        yield lambda summary, steps: writer.add_event(Event(wall_time=time.time(), step=steps, summary=summary))
    finally:
        writer.close()


def _listen(orders: queue.SimpleQueue[FilmOrder | None], is_alone: threading.Event) -> None:
    for line in sys.stdin:
        orders.put(FilmOrder.read(line))
    is_alone.set()
    orders.put(None)


if __name__ == "__main__":
    sys.exit(main())
