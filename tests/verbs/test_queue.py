import json

import pytest

from tests.verbs.runs_on_disk import a_run
from workbench.cli import main
from workbench.project import Project
from workbench.runs.directory import RunDirectory
from workbench.runs.events import EventWriter
from workbench.runs.states import RunState
from workbench.runs.supervisor import SLOTS_VARIABLE

Out = pytest.CaptureFixture[str]


@pytest.fixture
def waiting(project: Project, monkeypatch: pytest.MonkeyPatch) -> list[RunDirectory]:
    """One that runs and has 600 s to go, and three that wait and take 10 s each."""
    monkeypatch.setenv(SLOTS_VARIABLE, "1")
    monkeypatch.setattr("workbench.runs.queueing.ensure_supervisor", lambda runs_root: None)
    live = a_run(project, RunState.RUNNING, total_steps=64_000)
    with EventWriter(live.events_path) as writer:
        for time, steps in ((1000.0, 0), (1040.0, 4000)):
            writer.append("metrics", time=time, steps=steps, wall_s=time - 1000, iteration=steps // 100)
    return [a_run(project, RunState.QUEUED, "cheetah", queued_ns=count) for count in (1, 2, 3)]


def queue(project: Project, *words: str) -> int:
    return main(["queue", "--project", str(project.root), *words])


def test_the_queue_tells_when_each_run_starts(project: Project, waiting: list[RunDirectory], capsys: Out) -> None:
    assert queue(project) == 0
    ids = [run.short_id for run in waiting]
    assert capsys.readouterr().out.splitlines() == [
        f"cheetah {ids[0]} PPO seed 1  first in the queue, starts in ~10m",
        f"cheetah {ids[1]} PPO seed 1  2. in the queue, starts in ~10m",
        f"cheetah {ids[2]} PPO seed 1  3. in the queue, starts in ~10m",
    ]
    assert main(["runs", "--project", str(project.root), "state:queued"]) == 0
    assert "first in the queue, starts in ~10m" in capsys.readouterr().out


def test_runs_are_moved(project: Project, waiting: list[RunDirectory], capsys: Out) -> None:
    first, second, third = waiting
    assert queue(project, third.short_id, "--first", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["runs"]
    assert [(row["name"], row["position"]) for row in rows] == [(third.name, 1), (first.name, 2), (second.name, 3)]
    assert [row["starts_in_s"] for row in rows] == [600.0, 610.0, 620.0]
    assert queue(project, third.short_id, first.short_id, "--down", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["runs"]
    assert [row["name"] for row in rows] == [second.name, third.name, first.name]


def test_wrong_requests_move_nothing(project: Project, waiting: list[RunDirectory], capsys: Out) -> None:
    ended = a_run(project)
    for words, says in (
        ([ended.short_id, "--first"], "has ended"),
        (["--up"], "name the runs to move up"),
        ([waiting[0].short_id], "--first, --last"),
        ([waiting[0].short_id, "--up", "--down"], "not allowed with"),
    ):
        assert queue(project, *words) == 2
        assert says in capsys.readouterr().err
    assert queue(project, "--json") == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)["runs"]] == [run.name for run in waiting]


def test_an_empty_queue_is_said(project: Project, capsys: Out) -> None:
    assert queue(project) == 0
    assert "No run waits." in capsys.readouterr().err
