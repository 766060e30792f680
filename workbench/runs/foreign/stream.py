"""The event stream of a mirror: rows of several sources, by step, as our own runs write theirs."""

from __future__ import annotations

import heapq
import json
import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from workbench.runs.foreign.rows import Row, Source

_BLOCK_BYTES = 2**20
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False)
_MOST_STEPS = 2**53


class MirrorStream:
    """Appends what sources yield to an event stream.

    Args:
        path: The stream.
        sources: Where rows come from.
        began: When the run began, unix seconds, for rows that come without a time before one that has one.
        has_scores: Whether a source of its own has the evaluations, so that those among metrics are the same again.
    """

    def __init__(self, path: Path, sources: Sequence[Source], *, began: float, has_scores: bool) -> None:
        self.path = path
        self.steps = 0
        """The greatest step so far."""
        self._sources = sources
        self._time = began
        self._has_scores = has_scores
        self._episodes: int | None = None

    def extend(self) -> bool:
        """Append what is new and return whether anything was.

        Raises:
            StartedOverError: What was appended before no longer holds.
            OSError: The stream cannot be written.
        """
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o644)
        is_new = False
        try:
            for block in self._blocks():
                is_new = True
                while block:
                    block = block[os.write(handle, block) :]
        finally:
            os.close(handle)
        return is_new

    def _blocks(self) -> Iterator[bytes]:
        """Yield whole lines in parts that are worth a write."""
        lines: list[str] = []
        size = 0
        for row in heapq.merge(*(source.rows() for source in self._sources), key=lambda row: row.steps):
            for event in self._events(row):
                line = _ENCODER.encode(event)
                lines.append(line)
                size += len(line)
            if size >= _BLOCK_BYTES:
                yield _encoded(lines)
                lines, size = [], 0
        if lines:
            yield _encoded(lines)

    def _events(self, row: Row) -> Iterator[dict[str, Any]]:
        if not 0 <= row.steps < _MOST_STEPS:
            return
        self.steps = max(self.steps, row.steps)
        if row.time is not None and math.isfinite(row.time):
            self._time = row.time
        head: dict[str, Any] = {"time": round(self._time, 3), "steps": row.steps}
        if row.warning:
            yield {"kind": "anomaly", **head, "what": "damaged_file", "message": row.warning}
        if row.values:
            event: dict[str, Any] = {"kind": "metrics", **head}
            self._episodes = self._episodes if row.episodes is None else row.episodes
            if row.iteration is not None:
                event["iteration"] = row.iteration
            if row.wall_s is not None and math.isfinite(row.wall_s):
                event["wall_s"] = round(row.wall_s, 3)
            if self._episodes is not None:
                event["episodes"] = self._episodes
            event["values"] = row.values
            broken = sum(value is None for value in row.values.values())
            if broken:
                event["not_finite"] = broken
            yield event
        if row.scores is not None and ("returns" in row.scores or not self._has_scores):
            scores = {name: value for name, value in row.scores.items() if _is_finite(value)}
            yield {"kind": "evaluation", **head, **scores, "taken": row.steps}


def _encoded(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode(errors="backslashreplace")


def _is_finite(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(math.isfinite, value))
    return value is not None and math.isfinite(value)
