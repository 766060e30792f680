"""Clips of a run's checkpoints put together: a labelled film, a grid, a poster.

Clips are recordings: those that exist are used, those that are missing are made by the recorder in a process of its
own. Pictures are put together by ffmpeg's filters, labels drawn with Pillow. Imports no simulator, no torch, no
polyscope and no textual. The names below are loaded when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.montage.make import Montage, make_montage
    from workbench.montage.request import MontageRequest

_HOMES = {"Montage": "make", "MontageRequest": "request", "make_montage": "make"}

__all__ = ["Montage", "MontageRequest", "make_montage"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
