"""What is known of a checkpoint that RLlib wrote: training iteration and steps.

Its folder counts checkpoints, so neither is in its name. `video_labels.json` beside its films tells both. Where that
is missing, the row of the trial's `result.json`, else `progress.csv`, that was written at the same time does: the time
of a checkpoint is that of a file inside it, for its folder changes whenever a film is put there.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.errors import NotFoundError, RequestError
from workbench.storyboard.checkpoint_films import LABELS_NAME

MARKS = ("rllib_checkpoint.json", "algorithm_state.pkl")
"""Files that RLlib writes into a checkpoint when it makes it."""
FARTHEST_S = 300.0
"""A row that was written longer before or after a checkpoint is not about it."""
ITERATION, STEPS, TIME = "training_iteration", "num_env_steps_sampled_lifetime", "timestamp"


@dataclass(frozen=True)
class TrialLabel:
    """How far training was at a checkpoint."""

    iteration: int
    steps: int
    note: str = ""
    """What was passed over to find it."""


def is_of_rllib(checkpoint: Path) -> bool:
    """Return whether RLlib wrote a checkpoint."""
    return any((checkpoint / name).is_file() for name in MARKS)


def read_label(checkpoint: Path) -> TrialLabel:
    """Return what is known of a checkpoint that RLlib wrote.

    Raises:
        NotFoundError: Nothing tells, or nothing that was written within five minutes of it.
        RequestError: A row of the trial's results holds no such number; names the file and the row.
    """
    path, note = checkpoint / LABELS_NAME, ""
    if path.is_file():
        label = _of_document(path)
        if label is not None:
            return label
        note = f"{path} cannot be read; the label is that of the results written at the same time."
    label = _nearest(checkpoint)
    return TrialLabel(label.iteration, label.steps, note)


def _of_document(path: Path) -> TrialLabel | None:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return TrialLabel(_whole(document[ITERATION]), _whole(document[STEPS]))
    except (OSError, ValueError, TypeError, LookupError):
        return None


def _nearest(checkpoint: Path) -> TrialLabel:
    trial = checkpoint.parent
    results = next((trial / name for name in ("result.json", "progress.csv") if (trial / name).is_file()), None)
    if results is None:
        raise NotFoundError(
            f"nothing tells how far training was at {checkpoint}: it has no {LABELS_NAME}, and {trial} neither "
            "result.json nor progress.csv.",
            hint=f"Put a {LABELS_NAME} with {ITERATION} and {STEPS} into it.",
        )
    written = next(path.stat().st_mtime for path in (checkpoint / name for name in MARKS) if path.is_file())
    best: tuple[float, TrialLabel] | None = None
    for number, row in _rows(results):
        try:
            away = abs(_number(row[TIME]) - written)
            label = TrialLabel(_whole(row[ITERATION]), _whole(row[STEPS]))
        except (ValueError, TypeError, LookupError) as error:
            said = f"no {error.args[0]}" if isinstance(error, KeyError) else f"what is no number: {error}"
            raise RequestError(f"{results}, row {number}, holds {said}.") from error
        if best is None or away < best[0]:
            best = away, label
    if best is None or best[0] > FARTHEST_S:
        how = "holds no row" if best is None else f"has no row closer than {best[0]:.0f} s"
        raise NotFoundError(
            f"{results} {how} to the time of {checkpoint}, so nothing tells how far training was.",
            hint=f"Film it again, which writes {LABELS_NAME}, or put one with {ITERATION} and {STEPS} there.",
        )
    return best[1]


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield each row with its number, counted from 1; a header has none."""
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            if path.suffix == ".csv":
                yield from enumerate(csv.DictReader(lines), start=1)
                return
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    row = json.loads(line)
                    if not isinstance(row, dict):
                        raise RequestError(f"{path}, row {number}, is no JSON object.")
                    yield number, row
    except json.JSONDecodeError as error:
        raise RequestError(f"{path}, row {number}, is no JSON: {error.msg}.") from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RequestError(f"{path} cannot be read: {error}.") from error


def _number(value: object) -> float:
    """Return a finite number.

    Raises:
        ValueError: It is none.
        TypeError: It is none, nor text of one.
    """
    if isinstance(value, bool):
        raise TypeError(str(value))
    number = float(value)  # type: ignore[arg-type]
    if not math.isfinite(number):
        raise ValueError(str(value))
    return number


def _whole(value: object) -> int:
    return int(_number(value))
