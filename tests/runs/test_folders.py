"""Run folders found again only where something came or went."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from workbench.runs import folders as module
from workbench.runs.folders import RunFolders


def make(root: Path, name: str) -> Path:
    path = root / "PPO" / name
    path.mkdir(parents=True)
    return path


def lie_still(folder: Path) -> None:
    """Let a folder have changed some minutes ago."""
    then = time.time() - 600
    os.utime(folder, (then, then))


def names(folders: RunFolders) -> set[str]:
    return {run.name for run in folders.runs()}


def test_a_folder_that_lies_still_is_not_listed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "ant_20261129-120000_00aa")
    lie_still(tmp_path / "PPO")
    folders = RunFolders(tmp_path)
    [first] = folders.runs()
    listed: list[Path] = []
    monkeypatch.setattr(module, "runs_in", lambda paths: listed.extend(paths) or ())
    assert folders.runs()[0] is first and not listed


def test_what_comes_and_goes_is_seen(tmp_path: Path) -> None:
    folders = RunFolders(tmp_path)
    assert not folders.runs()
    first = make(tmp_path, "ant_20261129-120000_00aa")
    lie_still(tmp_path / "PPO")
    assert names(folders) == {first.name}
    second = make(tmp_path, "ant_20261129-120000_00bb")
    assert names(folders) == {first.name, second.name}
    shutil.rmtree(first)
    assert names(folders) == {second.name}
    shutil.rmtree(tmp_path / "PPO")
    assert not folders.runs()


def test_a_folder_of_any_name_is_a_run_once_it_holds_one(tmp_path: Path) -> None:
    folders = RunFolders(tmp_path)
    path = make(tmp_path, "renamed")
    lie_still(tmp_path / "PPO")
    assert not folders.runs()
    (path / "run.json").write_text("{}")
    lie_still(tmp_path / "PPO")
    assert names(folders) == {"renamed"}


def test_mirrors_of_other_tools_are_runs_too(tmp_path: Path) -> None:
    make(tmp_path / ".foreign", "walker_20261129-120000_00cc")
    assert names(RunFolders(tmp_path)) == {"walker_20261129-120000_00cc"}
