"""`evaluations.npz`, as the `EvalCallback` of Stable-Baselines3 writes it: steps, and the returns of each evaluation.

The file is written over in place, so a reader may meet half of it: that is "not yet".
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.runs.foreign.following import StartedOverError
from workbench.runs.foreign.rows import Facts, Row

LARGEST = 256 * 2**20
"""Bytes that it may unfold to."""


class EvaluationsSource:
    """The evaluations in an `evaluations.npz`.

    Args:
        path: The file; it need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._told: list[int] = []
        self._has_warned = False

    @property
    def facts(self) -> Facts:
        """It says nothing beside the evaluations."""
        return Facts()

    def rows(self) -> Iterator[Row]:
        """Yield the evaluations since the last time.

        Raises:
            StartedOverError: Those that were read before are not there any more.
        """
        try:
            status = self._path.stat()
        except OSError:
            return
        seen = (status.st_ino, status.st_size, status.st_mtime_ns)
        if seen == self._seen:
            return
        try:
            found = read_evaluations(self._path)
        except ValueError as error:
            self._seen = seen
            if not self._has_warned:
                self._has_warned = True
                yield Row(self._told[-1] if self._told else 0, {}, warning=f"{self._path.name} was not read: {error}")
            return
        if found is None:
            return
        self._seen = seen
        steps = [count for count, _ in found]
        if steps[: len(self._told)] != self._told:
            raise StartedOverError(str(self._path))
        for count, scores in found[len(self._told) :]:
            yield Row(count, {}, scores=scores)
        self._told = steps


def read_evaluations(path: Path) -> list[tuple[int, dict[str, Any]]] | None:
    """Return the step and the scores of each evaluation; None where the file is not whole.

    Raises:
        ValueError: It holds something other than numbers, or too much of them; nothing of it was unpickled.
    """
    import numpy as np

    try:
        with zipfile.ZipFile(path) as archive:
            if sum(item.file_size for item in archive.infolist()) > LARGEST:
                raise ValueError("it is too large")
        with np.load(path, allow_pickle=False) as arrays:
            steps = np.asarray(arrays["timesteps"], np.float64).ravel()
            returns = np.asarray(arrays["results"], np.float64)
            lengths = np.asarray(arrays["ep_lengths"], np.float64) if "ep_lengths" in arrays else None
    except (OSError, EOFError, KeyError, zipfile.BadZipFile):
        return None
    except ValueError as error:
        raise ValueError("it holds pickled objects" if "pickle" in str(error).lower() else str(error)) from error
    found = []
    for index in range(min(len(steps), len(returns))):
        if not math.isfinite(steps[index]):
            continue
        scored = returns[index].ravel()
        length = None if lengths is None or index >= len(lengths) else float(lengths[index].mean())
        scores = {
            "mean_return": float(scored.mean()) if len(scored) else None,
            "std_return": float(scored.std()) if len(scored) else None,
            "mean_length": length,
            "returns": scored.tolist(),
        }
        found.append((int(steps[index]), scores))
    return found
