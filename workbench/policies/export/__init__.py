"""Policies carried away: a folder that runs without workbench, and that proves so before it is there.

`export(reference, "onnx")` writes the policy with its normaliser and its action map as one program, beside golden
vectors, a manifest with every fact known of it, and a script that checks the program against the vectors where it is
taken to. The names below are imported when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.policies.export.bundle import Exported, export
    from workbench.policies.export.formats import FORMATS, Format

_HOMES = {"FORMATS": "formats", "Exported": "bundle", "Format": "formats", "export": "bundle"}

__all__ = ["FORMATS", "Exported", "Format", "export"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"workbench.policies.export.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'workbench.policies.export' has no attribute {name!r}")
