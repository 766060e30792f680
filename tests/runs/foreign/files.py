"""Folders as other tools leave them, made with their own writers where these are at hand."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

HEADER = '#{"t_start": 1700000000.0, "env_id": "Hopper-v4"}\nr,l,t\n'


def write_monitor(path: Path, episodes: Sequence[tuple[float, int, float]], began: float = 1700000000.0) -> Path:
    """Write a monitor file: returns, lengths, and seconds since it began."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = "".join(f"{value},{length},{end}\n" for value, length, end in episodes)
    path.write_text(HEADER.replace("1700000000.0", str(began)) + rows)
    return path


def write_scalars(folder: Path, points: Sequence[tuple[str, float, int]], *, text: Mapping[str, object] = {}) -> Path:
    """Write TensorBoard's file with the writer that CleanRL uses."""
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(folder))
    if text:
        rows = "\n".join(f"|{key}|{value}|" for key, value in text.items())
        writer.add_text("hyperparameters", f"|param|value|\n|-|-|\n{rows}")
    for tag, value, step in points:
        writer.add_scalar(tag, value, step)
    writer.close()
    [path] = folder.glob("events.out.tfevents.*")
    return path


def write_zoo(
    logs: Path, *, algorithm: str = "ppo", env: str = "Hopper-v4", number: int = 1, seed: int = 7, steps: int = 1000
) -> Path:
    """Write a run folder of RL-Zoo, the settings with the tags that its YAML has."""
    folder = logs / algorithm / f"{env}_{number}"
    settings = folder / env
    settings.mkdir(parents=True)
    ordered = "!!python/object/apply:collections.OrderedDict\n"
    (settings / "config.yml").write_text(
        f"{ordered}- - - gamma\n    - 0.99\n  - - n_envs\n    - 2\n  - - n_timesteps\n    - {float(steps)}\n"
        "  - - normalize\n    - true\n  - - policy_kwargs\n    - dict(net_arch=[64])\n"
    )
    (settings / "args.yml").write_text(
        f"{ordered}- - - algo\n    - {algorithm}\n  - - env\n    - {env}\n  - - n_timesteps\n    - -1\n"
        f"  - - seed\n    - {seed}\n"
    )
    (folder / "command.txt").write_text(f"python train.py --algo {algorithm} --env {env} --seed {seed}\n")
    write_monitor(folder / "0.monitor.csv", [(10.0, 100, 1.0), (30.0, 100, 3.0)])
    write_monitor(folder / "1.monitor.csv", [(20.0, 100, 2.0)], began=1700000000.5)
    np.savez(
        folder / "evaluations.npz",
        timesteps=np.array([100, 200]),
        results=np.array([[1.0, 3.0], [5.0, 7.0]]),
        ep_lengths=np.array([[100, 100], [90, 110]]),
    )
    (folder / "best_model.zip").write_bytes(b"not opened")
    return folder


def age(folder: Path, seconds: float, now: float | None = None) -> None:
    """Make every file in a folder look as if it was last written so long ago."""
    moment = (time.time() if now is None else now) - seconds
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (moment, moment))


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    """Return every file below a folder with its size and when it was written."""
    return {
        str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
    }
