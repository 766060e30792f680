import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runs.fakes import fake_launch, until, with_fakes
from workbench.cli import main
from workbench.project import Project
from workbench.runs.directory import RunDirectory
from workbench.runs.launch import enqueue
from workbench.runs.state import observe
from workbench.runs.states import RunState


@pytest.fixture(autouse=True)
def runs_root(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    yield from with_fakes(project.runs, monkeypatch)


def stop(project: Project, *words: str) -> int:
    return main(["stop", "--project", str(project.root), *words])


def start(runs_root: Path, *tags: str) -> RunDirectory:
    [run] = enqueue(runs_root, [fake_launch("iterations=100000", *tags)])
    until(lambda: observe(run).state is RunState.RUNNING)
    return run


def test_a_stop_waits_for_the_last_checkpoint(
    project: Project, runs_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = start(runs_root)
    assert stop(project, run.short_id) == 0
    assert observe(run).state is RunState.STOPPED
    latest = run.latest()
    assert latest is not None
    out = capsys.readouterr().out
    assert f"cart_pole {run.short_id} stopped: by hand" in out
    assert f"{run.short_id}:{latest.steps}" in out
    assert stop(project, run.name) == 0
    assert "had ended already" in capsys.readouterr().out


def test_one_that_does_not_answer_is_exit_one_and_can_be_killed(
    project: Project, runs_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = start(runs_root, "deaf")
    assert stop(project, run.short_id, "--timeout", "0.3") == 1
    assert "--kill" in capsys.readouterr().out
    assert stop(project, run.short_id, "--kill", "--json") == 0
    [row] = json.loads(capsys.readouterr().out)["runs"]
    assert (row["state_before"], row["state"], row["reason"]) == ("running", "stopped", "killed by hand")


def test_a_misspelt_name_stops_nothing(project: Project, runs_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = start(runs_root)
    assert stop(project, run.short_id, "no_such_run") == 2
    assert run.name in capsys.readouterr().err
    assert observe(run).state is RunState.RUNNING
    assert stop(project, run.short_id) == 0


def test_a_time_that_is_none_is_exit_two(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert stop(project, "x", "--timeout", "-1") == 2
    assert "--timeout" in capsys.readouterr().err
