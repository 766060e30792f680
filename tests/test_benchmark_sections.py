"""The file that several measurements write their sections to."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def sections() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sections", ROOT / "benchmarks" / "sections.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_section_is_added_behind_and_replaced_in_place(sections: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "terminal.md"
    sections.replace_section(path, "Charts", "slow\n")
    sections.replace_section(path, "App", "first paint")
    sections.replace_section(path, "Charts", "fast\n\n### Below\n\nmore")
    assert path.read_text() == (
        "# The terminal app, measured\n\n## Charts\n\nfast\n\n### Below\n\nmore\n\n## App\n\nfirst paint\n"
    )


def test_a_table(sections: ModuleType) -> None:
    assert sections.table(["a", "b"], [[1, "x"]]) == "| a | b |\n| --- | --- |\n| 1 | x |"
