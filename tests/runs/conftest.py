"""A folder of runs whose trainers are fakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.runs.fakes import with_fakes
from workbench.runs.directory import RunDirectory
from workbench.runs.launch import Launch, enqueue


@pytest.fixture
def runs_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    yield from with_fakes(tmp_path / "runs", monkeypatch)


@pytest.fixture
def queue(runs_root: Path) -> Callable[..., list[RunDirectory]]:
    def put(*launches: Launch) -> list[RunDirectory]:
        return enqueue(runs_root, launches)

    return put
