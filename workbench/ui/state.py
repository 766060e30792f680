"""What the app remembers of a project between two starts: cursors, filters, the theme.

A file in the cache folder, one a project. It may be lost or damaged without harm: then nothing is remembered.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import Any

from workbench import durable
from workbench.project import Project, cache_folder


class Remembered:
    """Plain values by place and name, written when the app closes.

    Args:
        path: The file they live in.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        content = durable.read_json(path)
        self._values: dict[str, dict[str, Any]] = {}
        if isinstance(content, dict):
            self._values = {str(key): value for key, value in content.items() if isinstance(value, dict)}

    @classmethod
    def of(cls, project: Project) -> Remembered:
        """Return what is remembered of a project."""
        digest = hashlib.sha256(str(project.root).encode()).hexdigest()[:16]
        return cls(cache_folder() / "app" / f"{digest}.json")

    def text(self, place: str, name: str, default: str = "") -> str:
        """Return a remembered text; one of another type counts as forgotten."""
        value = self._values.get(place, {}).get(name)
        return value if isinstance(value, str) else default

    def flag(self, place: str, name: str, *, default: bool) -> bool:
        """Return a remembered yes or no."""
        value = self._values.get(place, {}).get(name)
        return value if isinstance(value, bool) else default

    def number(self, place: str, name: str) -> float | None:
        """Return a remembered number, or nothing."""
        value = self._values.get(place, {}).get(name)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def keep(self, place: str, name: str, value: str | int | float | bool | list[str]) -> None:
        """Remember a value."""
        self._values.setdefault(place, {})[name] = value

    def texts(self, place: str, name: str) -> list[str]:
        """Return a remembered list of texts."""
        value = self._values.get(place, {}).get(name)
        return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []

    def save(self) -> None:
        """Write the file; a folder that cannot be written is no reason to stop anyone from quitting."""
        with contextlib.suppress(OSError):
            durable.write_json(self._path, self._values)
