"""Packages add catalogues through an entry point, and are not imported for it."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest

from tests.catalog.conftest import MODULE
from workbench.catalog import discover
from workbench.project import Project


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed package whose import would fail, and whose entry point names its folder of environments."""
    site = tmp_path / "site"
    folder = site / "robots_of_others" / "tasks"
    folder.mkdir(parents=True)
    (site / "robots_of_others" / "__init__.py").write_text("raise RuntimeError('imported')")
    (folder / "crawler_env.py").write_text(MODULE)
    (folder / "crawler_env_heavy.json").write_text('{"env_cfg": {"mass": 2.0}}')
    recipes = site / "robots_of_others" / "recipes"
    recipes.mkdir()
    (recipes / "crawler_env.train.json").write_text('{"total_steps": 1000000}')
    monkeypatch.syspath_prepend(str(site))
    return folder


def name_it(monkeypatch: pytest.MonkeyPatch, *values: str) -> None:
    points = [importlib.metadata.EntryPoint(f"e{i}", value, "workbench.envs") for i, value in enumerate(values)]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points if group == "workbench.envs" else [])


def test_a_packages_environments_are_listed(package: Path, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    name_it(monkeypatch, "robots_of_others.tasks", "robots_of_others.tasks.crawler_env")
    entries = [entry for entry in discover(project).entries if entry.origin == "package"]
    assert [(entry.name, entry.trainable) for entry in entries] == [("crawler", True), ("crawler_heavy", False)]
    assert entries[0].module == package / "crawler_env.py"
    assert "robots_of_others" not in sys.modules


def test_a_package_without_that_folder_is_a_problem(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    name_it(monkeypatch, "no_such_package_at_all.envs")
    (problem,) = discover(project).problems
    assert "no_such_package_at_all.envs" in problem.message
