"""Curves in the shell: that lines lie where their numbers are, in every kind of output."""

from __future__ import annotations

import io
import sys

import pytest

from tests.terminals import Terminal
from tests.ui.fakes import fake_run
from workbench.cli import main
from workbench.project import Project

RISING = [float(value) for value in range(0, 1000, 100)]


def plot(project: Project, *words: str) -> int:
    return main(["plot", "--project", str(project.root), *words])


def body(text: str) -> list[str]:
    """The rows between the frame's upper and lower edge."""
    rows = [line for line in text.splitlines() if line.endswith("│")]
    return [row[min(place for place in map(row.find, "┤│") if place >= 0) + 1 : -1] for row in rows]


def test_a_rising_curve_rises(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    fake_run(project, state="finished", returns=RISING, total_steps=1_000_000)
    assert plot(project, "7f3a", "--smooth", "0", "--size", "60x14") == 0
    text = capsys.readouterr().out
    rows = body(text)
    where = [
        min(place for place, sign in enumerate(row) if "\u2800" < sign <= "\u28ff") for row in rows[2:] if row.strip()
    ]
    assert where == sorted(where, reverse=True)
    assert "900" in text.splitlines()[2]
    assert "1 M" in text.replace("\u00a0", " ")
    assert "\x1b" not in text


def test_without_colours_each_line_is_made_of_its_letter(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    fake_run(project, short_id="00a1", state="finished", returns=RISING)
    fake_run(project, short_id="00b2", state="finished", returns=RISING[::-1])
    assert plot(project, "00a1", "00b2", "--smooth", "0") == 0
    rows = body(capsys.readouterr().out)
    assert rows[-1].lstrip()[0] == "a"
    assert rows[-1].rstrip()[-1] == "b"


def test_an_output_of_ascii_gets_ascii(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_run(project, state="finished", returns=RISING)
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii", errors="strict"))
    assert plot(project, "7f3a", "--size", "60x12") == 0
    sys.stdout.flush()
    assert b"?" not in raw.getvalue()
    assert b"|" in raw.getvalue()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["7f3a", "--metric", "rollout/ep_rew_meen"], "rollout/ep_rew_mean"),
        (["7f3a", "--smooth", "1"], "below 1"),
        (["7f3a", "--size", "10x5"], "30x8"),
        (["7f3a", "--size", "wide"], "100x30"),
        (["7f3a", "--watch"], "terminal"),
        (["beef"], "no run `beef`"),
    ],
)
def test_what_makes_no_sense_is_said(
    project: Project, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    fake_run(project, state="finished", returns=RISING)
    assert plot(project, *words) == 2
    assert said in capsys.readouterr().err


def test_a_run_without_a_point_says_so(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    fake_run(project, state="queued")
    assert plot(project, "7f3a") == 0
    assert "No point" in capsys.readouterr().out


def test_watching_ends_with_the_run(project: Project) -> None:
    fake_run(project, state="finished", returns=RISING)
    terminal = Terminal("plot", "--project", str(project.root), "7f3a", "--watch")
    terminal.read_until("steps")
    assert terminal.process.wait(timeout=20) == 0
