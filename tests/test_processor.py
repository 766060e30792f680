"""What a numeric library is told of the processor before it is loaded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workbench import processor

FLAGS = "fpu sse2 avx2 avx512f avx512dq avx512cd avx512bw avx512vl avx512_bf16"


@pytest.mark.parametrize(
    ("vendor", "flags", "told"),
    [
        ("AuthenticAMD", FLAGS, "SkylakeX"),
        # MKL and OpenBLAS know Intel's own.
        ("GenuineIntel", FLAGS, None),
        # Zen 3 would meet an illegal instruction.
        ("AuthenticAMD", "fpu sse2 avx2", None),
        ("AuthenticAMD", FLAGS.replace(" avx512vl", ""), None),
    ],
)
def test_wide_vectors_are_used_where_there_are_some(
    vendor: str, flags: str, told: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = tmp_path / "cpuinfo"
    one = f"processor\t: 0\nvendor_id\t: {vendor}\nmodel name\t: A: Zen\nflags\t\t: {flags}\npower management:\n"
    described.write_text(f"{one}\n{one}")
    monkeypatch.setattr(processor, "_CPUINFO", described)
    monkeypatch.setattr(os, "environ", environment := {"PATH": "/bin"})
    processor.use_wide_vectors()
    assert environment.get(processor.CORE_VARIABLE) == told


def test_nothing_is_changed_that_was_chosen_or_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {processor.CORE_VARIABLE: "Haswell"})
    processor.use_wide_vectors()
    assert os.environ == {processor.CORE_VARIABLE: "Haswell"}
    monkeypatch.setattr(os, "environ", {})
    monkeypatch.setattr(processor, "_CPUINFO", tmp_path / "none")
    processor.use_wide_vectors()
    assert os.environ == {}
