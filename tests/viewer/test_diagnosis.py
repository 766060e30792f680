from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from workbench.viewer import diagnosis
from workbench.viewer.diagnosis import probe


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def test_a_probe_that_crashes_is_a_finding() -> None:
    code = f"import os; os.kill(os.getpid(), {signal.SIGSEGV.value})"
    found = probe("pictures", needed=True, fix="mend it", command=python(code))
    assert (found.state, found.detail, found.fix) == ("broken", "ended the process with SIGSEGV", "mend it")


def test_a_probe_that_hangs_is_a_finding() -> None:
    found = probe("window", needed=False, limit_s=0.3, command=python("import time; time.sleep(60)"))
    assert found.state == "absent"
    assert "no answer" in found.detail


def test_a_probe_that_cannot_even_start_shows_its_last_line() -> None:
    found = probe("learner", needed=True, command=python("raise ImportError('libgomp.so.1 is missing')"))
    assert found.detail == "ImportError: libgomp.so.1 is missing"


@pytest.mark.parametrize("name", ["simulator", "encoder"])
def test_what_is_installed_here_works(name: str) -> None:
    assert probe(name, needed=True).state == "ok"


def test_an_unknown_probe_is_a_finding_too() -> None:
    assert probe("teapot", needed=True).state == "broken"


@pytest.mark.parametrize(
    ("environ", "state", "words"),
    [
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, "ok", "16 million colours"),
        ({"TERM": "screen-256color"}, "ok", "256 colours"),
        ({"TERM": "linux"}, "absent", "16 colours"),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, "absent", "NO_COLOR"),
        ({"TERM": "dumb"}, "absent", "no terminal type"),
        ({}, "absent", "no terminal type"),
    ],
)
def test_what_the_terminal_says_of_itself_is_read(environ: dict[str, str], state: str, words: str) -> None:
    found = diagnosis._terminal(environ)
    assert found.state == state
    assert words in found.detail


def test_a_folder_that_cannot_be_written_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert diagnosis._disk(tmp_path).state == "broken"


def test_a_missing_library_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "LIBRARIES", ("numpy", "no-such-library"))
    found = diagnosis._libraries()
    assert (found.state, found.fix) == ("broken", "pip install no-such-library")
