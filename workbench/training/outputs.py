"""Where metrics go: the event stream and a CSV file, as writers that Stable-Baselines3's logger drives."""

from __future__ import annotations

import csv
import io
import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from stable_baselines3.common.logger import KVWriter, TensorBoardOutputFormat
from tensorboard.compat.proto.summary_pb2 import Summary
from torch.utils.tensorboard import SummaryWriter

from workbench import durable
from workbench.runs import EventWriter


class EventOutput(KVWriter):
    """Appends one `metrics` event for each row.

    Args:
        writer: The event stream.
        context: Gives what else the event carries: wall time, episodes, iteration.
    """

    def __init__(self, writer: EventWriter, context: Callable[[], Mapping[str, Any]]) -> None:
        self._writer = writer
        self._context = context

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Append the numbers among the values."""
        self._writer.append("metrics", steps=step, **self._context(), values=_numbers(key_values))

    def close(self) -> None:
        """Leave the stream open: whoever made it closes it."""


class CsvOutput(KVWriter):
    """Appends one line for each row to `progress.csv`; a new column rewrites the file, whole.

    Args:
        path: The file; one that is there is continued.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("a+", newline="", encoding="utf-8") as file:
            file.seek(0)
            self._columns: list[str] = next(csv.reader(file), [])

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Append the numbers among the values."""
        row = _numbers(key_values)
        new = sorted(row.keys() - set(self._columns))
        if new:
            self._columns += new
            self._rewrite()
        with self._path.open("a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, self._columns, restval="").writerow(row)

    def close(self) -> None:
        """Do nothing: the file is closed after every line."""

    def _rewrite(self) -> None:
        with self._path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        durable.write_text(self._path, _as_csv(self._columns, rows))


class TensorBoardOutput(TensorBoardOutputFormat):
    """Writes what TensorBoard shows.

    Args:
        folder: Where its files are.
        purge_step: From this step on, TensorBoard forgets what was written before.
    """

    def __init__(self, folder: Path, purge_step: int = 0) -> None:
        self.writer = SummaryWriter(str(folder), purge_step=purge_step)
        self._is_closed = False

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Write the numbers among the values as one record: a record for each would take several times as long."""
        shown = {name: value for name, value in key_values.items() if "tensorboard" not in (key_excluded[name] or ())}
        row = _numbers(shown)
        values = [Summary.Value(tag=name, simple_value=value) for name, value in row.items()]
        self.add_summary(Summary(value=values), step)
        rest = shown.keys() - row.keys()
        # It flushes too.
        super().write({name: shown[name] for name in rest}, {name: key_excluded[name] for name in rest}, step)

    def add_summary(self, summary: Summary, step: int) -> None:
        """Write a record that is put together already."""
        assert self.writer.file_writer is not None, "SummaryWriter has one until it is closed"
        self.writer.file_writer.add_summary(summary, step)


def rewrite_progress(path: Path, rows: Iterable[Mapping[str, float | None]]) -> None:
    """Replace `progress.csv` by these rows of metrics, as if `CsvOutput` had written just them.

    Args:
        path: The file.
        rows: As the event stream has them: a number that was not finite is None.
    """
    told = [{name: math.nan if value is None else value for name, value in row.items()} for row in rows]
    columns: list[str] = []
    for row in told:
        columns += sorted(row.keys() - set(columns))
    if columns:
        durable.write_text(path, _as_csv(columns, told))
    else:
        path.unlink(missing_ok=True)


def _as_csv(columns: list[str], rows: Iterable[Mapping[str, Any]]) -> str:
    content = io.StringIO(newline="")
    writer = csv.DictWriter(content, columns, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return content.getvalue()


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    return {
        name: value.item() if hasattr(value, "item") else value
        for name, value in values.items()
        if isinstance(value, numbers.Real) or (hasattr(value, "item") and getattr(value, "size", 0) == 1)
    }
