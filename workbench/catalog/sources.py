"""Where catalogues lie: the project's folder, the one that came with workbench, and those of installed packages."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from workbench.catalog.names import Origin
from workbench.errors import Problem
from workbench.project import Project, shipped_project

ENTRY_POINT_GROUP = "workbench.envs"


@dataclass(frozen=True)
class Source:
    """One catalogue: a folder with environments, and folders with recipes and assets that go with it."""

    origin: Origin
    envs: Path
    recipes: Path
    assets: Path


def find_sources(project: Project) -> tuple[list[Source], list[Problem]]:
    """Return the catalogues that are there, each folder once, and what is wrong with those of packages.

    A checkout of workbench is project and shipped catalogue in one; it then counts as shipped.
    """
    shipped = shipped_project()
    sources = [Source("workbench", shipped.envs, shipped.recipes, shipped.assets)]
    if project.envs.resolve() != shipped.envs.resolve():
        sources.insert(0, Source("project", project.envs, project.recipes, project.assets))
    packaged, problems = _packaged()
    known = {source.envs.resolve() for source in sources}
    for source in packaged:
        if source.envs.resolve() not in known:
            known.add(source.envs.resolve())
            sources.append(source)
    return sources, problems


def _packaged() -> tuple[list[Source], list[Problem]]:
    """Find the folders that packages name, without importing them."""
    sources: list[Source] = []
    problems: list[Problem] = []
    for point in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP):
        folder = _folder_of(point.value)
        if folder is None:
            problems.append(
                Problem(
                    f"entry point {point.name}",
                    f"of group {ENTRY_POINT_GROUP} names {point.value}, which has no folder",
                )
            )
        else:
            home = folder.parent if "." in point.value and not (folder / "recipes").is_dir() else folder
            sources.append(Source("package", folder, home / "recipes", home / "assets"))
    return sources, problems


def _folder_of(value: str) -> Path | None:
    """Return the folder of a dotted package name: only the top-level name is looked up, nothing is imported."""
    top, *rest = value.partition(":")[0].strip().split(".")
    try:
        found = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if found is None:
        return None
    for location in found.submodule_search_locations or ():
        folder = Path(location, *rest)
        if folder.is_dir():
            return folder
        if folder.with_suffix(".py").is_file():
            return folder.parent
    return Path(found.origin).parent if found.origin and not rest else None
