"""Commands the app starts, with real processes that take no time."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.project import Project
from workbench.ui import jobs
from workbench.ui.jobs import Job, ProcessLauncher, last_lines, shell_line
from workbench.ui.state import Remembered


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not done():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def ended(job: Job) -> None:
    await until(lambda: job.exit_code is not None)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_POLL_S", 0.01)


def stand_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str) -> None:
    """Run this shell script in place of Python."""
    script = tmp_path / "python"
    script.write_text(f"#!/bin/sh\n{body}\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))


async def test_a_command_that_ends_well_is_done(project: Project, quick: None) -> None:
    told: list[str] = []
    launcher = ProcessLauncher(project, on_change=lambda job: told.append(job.state))
    job = launcher.start(["--version"], kind="film", title="version")
    assert job.state == "running"
    await ended(job)
    assert (job.state, job.exit_code, told) == ("done", 0, ["done"])
    assert job.tail[0].startswith("workbench ")


async def test_a_command_that_fails_keeps_its_last_words(project: Project, quick: None) -> None:
    launcher = ProcessLauncher(project, on_change=lambda job: None)
    job = launcher.start(["no-such-verb"], kind="film", title="nothing")
    await ended(job)
    assert job.state == "failed"
    assert "no-such-verb" in " ".join(job.tail)


async def test_a_job_is_stopped(project: Project, quick: None, monkeypatch, tmp_path: Path) -> None:
    stand_in(monkeypatch, tmp_path, "exec sleep 60")
    launcher = ProcessLauncher(project, on_change=lambda job: None)
    job = launcher.start(["record", "ant"], kind="film", title="ant")
    launcher.stop(job)
    await ended(job)
    assert job.state == "stopped"


async def test_closing_leaves_films_alone(project: Project, quick: None, monkeypatch, tmp_path: Path) -> None:
    stand_in(monkeypatch, tmp_path, f"echo $$ > {tmp_path}/film.pid; exec sleep 60")
    launcher = ProcessLauncher(project, on_change=lambda job: None)
    launcher.start(["record"], kind="film", title="film")
    file = tmp_path / "film.pid"
    await until(lambda: file.is_file() and bool(file.read_text().strip()))
    film = int(file.read_text())
    launcher.close()
    os.kill(film, 0)
    os.kill(film, 9)
    await until(lambda: os.waitpid(film, os.WNOHANG)[0] == film)


async def test_a_command_that_cannot_be_started_is_a_failed_job(project: Project, quick: None, monkeypatch) -> None:
    told: list[Job] = []
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    launcher = ProcessLauncher(project, on_change=told.append)
    job = launcher.start(["record", "ant"], kind="film", title="ant")
    await asyncio.sleep(0)
    assert told == [job]
    assert job.state == "failed"
    assert "/nowhere/python" in job.tail[0]


def test_progress_that_overwrote_itself_is_one_line(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"start\r\n 1 %\r 50 %\r100 %\n\nend\n\xff")
    assert last_lines(log) == ("start", "100 %", "end", "\ufffd")
    assert last_lines(log, 1) == ("\ufffd",)
    assert last_lines(tmp_path / "none") == ()


def test_commands_are_quoted_for_a_shell() -> None:
    assert shell_line(["montage", "7f3a", "--title", "Week 48"]) == "workbench montage 7f3a --title 'Week 48'"


def test_what_is_remembered_survives_damage_and_other_types(tmp_path: Path) -> None:
    path = tmp_path / "remembered.json"
    first = Remembered(path)
    first.keep("runs", "cursor", "7f3a")
    first.keep("runs", "grouped", True)
    first.keep("runs", "seen", ["a", "b"])
    first.save()
    again = Remembered(path)
    assert again.text("runs", "cursor") == "7f3a"
    assert again.flag("runs", "grouped", default=False) is True
    assert again.texts("runs", "seen") == ["a", "b"]
    assert again.text("runs", "grouped", "none") == "none"
    path.write_text("{torn")
    assert Remembered(path).text("runs", "cursor") == ""
    path.write_text('{"runs": 3}')
    assert Remembered(path).texts("runs", "seen") == []


def test_two_projects_are_remembered_apart(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    first = Remembered.of(Project(tmp_path / "a"))
    first.keep("runs", "cursor", "x")
    first.save()
    assert Remembered.of(Project(tmp_path / "a")).text("runs", "cursor") == "x"
    assert Remembered.of(Project(tmp_path / "b")).text("runs", "cursor") == ""
