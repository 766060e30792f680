"""Numbers and failures as a person reads them in a log."""

from __future__ import annotations

import errno
import math

from workbench.errors import WorkbenchError


def grouped(number: float) -> str:
    """Return a number with its thousands apart: `9 142 272`, `1 402`, `12.5`, `0.0031`."""
    if not math.isfinite(number):
        return str(number)
    if number == int(number) or abs(number) >= 1000:
        return f"{round(number):,}".replace(",", " ")
    return f"{number:.4g}"


def in_one_sentence(error: BaseException) -> str:
    """Return what went wrong as one line, for the reason of a failed run."""
    if isinstance(error, WorkbenchError):
        return " ".join(str(error).split())
    lines = str(error).strip().splitlines()
    if isinstance(error, MemoryError) or _is_torch_out_of_memory(error):
        # Where NumPy or torch raised it, the message tells for what.
        return f"there is not enough memory: {lines[0]}" if lines else "there is not enough memory"
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full: {error.filename}" if error.filename else "the disk is full"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _is_torch_out_of_memory(error: BaseException) -> bool:
    """Return whether torch could not get memory, which it says in words alone where it is the CPU's."""
    said = str(error)
    return isinstance(error, RuntimeError) and ("can't allocate memory" in said or "out of memory" in said)
