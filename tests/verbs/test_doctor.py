from __future__ import annotations

import json

import pytest

from workbench.cli import main
from workbench.project import Project
from workbench.ui.graphics.terminal import Offered
from workbench.verbs.doctor import pictures_in_the_terminal
from workbench.viewer import diagnosis
from workbench.viewer.diagnosis import Finding

GOOD = Finding("pictures", "ok", "drawn without a display")
ABSENT = Finding("window", "absent", "there is no display", "xvfb-run")
BROKEN = Finding("encoder", "broken", "ended the process with SIGSEGV", "pip install imageio-ffmpeg")


def doctor(project: Project, monkeypatch: pytest.MonkeyPatch, findings: list[Finding], *arguments: str) -> int:
    monkeypatch.setattr(diagnosis, "diagnose", lambda folder: findings)
    return main(["--project", str(project.root), "doctor", *arguments])


def test_what_is_absent_is_said_and_does_not_fail(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor(project, monkeypatch, [GOOD, ABSENT]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["ok", "pictures", *["drawn", "without", "a", "display"]]
    assert lines[1].startswith("absent  window")
    assert lines[2].strip() == "xvfb-run"
    assert lines[-1].startswith("Training and recording work")


def test_what_is_broken_fails_with_the_line_that_mends_it(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor(project, monkeypatch, [GOOD, BROKEN, ABSENT]) == 1
    out = capsys.readouterr().out
    assert "broken  encoder" in out
    assert "pip install imageio-ffmpeg" in out


def test_findings_are_one_json_document(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert doctor(project, monkeypatch, [GOOD, BROKEN], "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert document["works"] is False
    states = {finding["name"]: finding["state"] for finding in document["findings"]}
    assert states == {"pictures": "ok", "encoder": "broken", "previews": "ok"}


@pytest.mark.parametrize(
    ("offered", "said"),
    [
        (Offered(answered=False), "no terminal that tells"),
        (Offered(), "neither kitty's pictures nor sixels"),
        (Offered(kitty=True, sixel=True, cell=(10, 20)), "half blocks, and kitty and sixel; cells of 10x20 pixels"),
        (Offered(sixel=True), "half blocks, and sixel; cells of unknown size"),
    ],
)
def test_how_this_terminal_shows_previews_is_told(offered: Offered, said: str) -> None:
    finding = pictures_in_the_terminal(offered)
    assert said in finding.detail
    assert ("preview = " in finding.fix) == (offered.kitty or offered.sixel)


def test_this_machine_is_diagnosed(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--project", str(project.root), "doctor", "--json"])
    document = json.loads(capsys.readouterr().out)
    states = {finding["name"]: finding["state"] for finding in document["findings"]}
    assert code == (0 if "broken" not in states.values() else 1)
    assert {states[name] for name in ("python", "libraries", "simulator", "learner", "encoder")} == {"ok"}
    assert set(states) >= {"pictures", "window", "machine", "disk", "terminal", "locale"}
