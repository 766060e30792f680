"""What a run has done so far, as values that never change again: curves, evaluations, checkpoints, events."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench import formatting
from workbench.runs.directory import CheckpointDirectory, RunDirectory
from workbench.runs.foreign.origin import policies_of
from workbench.runs.history import Evaluation, History

Floats = NDArray[np.float64]
_ALL_BUT = 0.98
"""So much of a stream is all of it: a live one grows while it is read."""


@dataclass(frozen=True, eq=False)
class Points:
    """One metric so far, `(n,)` each."""

    steps: Floats
    wall_s: Floats
    episodes: Floats
    values: Floats

    @property
    def last(self) -> float | None:
        """The newest finite value."""
        finite = self.values[np.isfinite(self.values)]
        return float(finite[-1]) if len(finite) else None


@dataclass(frozen=True)
class Past:
    """A run's history up to one moment; equal to another one that knows as much."""

    version: tuple[int, ...]
    """Grows with the history; what makes two of them differ."""
    series: Mapping[str, Points] = field(compare=False, default_factory=dict)
    evaluations: tuple[Evaluation, ...] = field(compare=False, default=())
    scores: tuple[Evaluation, ...] = field(compare=False, default=())
    """What was scored on request."""
    marks: tuple[Mapping[str, Any], ...] = field(compare=False, default=())
    """Events other than metrics, oldest first."""
    record: Mapping[str, Any] = field(compare=False, default_factory=dict)
    """`run.json`: what the run was asked to do."""
    steps: int = 0
    iteration: int = 0
    wall_s: float = 0.0
    episodes: int = 0
    share: float = field(compare=False, default=1.0)
    """How much of its stream was read, 0 to 1: a long one takes seconds."""
    kept: frozenset[int] | None = None
    """Steps of the checkpoints that are on disk; nothing where that was not looked at."""

    @property
    def reading(self) -> str:
        """How far its stream was read, where that is not to its end."""
        return f"reading, {formatting.percent(self.share)}" if self.share < _ALL_BUT else ""


@dataclass(frozen=True)
class CheckpointRow:
    """One checkpoint on disk."""

    steps: int
    path: Path
    kept: str
    """`best`, `latest`, `pinned`, or several; empty where it is just there."""
    evaluation: Evaluation | None
    """What the run claims of it; where it scored it never, the first score somebody asked for."""
    size_bytes: int
    written: float
    """Unix seconds."""
    rescored: Evaluation | None = None
    """Its newest score on other episodes than those it was chosen by."""
    videos: int = 0
    """Films that were made of it while it trained."""

    @property
    def sign(self) -> str:
        """How it stands under a chart and in a list."""
        return "◆" if "best" in self.kept else "*" if "pinned" in self.kept else "◇"


def version_of(history: History) -> tuple[int, ...]:
    """Return what is different once a history knows more."""
    return (
        sum(map(len, history.series.values())),
        len(history.marks),
        history.steps,
        len(history.resumes),
        len(history.evaluations),
    )


def take(history: History, record: Mapping[str, Any], kept: frozenset[int] | None = None) -> Past:
    """Return what a history knows now, and which checkpoints are kept; later growth leaves it as it is."""
    return Past(
        version_of(history),
        {name: Points(item.steps, item.wall_s, item.episodes, item.values) for name, item in history.series.items()},
        tuple(history.evaluations),
        tuple(history.scores),
        tuple(history.marks),
        record,
        history.steps,
        history.iteration,
        history.wall_s,
        history.episodes,
        history.share,
        kept,
    )


def kept_steps(run: RunDirectory) -> frozenset[int] | None:
    """Return the steps of a run's checkpoints on disk; nothing of another tool's, or where the folder is gone."""
    with contextlib.suppress(OSError):
        return None if run.is_foreign else run.kept_steps()
    return None


def read_checkpoints(run: RunDirectory, past: Past) -> tuple[CheckpointRow, ...]:
    """Return the checkpoints on disk, newest first; of another tool's run the policies that it saved by their steps."""
    if run.is_foreign:
        return _saved_policies(run, past)
    claimed = {evaluation.steps: evaluation for evaluation in past.evaluations}
    asked: dict[int, list[Evaluation]] = {}
    for evaluation in past.scores:
        asked.setdefault(evaluation.steps, []).append(evaluation)
    best, latest = run.best(), run.latest()
    pinned = set(run.annotations().pinned)
    rows = []
    for checkpoint in reversed(run.checkpoints()):
        kept = [
            word
            for word, holds in (
                ("best", best is not None and best.path == checkpoint.path),
                ("latest", latest is not None and latest.path == checkpoint.path),
                ("pinned", checkpoint.steps in pinned),
            )
            if holds
        ]
        size, written, videos = _measure(checkpoint)
        again = asked.get(checkpoint.steps, [])
        # What the run itself claims comes before what was asked for: its best one goes by that.
        first = claimed.get(checkpoint.steps) or next(iter(again), None)
        rescored = again[-1] if again and again[-1] is not first else None
        rows.append(
            CheckpointRow(checkpoint.steps, checkpoint.path, ", ".join(kept), first, size, written, rescored, videos)
        )
    return tuple(rows)


def _saved_policies(run: RunDirectory, past: Past) -> tuple[CheckpointRow, ...]:
    claimed = {evaluation.steps: evaluation for evaluation in past.evaluations}
    saved, rows = policies_of(run), []
    for steps, path in reversed(saved.by_steps):
        kept = [word for word, other in (("best", saved.best), ("latest", saved.latest)) if other == path]
        with contextlib.suppress(OSError):
            status = path.stat()
            rows.append(
                CheckpointRow(steps, path, ", ".join(kept), claimed.get(steps), status.st_size, status.st_mtime)
            )
    return tuple(rows)


def why_no_checkpoint(run: RunDirectory, *, is_ended: bool) -> str:
    """Return what stands in place of a list without checkpoints."""
    if not run.is_foreign:
        return "It has kept no checkpoint." if is_ended else "No checkpoint yet."
    saved = policies_of(run)
    names = [path.name for path in dict.fromkeys((saved.best, saved.latest)) if path is not None]
    if not names:
        return "Its tool has saved no policy."
    return f"Its tool has saved {' and '.join(names)}: v watches, V films."


def _measure(checkpoint: CheckpointDirectory) -> tuple[int, float, int]:
    """The size of a checkpoint's files, when the first of them was written, and how many films there are."""
    total, written, videos = 0, 0.0, 0
    with contextlib.suppress(OSError), os.scandir(checkpoint.path) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                total += status.st_size
                written = min(written or status.st_mtime, status.st_mtime)
                videos += entry.name.startswith("video_") and not entry.name.endswith(".json")
    return total, written, videos
