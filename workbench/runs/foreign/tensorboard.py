"""TensorBoard's event files: scalars by tag and step, and the table of hyperparameters that CleanRL writes as text.

Uses the message classes that come with `tensorboard`, which bring neither TensorFlow nor torch.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from workbench.runs.foreign.names import SCORE, SCORE_LENGTH, our_name
from workbench.runs.foreign.rows import EPISODE_LENGTH, EPISODE_RETURN, EpisodeWindow, Facts, Row
from workbench.runs.foreign.tfrecord import RecordTail

HYPERPARAMETERS = "hyperparameters/text_summary"
_FLOAT, _DOUBLE = 1, 2
"""Data types of a tensor, `tensorflow/core/framework/types.proto`."""
_NAMED = {
    "seed": "seed",
    "total_timesteps": "total_steps",
    "num_envs": "n_envs",
}


class TensorBoardSource:
    """The scalars of the event files in one folder, file after file; what is told of one step is one row.

    Args:
        paths: The files, oldest first.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._tails = [RecordTail(path) for path in paths]
        self._told: set[Path] = set()
        self._window = EpisodeWindow()
        self._episodes = 0
        self._began = 0.0
        self._settings: dict[str, Any] = {}
        self.has_episodes = False

    @property
    def facts(self) -> Facts:
        """What the table of hyperparameters says, and when the first event was written."""
        told = self._settings
        whole = {ours: _whole(told.get(theirs)) for theirs, ours in _NAMED.items()}
        return Facts(
            env_id=str(told.get("env_id") or ""),
            seed=whole["seed"],
            total_steps=whole["total_steps"] or 0,
            n_envs=whole["n_envs"],
            settings={name: value for name, value in told.items() if name != "env_id" and name not in _NAMED},
            began=self._began,
        )

    def rows(self) -> Iterator[Row]:
        """Yield what was written since the last time.

        Raises:
            StartedOverError: A file is another one.
        """
        for tail in self._tails:
            yield from self._rows_of(tail)

    def _rows_of(self, tail: RecordTail) -> Iterator[Row]:
        row: Row | None = None
        for step, time, tag, value in self._scalars(tail):
            if row is None or row.steps != step or tag in row.values:
                if row is not None:
                    yield self._finished(row)
                row = Row(step, {}, time, time - self._began)
            row.values[tag] = value if math.isfinite(value) else None
        if row is not None:
            yield self._finished(row)
        if tail.damaged_at is not None and tail.path not in self._told:
            self._told.add(tail.path)
            warning = f"{tail.path.name} is damaged from byte {tail.damaged_at} on; what follows was not read"
            yield Row(0 if row is None else row.steps, {}, warning=warning)

    def _scalars(self, tail: RecordTail) -> Iterator[tuple[int, float, str, float]]:
        from tensorboard.compat.proto import event_pb2

        for data in tail.records():
            try:
                event = event_pb2.Event.FromString(data)
            except Exception:
                # Its checksum is right, so a writer of another kind put it there: no scalar that we know.
                continue
            if not math.isfinite(event.wall_time):
                continue
            self._began = self._began or event.wall_time
            for value in event.summary.value:
                if value.tag == HYPERPARAMETERS:
                    self._settings = _table(value.tensor.string_val)
                    continue
                number = _scalar(value)
                if number is not None:
                    yield int(event.step), event.wall_time, value.tag, number

    def _finished(self, row: Row) -> Row:
        score, length = row.values.pop(SCORE, None), row.values.pop(SCORE_LENGTH, None)
        if score is not None:
            row.scores = {"mean_return": score, "mean_length": length}
        row.values = {our_name(tag): value for tag, value in row.values.items()}
        if EPISODE_RETURN in row.values or EPISODE_LENGTH in row.values:
            self._episodes += EPISODE_RETURN in row.values
            row.values |= self._window.means(row.values)
        if self._episodes:
            row.episodes = self._episodes
        return row


def _scalar(value: Any) -> float | None:
    """Return the number of a summary value, as the old writers and the new ones put it; None where it is none."""
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return float(value.simple_value)
    if kind != "tensor" or value.tensor.tensor_shape.dim:
        return None
    tensor = value.tensor
    if tensor.dtype == _FLOAT:
        if tensor.float_val:
            return float(tensor.float_val[0])
        return struct.unpack("<f", tensor.tensor_content)[0] if len(tensor.tensor_content) == 4 else None
    if tensor.dtype == _DOUBLE:
        if tensor.double_val:
            return float(tensor.double_val[0])
        return struct.unpack("<d", tensor.tensor_content)[0] if len(tensor.tensor_content) == 8 else None
    return None


def _table(texts: Sequence[bytes]) -> dict[str, Any]:
    """Return the rows `|param|value|` of a table in Markdown as plain data."""
    found: dict[str, Any] = {}
    for line in b"".join(texts[:1]).decode(errors="replace").splitlines()[2:]:
        name, bar, value = line.strip().strip("|").partition("|")
        if bar and name:
            found[name] = _plain(value)
    return found


def _plain(text: str) -> Any:
    words = {"True": True, "False": False, "None": None}
    if text in words:
        return words[text]
    for read in (int, float):
        try:
            value = read(text)
        except (ValueError, OverflowError):
            continue
        return value if math.isfinite(value) else text
    return text


def _whole(value: Any) -> int | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number else None
