from __future__ import annotations

import os
import subprocess
import sys

import pytest

from workbench.errors import GraphicsError
from workbench.viewer import backend

START = """
import sys
from workbench.errors import WorkbenchError
from workbench.viewer import backend
from workbench.viewer.look import THEMES
try:
    backend.start({surface!r}, size=(64, 48), samples=1, theme=THEMES["light"])
except WorkbenchError as error:
    sys.exit(str(error))
"""


def start(surface: str, **variables: str) -> subprocess.CompletedProcess[str]:
    code = START.format(surface=surface)
    environment = {**os.environ, **variables}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)


def test_no_graphics_device_is_one_sentence_and_its_fix() -> None:
    done = start("offscreen", __EGL_VENDOR_LIBRARY_FILENAMES="/nonexistent")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("no picture can be drawn without a display (EGL")
    assert "apt-get install libegl1" in done.stderr
    assert "Exception" not in done.stderr


def test_a_display_that_does_not_answer_is_one_sentence_and_its_fix() -> None:
    done = start("window", DISPLAY=":4321")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("no window opens on display :4321")
    assert "workbench record" in done.stderr
    assert "Exception" not in done.stderr


def test_no_display_is_said_before_anything_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(GraphicsError, match=r"no display to open a window on.*xvfb-run"):
        backend.require("window")


def test_a_missing_library_of_polyscope_itself_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polyscope", None)
    with pytest.raises(GraphicsError, match=r"Polyscope cannot be loaded.*libx11-6"):
        backend.import_polyscope()


def test_stopping_what_was_not_started_does_nothing() -> None:
    backend.stop()
