"""What verbs write reaches every stream: terminals of one byte a sign, pipes, readers of JSON."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest

from workbench.verbs.run_text import for_stream
from workbench.verbs.writing import accept_any_text, write_json


def written(text: str, encoding: str) -> bytes:
    buffer = io.BytesIO()
    stream = io.TextIOWrapper(buffer, encoding=encoding, newline="\n")
    accept_any_text(stream)
    stream.write(text)
    stream.flush()
    return buffer.getvalue()


def test_a_sign_that_cannot_be_shown_is_written_plainly() -> None:
    assert written("1 ± 2 …\nü", "ascii") == b"1 +- 2 ...\n?"
    assert written("1 ± 2 – ü", "latin-1") == "1 ± 2 - ü".encode("latin-1")


def test_the_bytes_of_a_path_that_are_no_text_are_written_as_they_are() -> None:
    assert written(os.fsdecode(b"/runs/\xff_\xc3\xbc"), "utf-8") == b"/runs/\xff_\xc3\xbc"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_the_catalogue_is_listed_whatever_the_locale(encoding: str, tmp_path: os.PathLike[str]) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    command = [sys.executable, "-m", "workbench", "--project", os.fspath(tmp_path), "list", "cart_pole"]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"cart_pole" in done.stdout


def strict(text: str) -> object:
    def refuse(word: str) -> None:
        raise ValueError(word)

    return json.loads(text, parse_constant=refuse)


def test_json_is_strict_and_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    write_json({"return": float("nan"), "returns": [1.0, float("inf")], "note": "grün", "path": "a\udcff"})
    assert strict(capsys.readouterr().out) == {
        "return": None,
        "returns": [1.0, None],
        "note": "grün",
        "path": "a\udcff",
    }


def test_what_a_run_holds_moves_no_cursor_and_breaks_no_line() -> None:
    assert for_stream("a\x1b[31m\nb\x9b2J", io.TextIOWrapper(io.BytesIO(), encoding="utf-8")) == "a?[31m b?2J"
