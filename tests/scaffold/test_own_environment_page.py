"""The page that takes a newcomer from a model to a policy, carried out as it stands."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "your-own-environment.md"
BLOCK = re.compile(r"^```(?P<kind>[\w-]+) ?(?P<file>\S*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_every_line_of_the_page_works(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    said = {}
    for kind, file, text in BLOCK.findall(PAGE.read_text("utf-8")):
        if kind == "sh":
            for line in text.splitlines():
                command = [sys.executable, "-m", *shlex.split(line)]
                done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
                assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
                said[line.split()[1]] = done.stdout + done.stderr
        elif kind == "xml":
            (tmp_path / file).write_text(text)
        else:
            module = tmp_path / file
            module.write_text(module.read_text() + "\n" + text)
    assert "0 errors" in said["check"]
    assert "0 fail" in said["preview"]
    assert (tmp_path / "arm.mp4").stat().st_size > 10_000
    assert (tmp_path / "arm_policy" / "verify.py").is_file()
    # Training must not unlearn what the arm does by itself, and must be sooner: every episode costs until it arrives.
    assert re.search(r"higher in (4[0-9]|50),", said["compare"]), said["compare"]
    rate = re.search(r"success\D*(\d+) of 50", said["evaluate"])
    assert rate is not None, said["evaluate"]
    assert int(rate[1]) >= 40
