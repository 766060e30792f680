"""What machine this is, as figures need it to be read: its CPU, and how many of its cores are ours."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path
from typing import Any


def usable_cpus() -> int:
    """Return how many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def cpu_model() -> str:
    """Return what the CPU calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def this_machine() -> dict[str, Any]:
    """Return what `run.json` says of the machine a run was made on."""
    return {"cpu": cpu_model(), "cores": usable_cpus()}


def machine_text(record: dict[str, Any]) -> str:
    """Return the machine of a `run.json` in words; of earlier ones only the host's name is known."""
    told = record.get("machine")
    if isinstance(told, dict) and told.get("cpu"):
        return f"{told['cpu']}, {told.get('cores')} cores"
    host = record.get("host")
    return f"host {host}" if host else ""
