"""`monitor.csv`, as the wrapper of Stable-Baselines3 writes it: a file for each copy, a row for each episode."""

from __future__ import annotations

import csv
import heapq
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.durable import parse_json
from workbench.runs.foreign.following import LineTail
from workbench.runs.foreign.names import number, our_name
from workbench.runs.foreign.rows import EpisodeWindow, Facts, Row

RETURN, LENGTH, TIME = "r", "l", "t"


class _File:
    """One copy's file: a line of JSON behind a `#`, the names of the columns, and episodes."""

    def __init__(self, path: Path) -> None:
        self._tail = LineTail(path)
        self._names: list[str] = []
        self.env_id = ""
        self.began = 0.0

    def episodes(self) -> Iterator[tuple[float, dict[str, float]]]:
        """Yield when each episode ended, unix seconds, and what its row says."""
        for line in self._tail.lines():
            if line.startswith(b"#"):
                self._read_header(line)
                continue
            try:
                cells = next(csv.reader([line.decode(errors="replace")]), [])
            except csv.Error:
                continue
            if not self._names or cells == self._names:
                self._names = cells
            elif len(cells) == len(self._names):
                found = {
                    name: value
                    for name, text in zip(self._names, cells, strict=True)
                    if name and (value := number(text)) is not None
                }
                length = found.get(LENGTH, math.nan)
                if RETURN in found and math.isfinite(length) and length >= 0:
                    yield self.began + found.get(TIME, 0.0), found

    def _read_header(self, line: bytes) -> None:
        header = parse_json(line.lstrip(b"#"))
        if not isinstance(header, dict):
            return
        env_id, began = header.get("env_id"), header.get("t_start")
        # The wrapper writes the word where an environment has no ID.
        self.env_id = env_id if isinstance(env_id, str) and env_id != "None" else ""
        self.began = float(began) if isinstance(began, int | float) else 0.0


class MonitorSource:
    """The episodes of all copies, by the time at which they ended; steps are the lengths so far, summed over copies.

    Args:
        paths: The files, one a copy.
        with_means: Tell the mean over the newest episodes too, where no other file does.
    """

    def __init__(self, paths: Sequence[Path], *, with_means: bool) -> None:
        self._files = [_File(path) for path in paths]
        self._window = EpisodeWindow() if with_means else None
        self._steps = 0
        self._episodes = 0

    @property
    def facts(self) -> Facts:
        """The environment, how many copies there are, and when the first began."""
        env_id = next((file.env_id for file in self._files if file.env_id), "")
        began = min((file.began for file in self._files if file.began), default=0.0)
        return Facts(env_id=env_id, n_envs=len(self._files), began=began)

    def rows(self) -> Iterator[Row]:
        """Yield the episodes that ended since the last time.

        Raises:
            StartedOverError: A file was written anew.
        """
        began = None
        for time, found in heapq.merge(*(file.episodes() for file in self._files), key=lambda item: item[0]):
            if began is None:
                began = self.facts.began
            self._steps += int(found[LENGTH])
            self._episodes += 1
            values: dict[str, float | None] = {
                _name(name): value if math.isfinite(value) else None for name, value in found.items() if name != TIME
            }
            if self._window is not None:
                values |= self._window.means(values)
            wall_s = time - began if TIME in found else None
            yield Row(self._steps, values, time if time else None, wall_s, self._episodes)


def _name(name: str) -> str:
    known = our_name(name)
    # What a person had added is about episodes too.
    return f"episode/{name}" if known == name and "/" not in name else known
