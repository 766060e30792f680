"""Projects made of a few files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from workbench.catalog import Catalog, Entry, discover
from workbench.project import Project

MODULE = '''"""A task."""
from dataclasses import dataclass

raise RuntimeError("a browser must not import me")


@dataclass(frozen=True)
class Gains:
    stiffness: float = 1.0


@dataclass(frozen=True)
class CrawlerEnvConfig:
    mass: float = 1.0
    use_gravity: bool = True
    gains: Gains = Gains()


class CrawlerEnv(BatchEnv[CrawlerEnvConfig]):
    """Crawls along.

    More of it.
    """
'''

Make = Callable[[Mapping[str, Any]], Project]


@pytest.fixture
def make(project: Project) -> Make:
    """Write files into the project: texts as they are, anything else as JSON."""

    def write(files: Mapping[str, Any]) -> Project:
        for name, content in files.items():
            path = project.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
        return project

    return write


def own(catalog: Catalog) -> list[Entry]:
    """The entries of the project itself, without those that come with workbench."""
    return [entry for entry in (*catalog.entries, *catalog.test_only) if entry.origin == "project"]


def found(make: Make, files: Mapping[str, Any]) -> Catalog:
    """What is discovered in a project with these files."""
    return discover(make(files))


def inside(catalog: Catalog, root: Path) -> dict[str, str]:
    """The files below `root` that were not taken, and why."""
    rows = (*catalog.ignored, *catalog.orphans)
    return {str(row.path.relative_to(root)): row.reason for row in rows if row.path.is_relative_to(root)}
