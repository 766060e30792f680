"""What is known before a process starts to train in vain, without loading what trains.

The trainer refuses the same, and more; here nothing is waited for that a second of looking can tell.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from workbench.errors import Problem

if TYPE_CHECKING:
    from workbench.catalog.entries import Entry
    from workbench.specs import RunSpec


def obstacles(entry: Entry, spec: RunSpec) -> list[Problem]:
    """Return what keeps an environment from being trained like this on this machine, as far as it is known."""
    found = (_wrong_actions(entry, spec), _absent_device(spec))
    return [problem for problem in found if problem is not None]


def _wrong_actions(entry: Entry, spec: RunSpec) -> Problem | None:
    """Ask the description, where there is one already: making one takes as long as the trainer takes to say no."""
    if spec.algorithm == "ppo":
        return None
    from workbench.catalog.descriptions import read_description

    told = read_description(entry)
    if told is None or told.action is None or told.action.kind == "Box":
        return None
    theirs = f"those of {entry.name} are {told.action.kind}"
    return Problem("algorithm", f"is {spec.algorithm}, which needs continuous actions, and {theirs}; use ppo")


def _absent_device(spec: RunSpec) -> Problem | None:
    kind = spec.device.partition(":")[0]
    if kind == "mps" and sys.platform != "darwin":
        return Problem("device", "is mps, which only a Mac has; use auto, cpu or cuda")
    if kind == "cuda" and _torch_build() == "cpu":
        return Problem(
            "device", f"is {spec.device}, and the torch installed here is built without CUDA; use auto or cpu"
        )
    return None


def _torch_build() -> str:
    """Return what torch's version says of its build: `cpu`, `cu126`; empty where it says nothing."""
    try:
        return version("torch").partition("+")[2]
    except PackageNotFoundError:
        return ""
