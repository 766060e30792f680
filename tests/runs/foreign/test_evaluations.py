"""`evaluations.npz`: as numpy wrote it, half-written, and with pickles in it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from workbench.runs.foreign.evaluations import EvaluationsSource
from workbench.runs.foreign.following import StartedOverError


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self._marker = marker

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self._marker}",)


def save(path: Path, steps: list[int], results: list[list[float]]) -> None:
    np.savez(path, timesteps=steps, results=results, ep_lengths=[[10] * len(row) for row in results])


def test_each_evaluation_comes_once_as_the_file_grows(tmp_path: Path) -> None:
    path = tmp_path / "evaluations.npz"
    source = EvaluationsSource(path)
    assert list(source.rows()) == []
    save(path, [100], [[1.0, 3.0]])
    [first] = source.rows()
    assert (first.steps, first.scores) == (
        100,
        {"mean_return": 2.0, "std_return": 1.0, "mean_length": 10.0, "returns": [1.0, 3.0]},
    )
    save(path, [100, 200], [[1.0, 3.0], [4.0, 4.0]])
    [second] = source.rows()
    assert (second.steps, second.scores["mean_return"] if second.scores else None) == (200, 4.0)
    assert list(source.rows()) == []


def test_half_a_file_is_not_yet(tmp_path: Path) -> None:
    path = tmp_path / "evaluations.npz"
    save(path, [100], [[1.0]])
    whole = path.read_bytes()
    source = EvaluationsSource(path)
    for end in range(0, len(whole), 97):
        path.write_bytes(whole[:end])
        assert list(source.rows()) == []
    path.write_bytes(whole)
    assert [row.steps for row in source.rows()] == [100]


def test_other_evaluations_than_before_start_over(tmp_path: Path) -> None:
    path = tmp_path / "evaluations.npz"
    save(path, [100, 200], [[1.0], [2.0]])
    source = EvaluationsSource(path)
    list(source.rows())
    save(path, [50], [[1.0]])
    with pytest.raises(StartedOverError):
        list(source.rows())


def test_pickled_arrays_are_told_and_not_read(tmp_path: Path) -> None:
    path, marker = tmp_path / "evaluations.npz", tmp_path / "marker"
    np.savez(path, timesteps=np.array([1]), results=np.array([Touch(marker)], dtype=object), ep_lengths=np.array([1]))
    source = EvaluationsSource(path)
    [row] = source.rows()
    assert row.warning == "evaluations.npz was not read: it holds pickled objects"
    assert row.scores is None
    assert list(source.rows()) == []
    assert not marker.exists()
    # The file would have made it.
    np.load(path, allow_pickle=True)["results"]
    assert marker.exists()
