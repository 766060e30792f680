"""State recordings: every state of some episodes in one `.npz`, from which they are shown again without the policy.

Pure MuJoCo and NumPy. What such a file holds is written beside `FORMAT`.
"""

from __future__ import annotations

import json
import math
import tempfile
import zipfile
import zlib
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from workbench.errors import RequestError
from workbench.runs.recordings import EpisodeResult, part_path
from workbench.simulation.state_file import FIELDS, FORMAT, SUFFIX, model_digest, write_states
from workbench.viewer.session import Session

__all__ = ["FIELDS", "FORMAT", "SUFFIX", "StateLog", "StateRecording", "model_digest"]


class StateLog:
    """A state recording in the making; a context manager that finishes it, or leaves nothing after an error.

    States go to a file without a name as they come, so that their number is not bounded by memory.

    Args:
        path: Where it will be.
        session: What is recorded; not begun yet, for some environments change their model when they are reset.
        about: What else it should say: `environment`, the source, and who acted.
        period_s: Simulated seconds in a step.
    """

    def __init__(self, path: Path, session: Session, about: Mapping[str, Any], *, period_s: float) -> None:
        self._path = path
        model = session.env.unwrapped.model
        data = session.env.unwrapped.data
        self._shapes = {name: np.shape(getattr(data, name)) for name in FIELDS}
        self._about = {"format": FORMAT, **about, "model": model_digest(model), "period_s": period_s}
        self._episodes: list[EpisodeResult] = []
        self._current: EpisodeResult | None = None
        self._counts = {name: array("q") for name in ("episode", "step")}
        self._rewards: dict[str, array[float]] = {"reward": array("d")}
        path.parent.mkdir(parents=True, exist_ok=True)
        self._rows: IO[bytes] = tempfile.TemporaryFile(dir=path.parent)  # noqa: SIM115 (closed on leaving)

    @property
    def states(self) -> int:
        """States kept so far."""
        return len(self._counts["step"])

    def begin(self, session: Session) -> None:
        """Begin another episode."""
        self._close_episode()

    def see(self, session: Session) -> None:
        """Keep the state that the session is in."""
        data = session.env.unwrapped.data
        self._rows.write(np.concatenate([np.ravel(getattr(data, name)) for name in FIELDS]).tobytes())
        terms = {"reward": session.reward, **{f"reward_{name}": value for name, value in session.terms.items()}}
        for name in terms.keys() - self._rewards.keys():
            # A term that was not told before has no value there.
            self._rewards[name] = array("d", [math.nan]) * self.states
        for name, values in self._rewards.items():
            values.append(terms.get(name, math.nan) if session.steps else math.nan)
        self._counts["episode"].append(len(self._episodes))
        self._counts["step"].append(session.steps)
        self._current = session.so_far()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: Any) -> None:
        part = part_path(self._path)
        try:
            if raised[0] is None and self.states:
                self._close_episode()
                self._write(part)
                part.replace(self._path)
        finally:
            self._rows.close()
            part.unlink(missing_ok=True)

    def _close_episode(self) -> None:
        if self._current is not None:
            self._episodes.append(self._current)
            self._current = None

    def _write(self, part: Path) -> None:
        about = {**self._about, "episodes": [episode.to_json() for episode in self._episodes]}
        write_states(part, about, (*self._counts.items(), *self._rewards.items(), *self._columns()))

    def _columns(self) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """Yield each field of all states, mapped from the file."""
        self._rows.flush()
        width = sum(math.prod(shape) for shape in self._shapes.values())
        rows = np.memmap(self._rows, dtype=np.float64, mode="r", shape=(self.states, width))
        start = 0
        for name, shape in self._shapes.items():
            size = math.prod(shape)
            yield name, rows[:, start : start + size].reshape(self.states, *shape)
            start += size


@dataclass(frozen=True)
class StateRecording:
    """The states of some episodes, read back."""

    path: Path
    about: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    episodes: tuple[EpisodeResult, ...]
    starts: tuple[int, ...]
    """The row of each episode's reset state, and the number of rows."""

    @classmethod
    def read(cls, path: Path) -> StateRecording:
        """Read a file.

        Raises:
            RequestError: It is not there, or no state recording.
        """
        try:
            arrays = _load(path)
            about = _parse(arrays.pop("about"))
            if about["format"] != FORMAT:
                raise RequestError(f"{path} has format {about['format']}, and this version reads {FORMAT}.")
            if about.get("anomaly") and "qpos" not in arrays:
                raise RequestError(
                    f"{path} holds actions, observations and rewards: its environment has no MuJoCo model to show."
                )
            rows = len(arrays["step"])
            whole = all(len(values) == rows for values in arrays.values()) and all(name in arrays for name in FIELDS)
            episodes = tuple(EpisodeResult.from_json(item) for item in about["episodes"])
            starts = (*np.searchsorted(arrays["episode"], range(len(episodes))).tolist(), rows)
            if not whole or not episodes or any(end <= start for start, end in pairwise(starts)):
                raise ValueError("parts are missing")
            return cls(path, about, arrays, episodes, starts)
        except FileNotFoundError as error:
            raise RequestError(f"there is no file {path}.") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RequestError(
                f"{path} is no state recording: {_reason(error)}.",
                hint="`workbench record … --states FILE.npz` makes one.",
            ) from error

    def put(self, data: Any, row: int) -> None:
        """Put an `MjData` into the state of a row; what follows from it is for the caller to compute."""
        for name in FIELDS:
            value = self.arrays[name][row]
            if name == "time":
                data.time = float(value)
            else:
                getattr(data, name)[:] = value

    def terms(self, row: int) -> dict[str, float]:
        """Return the reward terms of a row by name; none for a reset state."""
        found = {
            name.removeprefix("reward_"): float(values[row])
            for name, values in self.arrays.items()
            if name.startswith("reward_")
        }
        return {name: value for name, value in found.items() if not math.isnan(value)}


def _load(path: Path) -> dict[str, NDArray[Any]]:
    """Read all arrays of an archive.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no such archive, in our words: NumPy's advise to run what the file says.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (ValueError, TypeError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError("it is no whole archive of NumPy arrays") from error


def _parse(text: NDArray[Any]) -> dict[str, Any]:
    """Read what a recording says of itself.

    Raises:
        ValueError: It is no such text.
    """
    try:
        about = json.loads(str(text))
    except ValueError as error:
        raise ValueError("what it says of itself cannot be read") from error
    if not isinstance(about, dict):
        raise ValueError("what it says of itself cannot be read")
    return about


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it holds no `{error.args[0]}`"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
