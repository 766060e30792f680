"""What every test may rely on: no home directory, no network, a project of its own."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from workbench.project import CACHE_VARIABLE, PROJECT_VARIABLE, Project

# Before any numeric library is loaded: one thread each, so that parallel tests do not fight for two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MUJOCO_GL", "egl")

# A shell lets what it runs in the background ignore Ctrl-C, and children inherit that; ours are to hear it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of environment descriptions shared by one test process."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def away_from_home(tmp_path: Path, shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every test out of the home directory and of the user's own project."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(CACHE_VARIABLE, str(shared_cache))
    monkeypatch.delenv(PROJECT_VARIABLE, raising=False)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project."""
    root = tmp_path / "project"
    root.mkdir()
    return Project(root)
