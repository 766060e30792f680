"""What the bits of a run depend on besides its spec: versions of libraries, the processor, and how that multiplies."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from workbench.runs.record import LIBRARIES
from workbench.training import blas


def circumstances() -> dict[str, str]:
    """Return what they depend on, as it is now."""
    found = {"python": platform.python_version(), "processor": _processor(), "matrix kernels": blas.kernels()}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def differences(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return what has changed, one phrase for each: `torch 2.10.0 is now 2.11.0`."""
    return [
        f"{name} {then.get(name, 'none')} is now {now.get(name, 'none')}"
        for name in dict.fromkeys([*then, *now])
        if then.get(name) != now.get(name)
    ]


def _processor() -> str:
    with suppress(OSError, UnicodeDecodeError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
