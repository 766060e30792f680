"""Puts the shipped catalogue under the package in a wheel, so that no top-level `envs` enters site-packages.

An editable install reads it where it lies, beside the package.
"""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CatalogueHook(BuildHookInterface):
    """Adds `envs/`, `recipes/` and `assets/` as folders of the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the folders, unless the build is an editable one."""
        if version == "standard":
            build_data["force_include"] |= {name: f"workbench/{name}" for name in ("envs", "recipes", "assets")}
