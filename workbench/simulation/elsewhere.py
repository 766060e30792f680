"""Environments of packages that Gymnasium does not find by itself: registered when first asked for, and mended.

Gymnasium-Robotics compares the joint types of a model with MuJoCo's enums by `in`, which numbers of NumPy fail since
MuJoCo 4.0: Fetch, the Shadow hand and the kitchen end in an AssertionError. The helpers that do so get plain numbers.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import warnings
from typing import Any

import gymnasium

PACKAGES = ("gymnasium_robotics",)
"""What registers its environments when it is imported, and only then."""

_HELPERS = "gymnasium_robotics.utils.mujoco_utils"


def register_elsewhere(env_id: str | None = None) -> None:
    """Register the environments of packages that are installed; a package that cannot be imported has none.

    Args:
        env_id: What is wanted; nothing is imported where it is there already.
    """
    if env_id is not None and (":" in env_id or env_id in gymnasium.registry):
        return
    for package in PACKAGES:
        if importlib.util.find_spec(package) is None:
            continue
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module(package)
            helpers = importlib.import_module(_HELPERS)
            helpers.mujoco = _WithPlainNumbers(helpers.mujoco)  # type: ignore[attr-defined]


class _WithPlainNumbers:
    """MuJoCo's module, its enums as plain numbers."""

    def __init__(self, module: Any) -> None:
        self._module = getattr(module, "_module", module)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        return _Numbers(found) if name.startswith("mjt") else found


class _Numbers:
    def __init__(self, enum: Any) -> None:
        self._enum = enum

    def __getattr__(self, name: str) -> int:
        return int(getattr(self._enum, name))
