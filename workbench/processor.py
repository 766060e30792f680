"""What the processor can do that a numeric library does not find out by itself. Imports none of them."""

from __future__ import annotations

import os
from pathlib import Path

CORE_VARIABLE = "OPENBLAS_CORETYPE"
"""Read by OpenBLAS, which multiplies NumPy's matrices, when it is loaded: whose kernels to use."""

WIDE = frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})
"""What its kernels named after SkylakeX need."""

_CPUINFO = Path("/proc/cpuinfo")


def use_wide_vectors() -> None:
    """Let NumPy multiply matrices with 512-bit vectors on processors of AMD that have them, unless told otherwise.

    OpenBLAS 0.3.31 as NumPy ships it takes a Zen 5 for a Haswell. Its kernels for SkylakeX reach 220 GF/s a core
    there, those for Haswell 127, and MKL in torch, which uses 256 bits on AMD, 110. To be called before NumPy is
    loaded, in every process alike: the last bits of a product depend on the kernels.
    """
    if CORE_VARIABLE in os.environ:
        return
    try:
        described = _CPUINFO.read_text()
    except OSError:
        return
    fields = dict(line.split(":", 1) for line in described.split("\n\n", 1)[0].splitlines() if ":" in line)
    known = {name.strip(): value.split() for name, value in fields.items()}
    if known.get("vendor_id") == ["AuthenticAMD"] and set(known.get("flags", ())) >= WIDE:
        os.environ[CORE_VARIABLE] = "SkylakeX"
