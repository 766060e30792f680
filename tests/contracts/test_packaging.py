"""What an installed workbench carries."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_a_wheel_carries_the_catalogue_under_the_package(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    shipped = [
        str(path.relative_to(REPOSITORY))
        for folder in ("envs", "recipes", "assets")
        for path in (REPOSITORY / folder).rglob("*")
        if path.suffix in {".py", ".json", ".xml"}
    ]
    assert shipped
    assert [name for name in shipped if f"workbench/{name}" not in names] == []
    assert {name.split("/")[0] for name in names if not name.startswith("workbench_rl-")} == {"workbench"}
