"""Which folder we work in, and where its parts are.

A project is a folder with any of `envs/`, `recipes/`, `assets/`, `runs/`, `recordings/`. The shipped catalogue is
always there beside the project's own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from workbench.errors import RequestError

PROJECT_VARIABLE = "WORKBENCH_PROJECT"
CACHE_VARIABLE = "WORKBENCH_CACHE"


@dataclass(frozen=True)
class Project:
    """A folder with environments, recipes, runs and recordings; its parts need not exist yet."""

    root: Path

    @property
    def envs(self) -> Path:
        """Environment modules and their variants."""
        return self.root / "envs"

    @property
    def recipes(self) -> Path:
        """Training recipes."""
        return self.root / "recipes"

    @property
    def assets(self) -> Path:
        """MJCF models and meshes."""
        return self.root / "assets"

    @property
    def runs(self) -> Path:
        """Run directories, one folder an algorithm."""
        return self.root / "runs"

    @property
    def recordings(self) -> Path:
        """Films, stills, montages and reports, each with a sidecar that says how it was made."""
        return self.root / "recordings"


def open_project(folder: str | Path | None = None) -> Project:
    """Return the project in `folder`, else in `$WORKBENCH_PROJECT`, else in the current folder.

    Raises:
        RequestError: The folder does not exist, or its name is empty.
    """
    if folder == "":
        # An unset variable in a script, and not a wish for the current folder.
        raise RequestError("--project names no folder.", hint="Leave it out for the current folder.")
    chosen = Path(folder or os.environ.get(PROJECT_VARIABLE) or Path.cwd()).expanduser()
    if not chosen.is_dir():
        raise RequestError(f"there is no folder {chosen}.", hint="Make it, or name another with --project.")
    return Project(chosen.resolve())


def shipped_project() -> Project:
    """Return the catalogue that came with workbench: beside the package in a checkout, inside it in a wheel."""
    package = Path(__file__).resolve().parent
    return Project(package if (package / "envs").is_dir() else package.parent)


def cache_folder() -> Path:
    """Return where descriptions and pictures of environments are cached: `$WORKBENCH_CACHE`, else the user's cache."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("workbench"))
