"""Gymnasium's own IDs, which the description process lists: browsable and trainable beside ours."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from workbench.catalog.entries import Entry, IgnoredFile, gymnasium_entry, one_line
from workbench.catalog.names import NAMESPACE, gymnasium_id
from workbench.catalog.recipes import RecipeShelf
from workbench.durable import read_json
from workbench.project import cache_folder
from workbench.suggest import nearest_one


@dataclass(frozen=True)
class GymnasiumRegistry:
    """What Gymnasium can make here, by ID; empty and unknown until it was asked for once."""

    environments: Mapping[str, Mapping[str, Any]]
    known: bool = True
    """Whether the list was read, or has yet to be asked for."""

    @classmethod
    def cached(cls) -> GymnasiumRegistry:
        """Return the list as it was last written for the libraries installed now."""
        document = read_json(registry_path())
        if document is None:
            return cls({}, known=False)
        rows = document.get("environments", document) if isinstance(document, Mapping) else document
        if isinstance(rows, Mapping):
            rows = [{**row, "env_id": env_id} for env_id, row in rows.items() if isinstance(row, Mapping)]
        if not isinstance(rows, list):
            return cls({}, known=False)
        named = {str(row.get("env_id", row.get("id", ""))): row for row in rows if isinstance(row, Mapping)}
        ours = f"{NAMESPACE}/"
        return cls({env_id: row for env_id, row in named.items() if env_id and not env_id.startswith(ours)})

    def entry(self, env_id: str) -> Entry:
        """Return the entry of one of its IDs."""
        row = self.environments.get(env_id, {})
        return gymnasium_entry(env_id, str(row.get("entry_point") or ""))


def registry_path() -> Path:
    """Return where the list is cached: another file for other libraries, or other packages that register."""
    return cache_folder() / f"gymnasium-{_digest()}.json"


@cache
def _digest() -> str:
    points = importlib.metadata.entry_points(group="gymnasium.envs")
    versions = {name: library_version(name) for name in ("gymnasium", "mujoco", "ale-py", "gymnasium-robotics")}
    facts = [sys.version, versions, sorted((point.name, point.value) for point in points)]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


@cache
def library_version(name: str) -> str | None:
    """Return the version of an installed library, without importing it."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def gymnasium_entries(
    shelves: Sequence[RecipeShelf], registry: GymnasiumRegistry
) -> tuple[list[Entry], list[IgnoredFile]]:
    """Return the Gymnasium IDs that have a recipe, and the recipes of IDs that Gymnasium does not know."""
    entries: dict[str, Entry] = {}
    orphans: list[IgnoredFile] = []
    for shelf in shelves:
        for stem, recipe in shelf.gymnasium.items():
            env_id = gymnasium_id(stem)
            if registry.known and env_id not in registry.environments:
                near = nearest_one(env_id, registry.environments)
                orphans.append(IgnoredFile(recipe.path, f"belongs to no environment: Gymnasium has no {env_id}", near))
            elif env_id not in entries:
                row = registry.environments.get(env_id, {})
                point, problems = str(row.get("entry_point") or ""), recipe.problems
                entries[env_id] = gymnasium_entry(
                    env_id,
                    point,
                    recipe=recipe.path,
                    training=recipe,
                    problems=problems,
                    description=one_line(recipe.description),
                )
    return list(entries.values()), orphans


def rest_of_registry(registry: GymnasiumRegistry, listed: Iterable[Entry]) -> list[Entry]:
    """Return an entry for each Gymnasium ID that is not listed already."""
    known = {entry.env_id for entry in listed}
    return [registry.entry(env_id) for env_id in registry.environments if env_id not in known]
