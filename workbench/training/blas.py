"""The library below NumPy's matrix products: its threads and its kernels."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

import numpy as np


@functools.cache
def _openblas() -> ctypes.CDLL | None:
    """Return the OpenBLAS that came with NumPy, or None where its products are another library's."""
    package = Path(np.__file__).parent
    for path in (*package.with_name("numpy.libs").glob("*openblas64*"), *package.glob(".dylibs/*openblas64*")):
        library = ctypes.CDLL(str(path))
        if hasattr(library, "scipy_openblas_set_num_threads64_"):
            library.scipy_openblas_get_corename64_.restype = ctypes.c_char_p
            return library
    return None


def threads() -> int | None:
    """Return how many threads a product may use, or None where nobody knows."""
    library = _openblas()
    return None if library is None else int(library.scipy_openblas_get_num_threads64_())


def set_threads(count: int) -> None:
    """Let products use so many threads, where they can be told."""
    library = _openblas()
    if library is not None:
        library.scipy_openblas_set_num_threads64_(count)


def kernels() -> str:
    """Return whose kernels multiply: the name of a family of processors, or nothing where nobody knows."""
    library = _openblas()
    return "" if library is None else str(library.scipy_openblas_get_corename64_().decode())
