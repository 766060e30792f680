"""Runs with checkpoints, clips and a recorder, none of them real, for everything that makes montages."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from workbench.montage.clips import Clip
from workbench.montage.ffmpeg import ffmpeg, probe
from workbench.runs import RunDirectory
from workbench.runs.recordings import EpisodeResult, Sidecar, write_sidecar
from workbench.storyboard.finding import Wanted
from workbench.storyboard.selection import FilmedRun, Shown, describe_run

ROOT = Path(__file__).parents[2]
RED, GREEN, BLUE, WHITE = "0xd03030", "0x30a040", "0x3050d0", "0xe8eaf0"
SIZE = (160, 120)


def make_clip(
    path: Path, *, seconds: float = 1.0, fps: float = 10, colour: str = WHITE, size: tuple[int, int] = SIZE
) -> Path:
    """Film a plain colour."""
    path.parent.mkdir(parents=True, exist_ok=True)
    source = f"color=c={colour}:size={size[0]}x{size[1]}:rate={fps}:duration={seconds}"
    words = [ffmpeg(), "-y", "-loglevel", "error", "-f", "lavfi", "-i", source]
    subprocess.run([*words, "-pix_fmt", "yuv420p", "-preset", "ultrafast", str(path)], check=True)
    return path


def make_run(
    runs_root: Path,
    steps: Sequence[int],
    *,
    name: str = "ant_20260101-120000_7f3a",
    algorithm: str = "PPO",
    seed: int | None = None,
) -> RunDirectory:
    """Lay out a run with checkpoints that hold no policy."""
    run = RunDirectory(runs_root / algorithm / name)
    run.path.mkdir(parents=True)
    spec = {"env_id": "workbench/Ant-v0", "eval_seed": 77, "seed": seed}
    run.spec_path.write_text(json.dumps({"format": 1, "spec": spec}))
    for place, count in enumerate(steps):
        checkpoint = run.path / f"checkpoint_{count:012d}"
        checkpoint.mkdir()
        (checkpoint / "policy.json").write_text(json.dumps({"iteration": place * 10, "steps": count}))
    return run


def shown_of(run: RunDirectory) -> list[Shown]:
    """Return all checkpoints of a run."""
    filmed: FilmedRun = describe_run(run)
    return [Shown(run=filmed, path=item.path, steps=item.steps, iteration=3) for item in run.checkpoints()]


def clip_of(shown: Shown, film: Path, *, value: float | None = None, reason: str | None = None) -> Clip:
    """Return a clip with the return it shows."""
    sidecar = Sidecar(checkpoint=str(shown.path), episodes=(EpisodeResult(return_=value, reason=reason),))
    return Clip(shown=shown, film=film, info=probe(film), sidecar=sidecar, made=False)


def film_checkpoint(shown_path: str, film: Path, wanted: Wanted, *, seconds: float, fps: float) -> None:
    """Do what `workbench record` does, with a plain colour."""
    make_clip(film, seconds=seconds, fps=fps, size=wanted.size)
    episode = EpisodeResult(return_=12.5, length=round(seconds * fps), reason="fell", seed=wanted.seed)
    sidecar = Sidecar(checkpoint=shown_path, seed=wanted.seed, size=wanted.size, theme=wanted.theme)
    write_sidecar(film, dataclasses.replace(sidecar, episodes=(episode,) * wanted.episodes))


def fake_recorder(*, seconds: float = 1.0, fps: float = 10) -> Callable[[Shown, Wanted, Path], list[str]]:
    """Return a recorder command that works, in a process of its own."""

    def words(shown: Shown, wanted: Wanted, film: Path) -> list[str]:
        task = f"Wanted({wanted.seed}, {wanted.size}, {wanted.theme!r}, {wanted.episodes})"
        lines = (
            "import sys",
            f"sys.path.insert(0, {str(ROOT)!r})",
            "from pathlib import Path",
            "from tests.montage.fakes import Wanted, film_checkpoint",
            f"film_checkpoint({str(shown.path)!r}, Path({str(film)!r}), {task}, seconds={seconds}, fps={fps})",
        )
        body = "\n".join(lines)
        return [sys.executable, "-c", body]

    return words


def scripted_recorder(body: str) -> Callable[[Shown, Wanted, Path], list[str]]:
    """Return a recorder command that runs a script, with the film's path in `FILM`."""
    return lambda _shown, _wanted, film: [sys.executable, "-c", f"FILM = {str(film)!r}\n{body}"]
